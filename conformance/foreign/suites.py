"""The suites of `python -m conformance foreign`, and messages of failures that are no wrong values."""

from __future__ import annotations

from typing import Final, NamedTuple


class Suite(NamedTuple):
    """Where the tests of a project are, and what they need."""

    version: str
    tests: tuple[str, ...]
    requirements: tuple[str, ...] = ()
    # Text of a file of the sdist that is replaced: path, old, new.
    changes: tuple[tuple[str, str, str], ...] = ()
    options: tuple[str, ...] = ()
    instead_of: str = "NumPy"
    # The tests come from the wheel, which is a requirement.
    installed: bool = False
    # Where to clone the release, if the sdist has no tests.
    repository: str = ""
    # What to clone; by default the tag of the version.
    reference: str = ""
    # The folder of the sdist or clone in which the tests run.
    folder: str = "."


NUMPYS: Final = {
    "lib": "arraypad arraysetops function_base histograms index_tricks nanfunctions polynomial shape_base "
    "stride_tricks twodim_base type_check ufunclike",
    "linalg": "linalg regression",
    "fft": "helper pocketfft",
    "_core": "einsum function_base half indexing item_selection shape_base umath umath_complex",
}
CUPYS: Final = "core creation gufunc overlap percentile reductions routines slicing"
SUITES: Final = {
    "array-api-extra": Suite(
        "0.11.5",
        ("tests/main",),
        ("array-api-extra==0.11.5", "hypothesis", "typing_extensions"),
        options=("-k", "array_api_strict"),
        instead_of="array-api-strict",
    ),
    "array-api-strict": Suite(
        "2.6.1",
        ("array_api_strict/tests",),
        ("hypothesis",),
        # The package is the module of stride0.
        changes=(("array_api_strict/__init__.py", "", ""),),
        instead_of="array-api-strict",
    ),
    # On `hips.py`, which stands for the package.
    "autograd": Suite(
        "1.9.1",
        ("tests",),
        ("scipy", "xarray", "pytest-cov", "pytest-xdist"),
        instead_of="NumPy and autograd",
    ),
    "autoray": Suite(
        "0.11.0",
        ("tests",),
        ("scipy",),
        changes=(("tests/conftest.py", "_ALL_BACKENDS = [\n", '_ALL_BACKENDS = [\n    "stride0",\n'),),
        options=("-k", "stride0"),
    ),
    "cotengra": Suite(
        "0.8.3",
        ("tests/test_compute.py", "tests/test_interface.py", "tests/test_tree.py"),
        ("autoray", "cotengra", "scipy", "networkx", "tqdm"),
    ),
    # The tests of chunks of CuPy, for which the plugin puts stride0 in.
    "dask": Suite(
        "2026.8.0",
        tuple(f"dask/array/tests/test_cupy_{name}.py" for name in CUPYS.split()),
        ("dask[array]==2026.8.0", "scipy"),
        instead_of="CuPy",
        installed=True,
    ),
    "einops": Suite(
        "0.8.2", ("einops/tests/test_ops.py", "einops/tests/test_packing.py", "einops/tests/test_einsum.py")
    ),
    "glass": Suite(
        "2026.2",
        ("tests/core",),
        ("glass==2026.2", "scipy", "pytest-mock", "fitsio", "cosmology-api"),
        instead_of="array-api-strict",
        repository="https://github.com/glass-dev/glass",
    ),
    "hypothesis": Suite(
        "6.165.10",
        ("tests/array_api",),
        ("hypothesis==6.165.10",),
        instead_of="a mock of the standard",
        repository="https://github.com/HypothesisWorks/hypothesis",
        folder="hypothesis",
    ),
    "marray": Suite(
        "0.0.12",
        ("marray/tests",),
        ("marray==0.0.12", "array-api-compat"),
        options=("-k", "array_api_strict"),
        instead_of="array-api-strict",
        installed=True,
    ),
    "numpy": Suite(
        "2.4.6",
        tuple(
            f"numpy/{folder}/tests/test_{name}.py"
            for folder, names in NUMPYS.items()
            for name in names.split()
        ),
        ("numpy==2.4.6", "hypothesis"),
        installed=True,
    ),
    # The tests in `numpy_100.py` run its answers.
    "numpy-100": Suite(
        "6447594",
        ("--pyargs", "numpy_100"),
        ("numpy==2.4.6", "scipy", "pandas"),
        repository="https://github.com/rougier/numpy-100",
        reference="6447594ad639908dc979446a4ec7f0f2e62fb23b",
    ),
    "opt_einsum": Suite("3.4.0", ("opt_einsum/tests",)),
    "pint": Suite(
        "0.25.3",
        tuple(f"pint/testsuite/test_{name}.py" for name in ("numpy", "numpy_func", "umath")),
        ("pint==0.25.3",),
        installed=True,
    ),
    "pot": Suite(
        "0.9.7.post1",
        tuple(f"test_{name}.py" for name in ("1d_solver", "backend", "ot", "utils")),
        ("POT==0.9.7.post1", "scipy"),
        # The folder above has the sources of the package, without its compiled modules.
        folder="test",
    ),
    "scikit-bio": Suite(
        "0.7.4",
        tuple(f"skbio/stats/{folder}/tests" for folder in ("composition", "distance", "ordination")),
        ("scikit-bio==0.7.4", "matplotlib"),
        options=("-m", "array_api"),
        installed=True,
    ),
    "sysidentpy": Suite(
        "0.9.0",
        ("sysidentpy/tests/test_array_api.py",),
        ("sysidentpy", "array-api-compat", "scipy"),
        instead_of="array-api-strict",
    ),
    "tensorly": Suite(
        "0.10.0",
        ("tensorly",),
        ("scipy",),
        changes=tuple(
            ("tensorly/backend/numpy_backend.py", *change)
            for change in (
                ("import numpy as np", "import numpy\nimport stride0.numpy as np"),
                ("return np.copy(tensor)", "return numpy.asarray(tensor)"),
            )
        ),
    ),
    "xarray": Suite(
        "2026.9.0", ("xarray/tests/test_array_api.py",), ("xarray",), instead_of="array-api-strict"
    ),
}

