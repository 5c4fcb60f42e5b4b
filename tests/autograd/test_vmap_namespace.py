"""Every function of the namespace and its extensions within `vmap`, by each choice of batched arguments.

The names come from the namespace: a function that is added without an entry here fails a test.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

import stride0 as xp
from stride0.autograd import grad, vmap
from stride0.autograd._tape.trees import flatten

COUNT = 3

rng = np.random.default_rng(38)
X = np.round(rng.uniform(-2, 2, (COUNT, 2, 4)), 2)
Y = np.round(rng.uniform(-2, 2, (COUNT, 2, 4)), 2)
Z = X + 1j * Y
P = np.round(rng.uniform(0.2, 0.8, (COUNT, 2, 4)), 2)
N = rng.integers(0, 6, (COUNT, 2, 4))
I = rng.integers(0, 4, (COUNT, 2, 4))  # noqa: E741
GAPS = np.where(X > 1, np.nan, X)
SQUARE = rng.uniform(0.1, 1, (COUNT, 3, 3)) + 2 * np.eye(3)
SYMMETRIC = SQUARE @ np.swapaxes(SQUARE, 1, 2)
V = np.round(rng.uniform(-2, 2, (COUNT, 5)), 2)
U = np.round(rng.uniform(-2, 2, (COUNT, 5)), 2)
Q = rng.uniform(0, 1, (COUNT, 3))
COUNTS = rng.integers(0, 4, (COUNT, 5)) + 1
S = np.asarray([0.5, 1.25, 0.75])
K = np.asarray([1, -2, 3])


class Case(NamedTuple):
    """A call and its arguments, all with a batch axis; the numbers of arguments that may not be batched.

    With `target`, the first argument is written to, so it must be batched if another argument is.
    """

    call: Callable[..., Any]
    arrays: tuple[np.ndarray, ...]
    refused: tuple[int, ...] = ()
    target: bool = False


def of(name: str, *arrays: Any, refused: tuple[int, ...] = (), **more: Any) -> Case:
    function = resolve(name)
    return Case(lambda *given: function(*given, **more), arrays, refused)


def resolve(name: str) -> Callable[..., Any]:
    found: Any = xp
    for part in name.split("."):
        found = getattr(found, part)
    return found


EXTENSIONS = ("", "fft", "linalg", "special", "strided")
FUNCTIONS = [
    f"{extension}.{name}".lstrip(".")
    for extension in EXTENSIONS
    for name in (getattr(xp, extension) if extension else xp).__all__
    if inspect.isroutine(resolve(f"{extension}.{name}".lstrip(".")))
]

# Functions that take no array, or read its dtype and shape only.
WITHOUT_ELEMENTS = {
    *("__array_namespace_info__", "broadcast_shapes", "can_cast", "empty", "explain", "eye", "finfo"),
    *(
        "einsum_path",
        "from_dlpack",
        "fft.fftfreq",
        "fft.rfftfreq",
        "get_num_threads",
        "iinfo",
        "isdtype",
        "loop",
        "ones",
        "replay",
        "scan",
    ),
    *("result_type", "set_num_threads", "strided.memory_statistics", "zeros"),
}


def operands_of(name: str) -> int:
    """Return the number of operands of an elementwise function, 0 for any other function."""
    parameters = list(inspect.signature(resolve(name)).parameters.values())
    is_elementwise = name in xp._elementwise.__all__ or name.startswith("special.")
    required = [p for p in parameters if p.default is p.empty]
    return len(required) if is_elementwise and name not in CASES else 0


def set_at(x: Any, key: Any, values: Any) -> Any:
    return xp.at(x)[key].set(values)


def put_along(axis: int | None) -> Callable[..., Any]:
    def f(x: Any, indices: Any, values: Any) -> Any:
        y = xp.asarray(x, copy=True)
        xp.put_along_axis(y, indices, values, axis)
        return y

    return f


BITS = ("bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor")
LOGIC = ("logical_and", "logical_or", "logical_xor")

CASES: dict[str, list[Case]] = {
    **{name: [of(name, N, I)] for name in BITS},
    "bitwise_invert": [of("bitwise_invert", N)],
    **{name: [of(name, N > 2, I > 1)] for name in LOGIC},
    "logical_not": [of("logical_not", N > 2)],
    "add": [of("add", X, Y), Case(lambda x, y, a: xp.add(x, y, alpha=a), (X, Y[:, 0], S))],
    "imag": [of("imag", Z)],
    "clip": [
        of("clip", X, Y - 1, Y + 1),
        of("clip", X, S),
        Case(lambda x, m: xp.clip(x, max=m), (X, Y[:, 0])),
    ],
    "pow": [of("pow", P, Y)],
    "where": [of("where", N > 2, X, Y)],
    "isclose": [of("isclose", X, X + 1e-6 * I, S * 1e-6, S * 1e-6)],
    "allclose": [of("allclose", X, Y, S, S, refused=(0, 1, 2, 3))],
    # Creation and conversion
    "asarray": [of("asarray", X), of("asarray", N, dtype=xp.float32), of("asarray", X, copy=True)],
    "astype": [Case(lambda x: xp.astype(x, xp.int32), (X,)), Case(lambda x: xp.astype(x, xp.bool), (N,))],
    "arange": [Case(lambda n: xp.arange(n), (K,), (0,)), Case(lambda n: xp.arange(0, 4, n), (K,), (0,))],
    "empty_like": [Case(lambda x: xp.empty_like(x) * 0 == 0, (N,))],
    "ones_like": [of("ones_like", X)],
    "zeros_like": [of("zeros_like", X, shape=(3,))],
    "full": [Case(lambda v: xp.full((2, 3), v), (S,))],
    "full_like": [of("full_like", X, S)],
    "linspace": [of("linspace", S, S + 2, num=5), of("linspace", S, S + 2, num=4, endpoint=False)],
    "logspace": [of("logspace", S, S + 2, num=5), Case(lambda a, b: xp.logspace(a, 1.0, 3, base=b), (S, S))],
    "meshgrid": [of("meshgrid", V, U), of("meshgrid", V, U, indexing="ij")],
    "tril": [of("tril", X, k=-1)],
    "triu": [of("triu", X)],
    "diag": [of("diag", X), of("diag", V, k=1)],
    # Indexing
    "take": [of("take", V, I[:, 0]), of("take", X, I[:, 0], axis=1)],
    "take_along_axis": [of("take_along_axis", X, I, axis=1)],
    "put_along_axis": [
        Case(put_along(1), (X, I[:, :, :1], Y[:, :, :1]), target=True),
        Case(put_along(None), (X, I[:, 0, :1] + 3, Y[:, 0, :1]), target=True),
        Case(put_along(None), (X, I[:, 0, :1] - 7, S), target=True),
    ],
    "at": [
        Case(set_at, (V, I[:, 0, 0], S)),
        Case(lambda x, i, v: xp.at(x)[i].add(v), (V, I[:, 0], Y[:, 0])),
        Case(lambda x, i, v: xp.at(x)[i].subtract(v), (V, I[:, 0], Y[:, 0])),
        *(
            Case(lambda x, i, v, m=m: getattr(xp.at(x)[i], m)(v), (V, np.argsort(V)[:, :3], Y[:, 0, :3]))
            for m in ("multiply", "divide", "min", "max")
        ),
        Case(lambda x, i, v: xp.at(x)[i].power(v), (abs(V), np.argsort(V)[:, :3], Y[:, 0, :3])),
        Case(lambda x, v: xp.at(x)[1:3].multiply(v), (V, S)),
        Case(lambda x, v: xp.at(x)[0].max(v), (V, S)),
    ],
    # Manipulation
    "broadcast_arrays": [of("broadcast_arrays", X, V[:, :4])],
    "broadcast_to": [of("broadcast_to", V, shape=(2, 5))],
    "concat": [
        Case(lambda x, y: xp.concat([x, y], axis=-1), (X, Y)),
        Case(lambda x, y: xp.concat([x, y], axis=None), (X, V)),
    ],
    "expand_dims": [of("expand_dims", X, axis=(0, -1))],
    "flip": [of("flip", X), of("flip", X, axis=1)],
    "moveaxis": [Case(lambda x: xp.moveaxis(x, 0, -1), (X,))],
    "permute_dims": [of("permute_dims", X, axes=(1, 0))],
    "repeat": [Case(lambda x: xp.repeat(x, 2, axis=1), (X,)), of("repeat", V, COUNTS, refused=(1,))],
    "reshape": [of("reshape", X, shape=(4, -1))],
    "roll": [
        Case(lambda x: xp.roll(x, 1), (X,)),
        of("roll", X, K),
        of("roll", X, K, axis=1),
        of("roll", X, K, axis=(0, 1)),
        of("roll", X, K.astype(np.int8), axis=0),
        of("roll", X, K.astype(np.uint64), axis=-1),
        Case(lambda x, a, b: xp.roll(x, (a, b), axis=(0, 1)), (X, K, K + 1)),
        Case(lambda x, a: xp.roll(x, (a, 2), axis=(1, 1)), (X, K)),
    ],
    "squeeze": [Case(lambda x: xp.squeeze(x[:, None], axis=1), (X,))],
    "stack": [Case(lambda x, y: xp.stack([x, y], axis=1), (X, Y))],
    "tile": [Case(lambda x: xp.tile(x, (2, 1)), (X,))],
    "unstack": [of("unstack", X, axis=1)],
    "pad": [
        Case(lambda x: xp.pad(x, 1), (X,)),
        Case(lambda x, v: xp.pad(x, (1, 2), constant_values=v), (V, S)),
    ],
    "kron": [of("kron", X, SQUARE), of("kron", V, S)],
    "nan_to_num": [
        of("nan_to_num", GAPS),
        of("nan_to_num", Z),
        Case(lambda x, v: xp.nan_to_num(x, nan=v), (GAPS, S)),
    ],
    # Reductions, sorts and searches
    **{
        name: [of(name, x), of(name, x, axis=0), of(name, x, axis=-1, keepdims=True)]
        for names, x in [
            (("all", "any"), N > 0),
            (
                (
                    "argmax",
                    "argmin",
                    "count_nonzero",
                    "max",
                    "mean",
                    "median",
                    "min",
                    "prod",
                    "std",
                    "sum",
                    "var",
                ),
                X,
            ),
            (("nanargmax", "nanargmin", "nanmax", "nanmean", "nanmedian", "nanmin"), GAPS),
            (("nanprod", "nanstd", "nansum", "nanvar"), GAPS),
        ]
        for name in names
    },
    **{name: [of(name, X, axis=0), of(name, V)] for name in ("cumulative_sum", "cumulative_prod")},
    **{name: [of(name, GAPS, axis=0), of(name, GAPS)] for name in ("nancumsum", "nancumprod")},
    **{name: [of(name, X, axis=0), of(name, V, descending=True)] for name in ("sort", "argsort")},
    **{name: [of(name, X, kth=2), of(name, X, kth=(1, 0), axis=0)] for name in ("partition", "argpartition")},
    "top_k": [
        Case(lambda x: xp.top_k(x, 3), (X,)),
        Case(lambda x: xp.top_k(x, 1, axis=0, mode="smallest"), (X,)),
    ],
    **{
        name: [
            of(name, X, Q * whole),
            of(name, GAPS, S * whole / 2, axis=1),
            of(name, X, Q[:, None] * whole, axis=0, keepdims=True),
            *(of(name, X, Q * whole, axis=1, method=method) for method in xp._quantiles._METHODS),
            of(name, X, Q * whole, method="inverted_cdf", axis=1),
            *(
                Case(
                    lambda x, q, w, f=f: f(x, q, axis=1, weights=w, method="inverted_cdf"), (X, Q * whole, w)
                )
                for w in (P, P[:, 0])
            ),
        ]
        for name, f, whole in (("quantile", xp.quantile, 1), ("percentile", xp.percentile, 100))
    },
    "diff": [Case(lambda x, a, b: xp.diff(x, n=2, prepend=a, append=b), (X, Y[:, :, :1], Y))],
    "searchsorted": [
        of("searchsorted", np.sort(V), X),
        of("searchsorted", np.sort(V), X, side="right"),
        of("searchsorted", np.sort(V), S),
        Case(lambda x, v, s: xp.searchsorted(x, v, sorter=s), (V[:1] + 0 * V, X, np.argsort(V[:1] + 0 * V))),
    ],
    "isin": [of("isin", N, I), of("isin", N, I[:, 0], invert=True)],
    **{
        name: [of(name, N, refused=(0,))]
        for name in ("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values")
    },
    # Counting
    "bincount": [
        of("bincount", COUNTS, minlength=6),
        Case(lambda n, w: xp.bincount(n, w, minlength=7), (COUNTS, V)),
        Case(lambda n, w: xp.bincount(n, weights=w), (np.sort(COUNTS)[:, ::-1] * 0 + [4, 0, 1, 2, 2], V)),
        of("bincount", np.asarray([[0, 1], [0, 2], [3, 0]]), refused=(0,)),
    ],
    "histogram": [
        of("histogram", X, bins=4, range=(-2, 2)),
        of("histogram", X, bins=4),
        of("histogram", N, bins=3),
        of("histogram", X, np.sort(V)),
        Case(lambda x, w: xp.histogram(x, 4, (-1, 1), weights=w), (X, Y)),
        Case(lambda x, w: xp.histogram(x, 3, (-1, 1), True, w), (X, P)),
        of("histogram", X, bins="auto", refused=(0,)),
    ],
    "interp": [
        of("interp", X, np.sort(V), U),
        Case(lambda x, p, f, a, b: xp.interp(x, p, f, a, b), (X, np.sort(V), U, S, S + 1)),
        of("interp", X, V, U, period=3.0),
        of("interp", X, np.sort(V), U + 1j),
    ],
    # Linear algebra
    "matmul": [of("matmul", X, np.swapaxes(Y, 1, 2)), of("matmul", X, V[:, :4]), of("matmul", V, U)],
    "linalg.matmul": [of("linalg.matmul", SQUARE, SQUARE)],
    **{name: [of(name, X)] for name in ("matrix_transpose", "linalg.matrix_transpose")},
    **{
        name: [of(name, X, SQUARE[:, :2], axes=1) if 0 else of(name, X, Y), of(name, V, X, axes=0)]
        for name in ("tensordot", "linalg.tensordot")
    },
    **{
        name: [of(name, X, Y), of(name, V, U), of(name, X, Y, axis=-2)]
        for name in ("vecdot", "linalg.vecdot")
    },
    "einsum": [
        Case(lambda x, y: xp.einsum("ij,kj->ik", x, y), (X, Y)),
        Case(lambda x, y, v: xp.einsum("ij,kj,j", x, y, v), (X, Y, V[:, :4])),
    ],
    "cov": [
        of("cov", X),
        of("cov", X, Y),
        of("cov", V, U, rowvar=False, ddof=0),
        Case(lambda x, f: xp.cov(x, fweights=f), (X, COUNTS[:, :4])),
        Case(lambda x, a: xp.cov(x, aweights=a), (X, P[:, 0])),
        Case(lambda x, y, f, a: xp.cov(x, y, fweights=f, aweights=a), (X, Y, COUNTS[:, :4], P[:, 0])),
        Case(lambda x, a: xp.cov(x, aweights=a, bias=True), (Z, P[:, 0])),
    ],
    "corrcoef": [of("corrcoef", X), of("corrcoef", X, Y), of("corrcoef", Z)],
    "linalg.cholesky": [of("linalg.cholesky", SYMMETRIC), of("linalg.cholesky", SYMMETRIC, upper=True)],
    "linalg.cross": [of("linalg.cross", X[:, :, :3], Y[:, :, :3])],
    "linalg.diagonal": [of("linalg.diagonal", X, offset=1)],
    **{
        f"linalg.{n}": [of(f"linalg.{n}", SYMMETRIC)]
        for n in ("det", "eigh", "eigvalsh", "inv", "slogdet", "svd", "svdvals")
    },
    **{f"linalg.{n}": [of(f"linalg.{n}", SQUARE)] for n in ("eig", "eigvals", "expm", "matrix_norm")},
    "linalg.matrix_power": [
        Case(lambda x: xp.linalg.matrix_power(x, 3), (SQUARE,)),
        Case(lambda x: xp.linalg.matrix_power(x, -2), (SQUARE,)),
    ],
    **{
        f"linalg.{n}": [
            of(f"linalg.{n}", SYMMETRIC),
            Case(lambda x, r, n=n: getattr(xp.linalg, n)(x, rtol=r), (SYMMETRIC, S / 2)),
        ]
        for n in ("matrix_rank", "pinv")
    },
    "linalg.outer": [of("linalg.outer", V, U)],
    "linalg.qr": [of("linalg.qr", SQUARE), of("linalg.qr", X, mode="complete")],
    "linalg.solve": [of("linalg.solve", SQUARE, V[:, :3]), of("linalg.solve", SQUARE, SYMMETRIC)],
    "linalg.solve_triangular": [
        of("linalg.solve_triangular", SQUARE, V[:, :3]),
        of("linalg.solve_triangular", SQUARE, SYMMETRIC, upper=True),
    ],
    "linalg.lstsq": [
        of("linalg.lstsq", SQUARE, V[:, :3]),
        Case(lambda a, b, r: xp.linalg.lstsq(a, b, rtol=r), (SQUARE, SYMMETRIC, S / 100)),
    ],
    "linalg.trace": [of("linalg.trace", X), of("linalg.trace", N, dtype=xp.float64)],
    "linalg.vector_norm": [of("linalg.vector_norm", X), of("linalg.vector_norm", X, axis=0, ord=3)],
    # Fourier transforms
    **{
        f"fft.{n}": [of(f"fft.{n}", Z), of(f"fft.{n}", Z, n=3, axis=0)]
        for n in ("fft", "ifft", "hfft", "irfft")
    },
    **{f"fft.{n}": [of(f"fft.{n}", X), of(f"fft.{n}", X, n=3, axis=0)] for n in ("rfft", "ihfft")},
    **{f"fft.{n}": [of(f"fft.{n}", Z), of(f"fft.{n}", Z, axes=(0,))] for n in ("fftn", "ifftn", "irfftn")},
    "fft.rfftn": [of("fft.rfftn", X)],
    **{f"fft.{n}": [of(f"fft.{n}", X), of(f"fft.{n}", X, axes=1)] for n in ("fftshift", "ifftshift")},
    # Memory
    "strided.contiguous": [of("strided.contiguous", X)],
    "strided.as_strided": [Case(lambda x: xp.strided.as_strided(x, (2,), (1,)), (V,), (0,))],
    **{
        f"strided.{n}": [of(f"strided.{n}", X, refused=(0,))]
        for n in ("is_contiguous", "is_writable", "offset", "storage_nbytes", "strides")
    },
    "strided.shares_storage": [of("strided.shares_storage", X, Y, refused=(0, 1))],
    # Special functions that are not elementwise in all their arguments
    **{
        f"special.{n}": [of(f"special.{n}", X), of(f"special.{n}", X, axis=0)]
        for n in ("log_softmax", "softmax")
    },
    "special.logsumexp": [
        of("special.logsumexp", X, axis=1),
        Case(lambda a, b: xp.special.logsumexp(a, b=b, return_sign=True, keepdims=True), (X, Y)),
    ],
    "special.multigammaln": [
        Case(lambda a: xp.special.multigammaln(a + 2, 3), (P,)),
        of("special.multigammaln", P + 3, K, refused=(1,)),
    ],
    "special.lambertw": [of("special.lambertw", P), of("special.lambertw", P, I)],
    "special.zeta": [of("special.zeta", P + 1), of("special.zeta", P + 1, P)],
}

# Operands of elementwise functions that take whole numbers.
OPERANDS = {
    **{f"special.{name}": (I, I + 4, P) for name in ("bdtr", "bdtrc", "bdtri", "nbdtr", "nbdtrc", "nbdtri")},
    **{f"special.{name}": (I, P) for name in ("expn", "kn", "pdtri", "polygamma", "yn")},
    **{f"special.spherical_{kind}n": (I, P) for kind in "jyik"},
    **{f"special.eval_{name}": (I, P) for name in ("hermite", "hermitenorm")},
    "special.lpmv": (I * 0.0, I + 0.0, P),
}


def cases_of(name: str) -> list[Case]:
    if name in CASES:
        return CASES[name]
    count = operands_of(name)
    return [of(name, *OPERANDS.get(name, (P, P[::-1] + I, P[:, ::-1], P[..., ::-1])[:count]))]


def is_refusal(error: xp.BatchingError, name: str) -> bool:
    return error.operation in (name, name.rpartition(".")[2])


NAMES = [name for name in FUNCTIONS if name not in WITHOUT_ELEMENTS]


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_of_batched_arguments(name: str) -> None:
    for case in cases_of(name):
        for batched in itertools.product((True, False), repeat=len(case.arrays)):
            if any(batched):
                compare(name, case, batched)


def compare(name: str, case: Case, batched: tuple[bool, ...]) -> None:
    """Compare with a loop, the examples along the first axis, the second and the last."""
    is_refused = any(batched[k] for k in case.refused) or (case.target and not batched[0])
    rows = [] if is_refused else [leaves(case.call(*example(case, batched, k))) for k in range(COUNT)]
    for place in (0, 1, -1):
        axes = [min(place, a.ndim - 1) if b else None for a, b in zip(case.arrays, batched, strict=True)]
        given = [
            xp.asarray((a[0] if axis is None else np.moveaxis(a, 0, axis)).copy())
            for a, axis in zip(case.arrays, axes, strict=True)
        ]
        whole = vmap(case.call, tuple(axes))
        if is_refused:
            with pytest.raises(xp.BatchingError) as caught:
                whole(*given)
            assert caught.value.operation in (name, name.rpartition(".")[2]), caught.value
        else:
            assert_rows(leaves(whole(*given)), rows)


def example(case: Case, batched: tuple[bool, ...], k: int) -> list[Any]:
    return [xp.asarray(a[k if b else 0].copy()) for a, b in zip(case.arrays, batched, strict=True)]


def leaves(y: Any) -> list[Any]:
    return flatten(list(y) if isinstance(y, tuple) else y)[0]


def assert_rows(found: list[Any], rows: list[list[Any]], rtol: float = 1e-10) -> None:
    assert len(found) == len(rows[0])
    for k, y in enumerate(found):
        wanted = np.stack([np.asarray(row[k]) for row in rows])
        assert y.dtype == rows[0][k].dtype
        assert y.shape == wanted.shape
        scale = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=1e-6)
        assert_allclose(np.asarray(y), wanted, rtol=rtol, atol=1e-3 * rtol * scale)


ALLOWED = [name for name in NAMES if not cases_of(name)[0].refused]


@pytest.mark.parametrize("name", ALLOWED)
def test_nested_calls(name: str) -> None:
    """A batch of batches, and each argument batched at one level only."""
    for case in cases_of(name):
        if case.refused:
            continue
        count = len(case.arrays)
        rows = [leaves(case.call(*example(case, (True,) * count, k))) for k in range(COUNT)]
        given = [xp.asarray(np.stack([a, a[::-1]], axis=1)) for a in case.arrays]
        found = leaves(vmap(vmap(case.call), 1)(*given))
        for k, order in ((0, 1), (1, -1)):
            assert_rows([y[k] for y in found], rows[::order])


@pytest.mark.parametrize("name", ALLOWED)
def test_gradients(name: str) -> None:
    """The gradients of each example by all floating-point arguments, computed within a batch."""
    for case in cases_of(name):
        moving = [k for k, a in enumerate(case.arrays) if a.dtype.kind in "fc"]
        if case.refused or not moving:
            continue

        def loss(*given: Any, case: Case = case) -> Any:
            ys = [y for y in leaves(case.call(*given)) if "floating" in y.dtype.kind]
            return sum((xp.sum(xp.real(y * (1 + 0.1 * y))) for y in ys), start=xp.zeros(()))

        pulled = grad(loss, argnums=tuple(moving))
        everything = (True,) * len(case.arrays)
        try:
            rows = [leaves(pulled(*example(case, everything, k))) for k in range(COUNT)]
        except (xp.GradientError, BufferError):
            continue
        given = [xp.asarray(np.moveaxis(a, 0, -1).copy()) for a in case.arrays]
        assert_rows(leaves(vmap(pulled, -1)(*given)), rows, rtol=1e-7)
