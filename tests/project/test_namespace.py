"""The namespace: its names, versions, inspection, devices.

The names are copied from the standard's text: comparing the library with its own tables proves nothing.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import re
import subprocess
import sys
import types

import pytest
from dlpack_tensors import started
from helpers import DTYPES, INTEGERS

import stride0 as xp
from stride0._chapters import counting as _counting
from stride0._chapters import quantiles as _quantiles
from stride0._chapters import selection as _selection
from stride0._chapters import updates as _updates
from stride0._compat import comparing as _comparing
from stride0._compat import extras as _extras
from stride0._tables import documents, operations, standard
from stride0._tables import methods as method_table
from stride0._tables.examples import EXAMPLES

CHAPTERS = {
    "constants": "e inf nan newaxis pi",
    "creation": "arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones "
    "ones_like tril triu zeros zeros_like",
    "data type functions": "astype can_cast finfo iinfo isdtype result_type",
    "data types": "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 "
    "complex128",
    "elementwise": "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift "
    "bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal "
    "exp expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log "
    "log1p log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply "
    "negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh square "
    "sqrt subtract tan tanh trunc",
    "indexing": "take take_along_axis",
    "inspection": "__array_namespace_info__",
    "linear algebra": "matmul matrix_transpose tensordot vecdot",
    "manipulation": "broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis "
    "permute_dims repeat reshape roll squeeze stack tile unstack",
    "searching": "argmax argmin count_nonzero nonzero searchsorted where",
    "set": "isin unique_all unique_counts unique_inverse unique_values",
    "sorting": "argsort sort",
    "statistical": "cumulative_prod cumulative_sum max mean min prod std sum var",
    "utility": "all any diff",
    "version": "__array_api_version__",
    "extensions": "fft linalg",
}
LINALG = (
    "cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank "
    "matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm"
)
# Names beyond the standard in an extension.
BEYOND = {"linalg": {"expm", "lstsq", "solve_triangular"}, "fft": set()}
FFT = "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn"
OPERATORS = (
    "abs add and bool complex dlpack dlpack_device eq float floordiv ge getitem gt index int invert le "
    "lshift lt matmul mod mul ne neg or pos pow rshift setitem sub truediv xor array_namespace "
    "iadd isub imul itruediv ifloordiv ipow imod imatmul iand ior ixor ilshift irshift "
    "radd rsub rmul rtruediv rfloordiv rpow rmod rmatmul rand ror rxor rlshift rrshift"
)
ATTRIBUTES = "dtype device mT ndim shape size T to_device"

OURS = {
    "float16",
    "bfloat16",
    "strided",
    "autograd",
    "memory",
    "special",
    "testing",
    "optim",
    "random",
    "Array",
    "DType",
    "Device",
    "broadcasting",
    "fused",
    "reproducible",
    "strict",
    "explain",
    "replay",
    "loop",
    "scan",
    "einsum",
    "einsum_path",
    *_extras.__all__,
    *_comparing.__all__,
    *_counting.__all__,
    *_quantiles.__all__,
    *_selection.__all__,
    *_updates.__all__,
    "get_num_threads",
    "set_num_threads",
    "BroadcastWarning",
}
EXCEPTIONS = {
    "Stride0Error",
    "ArgumentTypeError",
    "ArgumentValueError",
    "AxisError",
    "BatchingError",
    "BroadcastError",
    "BroadcastIndexError",
    "CastError",
    "DTypeError",
    "DeviceError",
    "ExchangeError",
    "ForeignArrayError",
    "GradientError",
    "LazyError",
    "OutOfBoundsError",
    "RangeError",
    "ReplayError",
    "ReproducibilityError",
    "ShapeError",
    "StretchError",
    "StrictAttributeError",
    "StrictError",
    "WriteError",
}
VERSIONS = ["2021.12", "2022.12", "2023.12", "2024.12", "2025.12"]
CPU = xp.Device("cpu")


# --- names


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_names_of_the_standard(chapter):
    missing = [name for name in CHAPTERS[chapter].split() if not hasattr(xp, name)]
    assert not missing


def named(name):
    """The function of a name with or without a dot."""
    module, _, short = name.rpartition(".")
    return getattr(getattr(xp, module) if module else xp, short)


@pytest.mark.parametrize("name", standard.ROWS)
def test_docstrings_say_where_the_standard_defines_a_function(name):
    function, short = named(name), name.rpartition(".")[2]
    source = f"Array API standard {standard.NEWEST}"
    if standard.ROWS[name].since == standard.DRAFT:
        source = f"Draft of the Array API standard that follows {standard.NEWEST}"
    place = f'{source}, "{standard.ROWS[name].chapter}", ``{short}``'
    text = inspect.getdoc(function)
    assert text.count("\nReferences\n----------\n") == 1
    entry = text.partition("\nReferences\n----------\n")[2].partition("\n\nExamples\n")[0]
    assert entry.startswith(place) and entry.endswith(".") and "\n" not in entry


def test_docstrings_say_what_functions_share():
    assert inspect.getdoc(xp.max) == (
        "Return the largest element.\n\n"
        "Parameters\n----------\n"
        "x : Array\n    Array of bool or a real dtype.\n"
        "axis : int or tuple of int, optional\n    The axes to reduce; by default all.\n"
        "keepdims : bool\n    Whether to keep the reduced axes, with size 1.\n\n"
        "Returns\n-------\n"
        "Array\n    New array of the dtype of `x`. NaN if a reduced element is NaN.\n\n"
        "Raises\n------\n"
        "AxisError\n    If an axis does not exist, or is named twice.\n"
        "DTypeError\n    If `x` is complex.\n"
        "ShapeError\n    If there are no elements to choose from.\n\n"
        "References\n----------\n"
        f'Array API standard {standard.NEWEST}, "Statistical Functions", ``max`` (since 2021.12).\n\n'
        f"Examples\n--------\n{EXAMPLES['max']}"
    )


SHARING = sorted(
    {
        name
        for text in documents.SHARED.values()
        for line in re.findall(r"^(\S.*?) ?\|", text, re.MULTILINE)
        for word in line.split()
        for name in (documents.members(word) if word in documents.GROUPS else [word])
    }
)


@pytest.mark.parametrize("name", [*SHARING, *sorted(standard.ROWS)])
def test_docstrings_say_every_parameter_once_and_in_order(name):
    function = named(name)
    text = inspect.getdoc(function)
    titles = re.findall(r"^(\w[\w ]*)\n-+$", text, re.MULTILINE)
    assert titles == [title for title in documents.SECTIONS if title in titles]
    section = text.partition("\nParameters\n----------\n")[2].partition("\n\n")[0]
    said = re.findall(r"^(\*?\w[\w, ]*?) : \S", section, re.MULTILINE)
    parameters = inspect.signature(function).parameters
    assert [word.strip("*") for words in said for word in words.split(", ")] == list(parameters)


@pytest.mark.parametrize("name", [name for name in SHARING if "\nAxisError\n" in named(name).__doc__])
def test_docstrings_are_right_about_axes(name):
    x = xp.ones((3, 3))
    second = {
        "quantile": 0.5,
        "repeat": 2,
        "roll": 1,
        "take": xp.arange(3),
        "take_along_axis": xp.ones((3, 3), dtype=xp.int64),
    }
    if name == "moveaxis":
        given, options = (x, 7, 0), {}
    elif name in ("concat", "stack"):
        given, options = ([x, x],), {"axis": 7}
    elif "axis" in inspect.signature(named(name)).parameters:
        given = (x, second.get(name, x)) if name in second or name in ("vecdot", "linalg.cross") else (x,)
        options = {"axis": 7}
    else:
        given, options = (x, x) if name == "tensordot" else (x,), {"axes": [7]}
    if name == "tensordot":
        options = {"axes": ([7], [0])}
    with pytest.raises(xp.AxisError, match="axis 7"):
        named(name)(*given, **options)


@pytest.mark.parametrize(("module", "names"), [("linalg", LINALG), ("fft", FFT)])
def test_names_of_the_extensions(module, names):
    extension = getattr(xp, module)
    assert isinstance(extension, types.ModuleType)
    assert not [name for name in names.split() if not callable(getattr(extension, name, None))]
    public = set(extension.__all__)
    assert public >= set(names.split())
    assert public >= BEYOND[module]
    for name in public - set(names.split()) - BEYOND[module]:
        # Further classes: exceptions, and the named tuples that functions return.
        assert isinstance(getattr(extension, name), type), name
        assert issubclass(getattr(extension, name), Exception | tuple), name


def test_extensions_have_the_functions_of_the_namespace():
    for name in CHAPTERS["linear algebra"].split():
        assert getattr(xp.linalg, name) is getattr(xp, name)


def test_no_other_names():
    standard = {name for names in CHAPTERS.values() for name in names.split()}
    public = {name for name in dir(xp) if not name.startswith("_")}
    assert public - standard == OURS | EXCEPTIONS
    # Apart from Python's own, three names with underscores are for users.
    special = {name for name in dir(xp) if name.startswith("__")} - set(dir(types.ModuleType("m")))
    special -= {"__builtins__", "__cached__", "__file__", "__path__", "__annotations__", "__all__"}
    special -= {"__getattr__", "__dir__", "__main__", "__tracebackhide__"}
    assert special == {"__array_api_version__", "__array_namespace_info__", "__version__"}
    assert set(xp.__all__) == standard | OURS | EXCEPTIONS | {"__version__"}
    assert len(set(xp.__all__)) == len(xp.__all__)
    for name in public - {
        "linalg",
        "fft",
        "special",
        "strided",
        "autograd",
        "memory",
        "optim",
        "random",
        "testing",
    }:
        assert not isinstance(getattr(xp, name), types.ModuleType), name


MODULES = ("", "autograd", "fft", "linalg", "memory", "optim", "random", "special", "strided", "testing")


@pytest.mark.parametrize("name", MODULES)
def test_public_modules_hold_public_names_alone(name):
    module = getattr(xp, name) if name else xp
    assert {public for public in dir(module) if not public.startswith("_")} == {
        public for public in module.__all__ if not public.startswith("_")
    }
    named = {public for public in vars(module) if not public.startswith("_")}
    assert named - {"numpy", "hips"} <= set(module.__all__)
    assert all(hasattr(module, public) for public in module.__all__)
    for missing in ("annotations", "Any", "normalize_axis", "check_array", *(("sqrt",) if name else ())):
        with pytest.raises(AttributeError), xp.strict():
            getattr(module, missing)


def test_public_modules_are_all_of_them():
    found = {name for name in xp.__all__ if isinstance(getattr(xp, name), types.ModuleType)}
    assert found == set(MODULES) - {""}


def public_functions():
    for name in MODULES:
        module = getattr(xp, name) if name else xp
        for public in module.__all__:
            value = getattr(module, public)
            # `psi` is a second name of `digamma`.
            if callable(value) and not isinstance(value, type) and (name, public) != ("special", "psi"):
                yield pytest.param(value, public, id=f"{name}.{public}".lstrip("."))


def squeezed(signature):
    """A signature without line breaks and trailing commas."""
    return re.sub(r"\s|,(?=\s*\))", "", signature)


@pytest.mark.parametrize(("function", "name"), list(public_functions()))
def test_help_shows_the_signature(function, name):
    assert inspect.isroutine(function)
    signature = inspect.signature(function)
    _, shown = pydoc.plain(pydoc.render_doc(function)).split("\n\n", 1)
    # From Python 3.14 on, annotations that are strings are shown without quotes.
    text = signature.format(quote_annotation_strings=False) if sys.version_info >= (3, 14) else str(signature)
    # SciPy's other name of a function.
    name = {"special.psi": "digamma", "psi": "digamma"}.get(name, name)
    # From Python 3.13 on, a long signature has a line for each parameter.
    assert squeezed(shown).startswith(squeezed(f"{name}{text}")), shown
    assert inspect.getdoc(function).splitlines()[0] in shown


def test_functions_in_classes_are_not_methods():
    class Holder:
        total = xp.sum

    assert Holder.total is Holder().total is xp.sum
    assert Holder().total(xp.ones(3)) == 3


def test_exceptions():
    for name in EXCEPTIONS:
        assert issubclass(getattr(xp, name), xp.Stride0Error)
        assert getattr(xp, name).__name__ == name


def test_what_the_names_are():
    for name in CHAPTERS["constants"].split():
        assert getattr(xp, name) is None if name == "newaxis" else isinstance(getattr(xp, name), float)
    for name in DTYPES:
        assert isinstance(getattr(xp, name), xp.DType)
        assert getattr(xp, name).name == name
    for chapter in CHAPTERS:
        if chapter in ("constants", "data types", "version", "extensions"):
            continue
        for name in CHAPTERS[chapter].split():
            function = getattr(xp, name)
            assert callable(function), name
            assert function.__name__ == name
            assert function.__doc__, name
    assert isinstance(xp.__version__, str)
    assert isinstance(xp.zeros(()), xp.Array)


def test_attributes_of_arrays():
    x = xp.ones((1, 1))
    assert not [name for name in OPERATORS.split() if not hasattr(x, f"__{name}__")]
    assert not [name for name in ATTRIBUTES.split() if not hasattr(x, name)]


def test_no_other_attributes_of_arrays():
    public = {name for name in dir(xp.Array) if not name.startswith("_") and hasattr(xp.Array, name)}
    methods = {*method_table.mirrored(operations.OPS), *method_table.OWN}
    # Python's own numbers have real and imag, NumPy's arrays the sizes.
    assert public - set(ATTRIBUTES.split()) - methods == {"real", "imag", "itemsize", "nbytes"}


# --- importing


FRESH = """
import subprocess
import sys
import stride0 as xp
assert "numpy" not in sys.modules, "import"
assert not [name for name in sys.modules if name.split(".")[0] in ("torch", "jax", "scipy")]
x = xp.reshape(xp.arange(12, dtype=xp.float64), (3, 4))
y = (x + x[:1]) * 2 - xp.sum(x, axis=0)
y[1:, ::2] = xp.asarray([1.0, 2.0])
assert float(xp.max(xp.sqrt(xp.abs(y)))) > 0
xp.from_dlpack(y), y.__array_namespace__(), xp.__array_namespace_info__().dtypes()
assert "numpy" not in sys.modules, "everyday work"
"""


def test_numpy_is_not_imported_before_it_is_needed():
    process = started(FRESH)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors


# --- versions


def test_version_of_the_standard():
    assert xp.__array_api_version__ == "2025.12"


@pytest.mark.parametrize("version", [None, *VERSIONS])
def test_namespace(version):
    for x in (xp.zeros(()), xp.arange(3), xp.broadcast_to(xp.ones(1), (3,)), xp.asarray(True)):
        assert x.__array_namespace__(api_version=version) is xp
        assert x.__array_namespace__() is xp
        assert type(x).__array_namespace__(x, api_version=version) is xp


UNKNOWN = ["2020.10", "2026.12", "2025.11", "2025", "", " 2025.12", "2025.12.0", "latest"]


@pytest.mark.parametrize(
    "version", [*UNKNOWN, b"2025.12", 2025.12, 0, False, (2025, 12), ["2025.12"], object()]
)
def test_versions_that_there_are_not(version):
    with pytest.raises((ValueError, TypeError)) as caught:
        xp.arange(3).__array_namespace__(api_version=version)
    assert isinstance(caught.value, xp.Stride0Error)
    assert repr(version) in str(caught.value)
    for known in VERSIONS:
        assert known in str(caught.value)


def test_the_version_is_a_keyword():
    with pytest.raises(TypeError):
        xp.arange(3).__array_namespace__("2025.12")
    assert "api_version" in inspect.signature(xp.Array.__array_namespace__).parameters


# --- inspection


KINDS = {
    "bool": ["bool"],
    "signed integer": INTEGERS[:4],
    "unsigned integer": INTEGERS[4:],
    "integral": INTEGERS,
    "real floating": ["float32", "float64"],
    "complex floating": ["complex64", "complex128"],
    "numeric": DTYPES[1:],
}


def test_what_can_be_asked():
    info = xp.__array_namespace_info__()
    methods = {"capabilities", "default_device", "default_dtypes", "devices", "dtypes"}
    assert {name for name in dir(info) if not name.startswith("_")} == methods
    for name in methods:
        parameters = inspect.signature(getattr(info, name)).parameters.values()
        assert all(p.kind is p.KEYWORD_ONLY and p.default is None for p in parameters)
    with pytest.raises(TypeError):
        xp.__array_namespace_info__(1)


def test_capabilities():
    found = xp.__array_namespace_info__().capabilities()
    assert found == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert all(type(found[key]) is bool for key in list(found)[:2])


def test_default_dtypes():
    info = xp.__array_namespace_info__()
    defaults = {
        "real floating": xp.asarray(1.0).dtype,
        "complex floating": xp.asarray(1j).dtype,
        "integral": xp.asarray(1).dtype,
        "indexing": xp.argmax(xp.zeros(3)).dtype,
    }
    assert defaults == {
        "real floating": xp.float64,
        "complex floating": xp.complex128,
        "integral": xp.int64,
        "indexing": xp.int64,
    }
    for device in (None, "cpu", CPU, *info.devices()):
        assert info.default_dtypes(device=device) == defaults


def test_dtypes():
    info = xp.__array_namespace_info__()
    everything = {name: getattr(xp, name) for name in DTYPES}
    for device in (None, "cpu", CPU, *info.devices()):
        assert info.dtypes(device=device) == info.dtypes(device=device, kind=None) == everything
        for kind, names in KINDS.items():
            assert list(info.dtypes(device=device, kind=kind)) == names
            for second, others in KINDS.items():
                found = info.dtypes(device=device, kind=(kind, second))
                assert set(found) == {*names, *others}
                assert all(found[name] is everything[name] for name in found)
    for kind in ("int8", "Numeric", "", "float", ("bool", "int8")):
        with pytest.raises(ValueError, match="unknown kind"):
            info.dtypes(kind=kind)


def test_devices():
    info = xp.__array_namespace_info__()
    assert info.devices() == (CPU,)
    assert type(info.devices()) is tuple
    assert info.default_device() == CPU
    assert xp.zeros(1).device == info.default_device()


# --- devices

MAKES = {
    "arange": lambda **d: xp.arange(3, **d),
    "asarray": lambda **d: xp.asarray([1, 2], **d),
    "empty": lambda **d: xp.empty(3, **d),
    "empty_like": lambda **d: xp.empty_like(xp.zeros(3), **d),
    "eye": lambda **d: xp.eye(3, **d),
    "from_dlpack": lambda **d: xp.from_dlpack(xp.zeros(3), **d),
    "full": lambda **d: xp.full(3, 1.5, **d),
    "full_like": lambda **d: xp.full_like(xp.zeros(3), 1.5, **d),
    "linspace": lambda **d: xp.linspace(0, 1, 3, **d),
    "ones": lambda **d: xp.ones(3, **d),
    "ones_like": lambda **d: xp.ones_like(xp.zeros(3), **d),
    "zeros": lambda **d: xp.zeros(3, **d),
    "zeros_like": lambda **d: xp.zeros_like(xp.zeros(3), **d),
    "astype": lambda **d: xp.astype(xp.zeros(3), xp.int8, **d),
    "fft.fftfreq": lambda **d: xp.fft.fftfreq(3, **d),
    "fft.rfftfreq": lambda **d: xp.fft.rfftfreq(3, **d),
}
NO_DEVICES = ["gpu", "CPU", "cpu:0", "", 0, 1, (1, 0), b"cpu", True, object()]


def test_functions_that_take_a_device():
    takes = set()
    for name in dir(xp):
        if name in [*CHAPTERS["creation"].split(), "astype"]:
            takes |= {name} if "device" in inspect.signature(getattr(xp, name)).parameters else set()
    assert takes == {name for name in MAKES if "." not in name}


@pytest.mark.parametrize("name", MAKES)
def test_device_arguments(name):
    make = MAKES[name]
    for device in (None, "cpu", CPU, xp.Device("cpu"), xp.zeros(1).device):
        x = make(device=device)
        assert x.device == CPU
        assert x.device == make().device
    for device in NO_DEVICES:
        with pytest.raises(ValueError, match="device") as caught:
            make(device=device)
        assert isinstance(caught.value, xp.DeviceError)
        assert caught.value.operation == name.rpartition(".")[2]


def test_to_device():
    for x in (
        xp.arange(3),
        xp.arange(6)[::-2],
        xp.zeros(()),
        xp.zeros((0, 3)),
        xp.broadcast_to(xp.ones(1), (2, 3)),
    ):
        for device in ("cpu", CPU, x.device):
            y = x.to_device(device)
            assert y.device == CPU
            assert (y.dtype, y.shape) == (x.dtype, x.shape)
            assert bool(xp.all(y == x))
            assert bool(xp.all(x.to_device(device, stream=None) == x))
        for device in NO_DEVICES:
            with pytest.raises(ValueError, match="device"):
                x.to_device(device)
        for stream in (0, 1, "default", object()):
            with pytest.raises((ValueError, TypeError), match="stream"):
                x.to_device("cpu", stream=stream)
        with pytest.raises(TypeError):
            x.to_device()
        with pytest.raises(TypeError):
            x.to_device("cpu", None)


def test_results_are_on_the_device_of_their_operands():
    x = xp.ones((2, 2))
    for y in (x + x, x + 1, -x, x[0], x[0, 0], x.T, xp.sum(x), xp.reshape(x, (4,)), x == x, xp.nonzero(x)[0]):
        assert y.device == x.device
    with pytest.raises(AttributeError):
        x.device = "cpu"


def test_device_objects():
    device = xp.zeros(1).device
    assert isinstance(device, xp.Device)
    assert (str(device), repr(device), device.name) == ("cpu", "Device('cpu')", "cpu")
    assert device == xp.Device("cpu")
    assert device != "cpu"
    assert len({device, xp.Device("cpu"), CPU}) == 1
    for copied in (copy.copy(device), copy.deepcopy(device), pickle.loads(pickle.dumps(device))):
        assert copied == device
    for name in NO_DEVICES:
        with pytest.raises((ValueError, TypeError)):
            xp.Device(name)
    with pytest.raises(AttributeError):
        device.name = "gpu"
    with pytest.raises(AttributeError):
        device.other = 1


def test_what_takes_long_to_import_is_imported_late() -> None:
    """Modules of Python that once took a fifth of the time of `import stride0`."""
    slow = ["ast", "dataclasses", "dis", "html", "inspect", "threading", "tokenize"]
    program = (
        f"import sys; slow = {slow}\n"
        # Python 3.14 imports `ast` itself, for the first class of these.
        "from typing import NamedTuple\n"
        "class First(NamedTuple): name: str\n"
        "for name in slow: sys.modules.pop(name, None)\n"  # of an editable install
        "import stride0\n"
        "print(*(name for name in slow if name in sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""