# Messages of failures that are no wrong values, by suite.
MIXED: Final = "NumPy arrays and stride0 arrays are not mixed."
KINDS: Final = {
    "dask": (
        (r"ForeignArrayError", MIXED),
        (
            r"different types?|<class 'numpy.ndarray'>|^AssertionError: assert False|assert \d+ == \d+",
            "dask calls NumPy functions, which give NumPy arrays, or knows types and sizes of CuPy only.",
        ),
        (r"has no attribute", "There is no such method or generator."),
        (
            r"^IndexError|^AssertionError$",
            "dask reads `kind` of NumPy's dtypes; ours has the standard's words.",
        ),
        (r"DID NOT RAISE", "stride0 accepts more than CuPy."),
    ),
    "glass": (
        (r"URLError", "The test fetches data from the network."),
        (r"a function of NumPy|ForeignArrayError", "glass calls NumPy functions with arrays of the library."),
        (r"^stride0\.StrictError", "stride0 refuses more: arrays as sizes or bounds, `asarray` that casts."),
        (r"Regex pattern", "The text of an error differs; its type is the same."),
    ),
    "marray": (
        (
            r"has an element 0|negative element|is a list|to become|fill_value is|is a NumPy scalar"
            r"|linspace: dtype|has a fraction|meshgrid|^assert \(None\)",
            "stride0 refuses more: division by 0, casts by `asarray`, lists as axes, `linspace` of integers.",
        ),
        (
            r"is of dtype|mixed with|cannot cast|integer powers|Unsupported dtype",
            "They expect the text of the error of array-api-strict.",
        ),
        (r"assert False == True", "`can_cast` is strict in marray only, not in its tests."),
    ),
    "pint": (
        (r"ForeignArrayError|copyto|asarray: Unsupported", MIXED),
        (
            r"has no attribute|not available on|has attribute|supports indexing|not writable",
            "There is no such method.",
        ),
        (r"by position|unexpected keyword|where is accepted only", "The method takes fewer arguments."),
        (
            r"is not one value|Cannot power|to a NumPy dtype|DID NOT WARN",
            "pint asks for `ndarray` by its type.",
        ),
    ),
    "numpy": (
        (r"Unsupported (dtype|type)", "stride0 has no such dtypes."),
        (
            r"has no attribute|unexpected keyword|positional.* argument|objects is not writable",
            "stride0 has no such name or argument.",
        ),
        (
            r"acceptable base type|Array: arrays are made|beside a stride0 array|out is (of type|a stride0)"
            r"|__array_\w+__|object __array__|output must be an array",
            "stride0 has no subclasses, constructor and protocols of `ndarray`.",
        ),
        (
            r"DID NOT WARN|errstate: \w+ is 'raise'|list index out of",
            "stride0 gives no warnings about numbers.",
        ),
        (r"Regex pattern|does not match", "The text of an error differs; its type is the same."),
        (r"isinstance\(Array|ACTUAL: <class 'stride0", "Scalar results are 0-d arrays."),
        (
            r"^(stride0\.|TypeError: |IndexError: )",
            "stride0 raises an error where NumPy does not, or one of another type.",
        ),
        (r"not raised|DID NOT RAISE", "stride0 accepts the arguments."),
    ),
    "numpy-100": (
        (r"Unsupported (dtype|type)", "stride0 has no such dtypes: records, dates, text."),
        (r"has no attribute", "stride0 has no such name or method."),
        (r"acceptable base type", "stride0 has no subclasses of `ndarray`."),
        (r"is not callable", "pandas knows NumPy arrays only."),
    ),
    "pot": (
        (r"ForeignArrayError", MIXED),
        (r"ShapeError: T:", "`T` of an array that is no matrix is refused."),
        (
            r"NoneType|only valid in|same type/backend|__version__",
            "POT chooses by the names of its own backends, or asks for the version.",
        ),
    ),
}
