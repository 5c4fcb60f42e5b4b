"""`einsum` and `einsum_path` compared with NumPy's: chosen and random expressions, and errors."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers import assert_same

import stride0 as xp

SIZES = {"a": 2, "b": 3, "c": 4, "d": 5, "i": 4, "j": 3, "k": 5, "l": 2, "n": 1}
EXPRESSIONS = (
    *(
        "i->",
        "i->i",
        "ij->ji",
        "ij->",
        "ij->j",
        "ij->i",
        "ijk->kij",
        "ii->",
        "ii->i",
        "iij->ji",
        "iji->j",
        "iii->i",
    ),
    *("i,i->", "i,j->ij", "i,j->ji", "i,j->", "ij,jk->ik", "ji,jk->ki", "ij,kj->ik", "ji,kj->ki", "ij,j->i"),
    *(
        "j,ij->i",
        "ij,ij->ij",
        "ij,ji->ij",
        "ij,i->ij",
        "ij,ij->",
        "ij,ji->",
        "ij,ij->j",
        "bij,bjk->bik",
        "ijb,jkb->kbi",
    ),
    *("bij,bj->ib", "bij,j->bi", "ijk,jkl->il", "ijk,kjl->li", "ijk,jil->kl", "ijk,lk->ijl", "aij,bjk->abik"),
    *(
        "aij,aij->a",
        "ij,jk,kl->il",
        "i,ij,j->",
        "ai,ij,aj->a",
        "ijk,jl,kl->il",
        "ij,ij,ij->ij",
        "aib,bjc,cka->ijk",
    ),
    *(
        "ii,ij->j",
        "ij,jj->i",
        "ij,n->ij",
        "ij,nj->in",
        "in,nj->ij",
        ",->",
        "i,->i",
        ",ij->ji",
        "->",
        "ij,kl->",
        "ij,jk->k",
    ),
)
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda x: x,
    "Fortran": np.asfortranarray,
    "negative": lambda x: np.flip(np.ascontiguousarray(np.flip(x))),
    "sliced": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "unaligned": lambda x: np.frombuffer(b"." + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
    "stride 0": lambda x: np.broadcast_to(x[:1], x.shape),
}
DTYPES = ("float64", "float32", "complex128", "complex64", "int64", "int8", "uint16", "bool")


def _values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    if dtype == "bool":
        return rng.random(shape) < 0.4
    if dtype.startswith("complex"):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return (
        rng.integers(0, 9, shape).astype(dtype)
        if dtype[0] in "iu"
        else rng.standard_normal(shape).astype(dtype)
    )


def _operands(subscripts: str, dtype: str, layout: str = "C") -> list[Any]:
    rng = np.random.default_rng(len(subscripts))
    found = []
    for term in subscripts.split("->")[0].split(","):
        x = np.asarray(_values(rng, tuple(SIZES[label] for label in term), dtype))
        found.append(LAYOUTS[layout](x) if x.ndim else x)
    return found


def _agrees(found: Any, expected: Any, dtype: Any) -> None:
    expected = np.asarray(expected)
    single = np.dtype(dtype) in (np.float32, np.complex64)
    assert str(found.dtype) == str(np.dtype(dtype))
    assert found.shape == expected.shape
    tolerance = 1e-5 if single else 1e-12
    np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=10 * tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("subscripts", EXPRESSIONS)
def test_values(subscripts: str, dtype: str) -> None:
    given = _operands(subscripts, dtype)
    _agrees(xp.einsum(subscripts, *map(xp.asarray, given)), np.einsum(subscripts, *given), dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("subscripts", EXPRESSIONS)
def test_layouts(subscripts: str, layout: str) -> None:
    given = _operands(subscripts, "float64", layout)
    before = [x.copy() for x in given]
    _agrees(xp.einsum(subscripts, *map(xp.asarray, given)), np.einsum(subscripts, *given), "float64")
    for x, y in zip(given, before, strict=True):
        np.testing.assert_array_equal(x, y)


def _random_call(rng: random.Random) -> tuple[str, list[Any]]:
    values = np.random.default_rng(rng.randrange(2**32))
    sizes = {
        label: rng.choice([0, 1, 2, 3, 4, 5] if rng.random() < 0.1 else [1, 2, 3, 4, 5])
        for label in "abcdefg"
    }
    dtype, mixed = rng.choice(DTYPES), rng.random() < 0.2
    terms, operands = [], []
    for _ in range(rng.choice([1, 2, 2, 2, 3, 4])):
        term = "".join(rng.choice("abcdefg") for _ in range(rng.randrange(5)))
        term = term if rng.random() < 0.3 else "".join(dict.fromkeys(term))
        # Axes of size 1 broadcast.
        shape = tuple(1 if rng.random() < 0.05 and term.count(label) == 1 else sizes[label] for label in term)
        terms.append(term)
        x = np.asarray(_values(values, shape, rng.choice(DTYPES) if mixed else dtype))
        operands.append(LAYOUTS[rng.choice(list(LAYOUTS))](x) if x.ndim else x)
    labels = sorted(set("".join(terms)))
    kept = [label for label in labels if rng.random() < 0.5]
    rng.shuffle(kept)
    return ",".join(terms) + ("->" + "".join(kept) if rng.random() < 0.9 else ""), operands


@pytest.mark.parametrize("seed", range(8))
def test_random_calls(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(250):
        subscripts, given = _random_call(rng)
        dtype = np.result_type(*given)
        found = xp.einsum(subscripts, *map(xp.asarray, given))
        single = dtype in (np.float32, np.complex64)
        expected = np.einsum(subscripts, *given)
        assert str(found.dtype) == str(dtype), subscripts
        scale = 1.0 if dtype.kind == "b" else float(np.max(np.abs(expected), initial=1.0))
        tolerance = 1e-4 if single else 1e-10
        np.testing.assert_allclose(
            np.asarray(found), expected, rtol=tolerance, atol=tolerance * scale, err_msg=subscripts
        )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_storage_dtypes_are_rounded_once(dtype: str) -> None:
    kind = getattr(xp, dtype)
    x = xp.astype(xp.reshape(xp.arange(12.0, dtype=xp.float32) / 7, (3, 4)), kind)
    y = xp.astype(x, xp.float32)
    found = xp.einsum("ij,kj->ik", x, x)
    assert found.dtype == kind
    assert bool(xp.all(found == xp.astype(xp.einsum("ij,kj->ik", y, y), kind)))


# --- subscripts


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ba,cb", [(2, 3), (4, 2)]),
        ("ii", [(3, 3)]),
        ("ji", [(2, 3)]),
        (" i j , j k -> i k ", [(2, 3), (3, 4)]),
        ("...", [(2, 3)]),
        ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
        ("...ij,...jk->...ik", [(5, 1, 2, 3), (6, 3, 4)]),
        ("...ij,...jk", [(5, 2, 3), (5, 3, 4)]),
        ("i...->...i", [(2, 3, 4)]),
        ("i...j,j...->i...", [(2, 5, 3), (3, 5)]),
        ("...,...", [(4, 3), (3,)]),
        ("i...,i->...", [(2, 3), (2,)]),
        ("...ii->...i", [(4, 3, 3)]),
    ],
)
def test_forms_of_subscripts(subscripts: str, shapes: list[tuple[int, ...]]) -> None:
    rng = np.random.default_rng(0)
    given = [rng.standard_normal(shape) for shape in shapes]
    _agrees(xp.einsum(subscripts, *map(xp.asarray, given)), np.einsum(subscripts, *given), "float64")


def test_interleaved_form() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 3)), rng.standard_normal((4, 3))
    x, y = xp.asarray(a), xp.asarray(b)
    _agrees(xp.einsum(x, [0, 1], y, [2, 1], [0, 2]), a @ b.T, "float64")
    _agrees(xp.einsum(x, (70, 1000), y, (2, 1000), (2, 70)), (a @ b.T).T, "float64")
    _agrees(xp.einsum(x, [1, 0], y, [2, 0]), np.einsum(a, [1, 0], b, [2, 0]), "float64")
    _agrees(xp.einsum(x, [..., 0], [0, ...]), a.T, "float64")
    _agrees(xp.einsum(x, [0, 1], [0, 1]), a, "float64")


def test_labels_of_any_alphabet() -> None:
    x = xp.reshape(xp.arange(6.0), (2, 3))
    assert_same(xp.einsum("äö,üö->äü", x, x), np.asarray(x @ x.T))


def test_the_same_string_for_other_numbers_of_axes() -> None:
    for shape in ((3, 2), (4, 3, 2), (3, 2), (2,)):
        x = np.ones(shape)
        _agrees(xp.einsum("...i->...", xp.asarray(x)), x.sum(-1), "float64")


def test_more_labels_than_the_alphabet_has() -> None:
    x = xp.ones((1,) * 40)
    found = xp.einsum(x, list(range(40)), x, list(range(40, 80)), [0, 79])
    assert found.shape == (1, 1)
    given = [part for k in range(30) for part in (xp.ones((1, 1)), [2 * k, 2 * k + 1])]
    assert float(xp.einsum(*given, [], optimize=False)) == 1.0
    with pytest.raises(xp.ArgumentValueError, match="at most 52 labels"):
        xp.einsum(*given, [])


# --- views, memory, bits


@pytest.mark.parametrize("subscripts", ["ij->ji", "ii->i", "ij->ij", "iij->ji", "ij,->ij"])
def test_which_results_are_views(subscripts: str) -> None:
    x = xp.asarray(np.ones(tuple(3 for _ in subscripts.split("->")[0].split(",")[0])))
    given = (x,) if "," not in subscripts else (x, xp.asarray(1.0))
    shares = xp.strided.shares_storage(xp.einsum(subscripts, *given), x)
    assert shares == ("," not in subscripts)


# Products that BLAS does not compute; the bits of BLAS may differ: Notes of `matmul`.
@pytest.mark.parametrize(
    ("subscripts", "dtype"),
    [
        *(("aij,aij->a", dtype) for dtype in ("float64", "float32", "complex128", "int64")),
        *((subscripts, "int64") for subscripts in ("aij,ai->aj", "ija,jka->ika", "aij,bij->ab", "ii,ij->j")),
        *(("ii,ij->j", "float64"), ("aij->j", "float32"), ("aij,aij->aij", "complex128")),
    ],
)
def test_the_same_bits_at_any_number_of_threads(subscripts: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    given = [
        xp.asarray(_values(rng, (40,) * len(term), dtype)) for term in subscripts.split("->")[0].split(",")
    ]
    threads = xp.get_num_threads()
    found = set()
    try:
        for count in (1, 2, 3):
            xp.set_num_threads(count)
            found.add(np.asarray(xp.einsum(subscripts, *given)).tobytes())
    finally:
        xp.set_num_threads(threads)
    assert len(found) == 1


def test_integers_wrap() -> None:
    x = xp.asarray([100, 100, 100], dtype=xp.int8)
    assert int(xp.einsum("i->", x)) == 44
    assert int(xp.einsum("i,i->", x, x)) == np.int8(30000 % 256)


def test_bools_count_whether_any_product_is_true() -> None:
    x = xp.ones((300, 300), dtype=xp.bool)
    assert_same(xp.einsum("ij,jk->ik", x, x), np.asarray(x))
    assert not bool(xp.einsum("ij,j->", x, xp.zeros(300, dtype=xp.bool)))


def test_infinite_operands() -> None:
    x, y = np.asarray([[np.inf, 1.0], [np.nan, 2.0]]), np.asarray([[1.0, 0.0], [0.0, 1.0]])
    _agrees(xp.einsum("ij,jk->ik", xp.asarray(x), xp.asarray(y)), np.einsum("ij,jk->ik", x, y), "float64")


# --- paths


@pytest.mark.parametrize("optimize", ["auto", "greedy", "optimal", True, False])
@pytest.mark.parametrize("subscripts", [s for s in EXPRESSIONS if s.count(",") > 1])
def test_ways_to_find_a_path(subscripts: str, optimize: Any) -> None:
    given = _operands(subscripts, "float64")
    _agrees(
        xp.einsum(subscripts, *map(xp.asarray, given), optimize=optimize),
        np.einsum(subscripts, *given),
        "float64",
    )


def test_einsum_path_and_paths_that_are_given() -> None:
    given = [
        np.random.default_rng(k).standard_normal(s) for k, s in enumerate([(2, 30), (30, 40), (40, 3), (3,)])
    ]
    x = [xp.asarray(v) for v in given]
    path, report = xp.einsum_path("ab,bc,cd,d->a", *x)
    assert (path, report) == np.einsum_path("ab,bc,cd,d->a", *given, optimize=("optimal", 2**62))
    expected = np.einsum("ab,bc,cd,d->a", *given)
    for way in (
        path,
        path[1:],
        [(0, 1), (0, 1), (0, 1)],
        [(3, 2, 1, 0)],
        [(1, 2)],
        [(0,), (0, 1, 2), (0, 1)],
    ):
        _agrees(xp.einsum("ab,bc,cd,d->a", *x, optimize=way), expected, "float64")
    assert xp.einsum_path("ab,bc->ac", *x[:2], optimize=[(0, 1)]) == (["einsum_path", (0, 1)], "")


# --- errors


X, V = xp.ones((2, 3)), xp.ones((4,))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: xp.einsum("ij,jk->ik", X), xp.ArgumentValueError, "of 2 operands, and there is 1"),
        (lambda: xp.einsum("ij->ij", X, X), xp.ArgumentValueError, "of 1 operand, and there are 2"),
        (lambda: xp.einsum("ijk->i", X), xp.ShapeError, "2 axes, and 3 labels"),
        (lambda: xp.einsum("i->i", X), xp.ShapeError, "2 axes, and 1 label"),
        (lambda: xp.einsum("ijk...->i", X), xp.ShapeError, "2 axes, and 3 labels"),
        (lambda: xp.einsum("ij,j->i", X, V), xp.ShapeError, "the label j names axes of different sizes"),
        (lambda: xp.einsum("ii->i", X), xp.ShapeError, "the label i names axes of different sizes"),
        (lambda: xp.einsum("ii->i", xp.ones((1, 3))), xp.ShapeError, "the label i"),
        (lambda: xp.einsum("...,...->...", X, V), xp.ShapeError, "the label axis -1 of the ellipsis"),
        (lambda: xp.einsum("ij->iik", X), xp.ArgumentValueError, "the label i twice"),
        (lambda: xp.einsum("ij->ik", X), xp.ArgumentValueError, "label k, and no operand has it"),
        (lambda: xp.einsum("i1->i", X), xp.ArgumentValueError, "'1' is not a label"),
        (lambda: xp.einsum("i.j->i", X), xp.ArgumentValueError, "is not a label"),
        (lambda: xp.einsum("i...j...->i", X), xp.ArgumentValueError, "more than one ellipsis"),
        (lambda: xp.einsum("ij->i,j", X), xp.ArgumentValueError, "there is only one result"),
        (lambda: xp.einsum("ij->i->j", X), xp.ArgumentValueError, "is not a label"),
        (lambda: xp.einsum("ij->i"), xp.ArgumentTypeError, "no operand is given"),
        (lambda: xp.einsum(X), xp.ArgumentTypeError, "subscripts must be a string, not Array"),
        (lambda: xp.einsum(3, 4), xp.ForeignArrayError, "operands\\[0\\] must be a stride0 array"),
        (lambda: xp.einsum("ij->i", np.ones((2, 3))), xp.ForeignArrayError, "operands\\[0\\]"),
        (lambda: xp.einsum(X, "ij"), xp.ArgumentTypeError, "a list of integers, not str"),
        (lambda: xp.einsum(X, [0, -1]), xp.ArgumentTypeError, "-1 is not a label"),
        (lambda: xp.einsum(X, [0, True]), xp.ArgumentTypeError, "True is not a label"),
        (lambda: xp.einsum(X, [..., ...]), xp.ArgumentValueError, "more than one ellipsis"),
        (lambda: xp.einsum(X, [[0], 1]), xp.ArgumentTypeError, "\\[0\\] is not a label"),
        (lambda: xp.einsum("ij,jk->ik", X, X.T, optimize=[(0, 5)]), xp.ArgumentValueError, "step \\(0, 5\\)"),
        (lambda: xp.einsum("ij,jk->ik", X, X.T, optimize=[5]), xp.ArgumentValueError, "step 5"),
        (lambda: xp.einsum("ij,jk->ik", X, X.T, optimize=[("a",)]), xp.ArgumentValueError, "step"),
        (
            lambda: xp.einsum("ij,jk->ik", X, X.T, optimize=np.ones(2)),
            xp.ArgumentValueError,
            "unknown optimize",
        ),
        (lambda: xp.einsum("ij,jk->ik", X, X.T, optimize=X), xp.ArgumentValueError, "unknown optimize"),
        (lambda: xp.einsum("ij->i", X, optimize="best"), xp.ArgumentValueError, "unknown optimize 'best'"),
        (lambda: xp.einsum("ij,ij,ij->", X, X, X, optimize=3), xp.ArgumentValueError, "unknown optimize 3"),
        (
            lambda: xp.einsum("ij,ij,ij->", X, X, X, optimize=[(0, 3)]),
            xp.ArgumentValueError,
            "step \\(0, 3\\)",
        ),
        (
            lambda: xp.einsum("ij,ij,ij->", X, X, X, optimize=[(0, 0)]),
            xp.ArgumentValueError,
            "step \\(0, 0\\)",
        ),
        (lambda: xp.einsum("ij->i", X, order="C"), TypeError, "order"),
        (lambda: xp.einsum(), TypeError, "subscripts"),
    ],
)
def test_errors(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_labels_of_other_types() -> None:
    """0.0 and False equal 0 but are no labels, also after a call with 0."""
    labels: list[Any] = [0, 1]
    assert xp.einsum(X, labels).shape == (2, 3)
    for wrong in ([0.0, 1.0], [False, True]):
        with pytest.raises(xp.ArgumentTypeError, match="is not a label"):
            xp.einsum(X, wrong)
    assert xp.einsum(X, [np.int64(0), xp.asarray(1)], [np.int8(1), 0]).shape == (3, 2)
    assert xp.einsum(np.str_("ij->ji"), X).shape == (3, 2)


def test_intermediates_of_too_many_axes() -> None:
    a, b = xp.ones((1,) * 63), xp.ones((0,) + (1,) * 62)
    own, other = list(range(63)), list(range(63, 126))
    for first in (a, b):
        with pytest.raises(xp.ShapeError, match="126 axes are too many"):
            xp.einsum(first, own, a, other, a, other, own, optimize=False)


def test_products_of_storage_dtypes_do_not_overflow() -> None:
    x, y = xp.full((2000,), 60.0, dtype=xp.float16), xp.full((2,), 0.001, dtype=xp.float16)
    exact = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    assert float(xp.einsum("i,j->", x, y)) == np.float16(np.einsum("i,j->", *exact))
    found = xp.einsum("i,i,j->j", x, x, y)
    assert np.array_equal(np.asarray(found), np.einsum("i,i,j->j", exact[0], *exact).astype(np.float16))


def test_gradients_and_batches_of_many_labels() -> None:
    x, y = xp.ones((1,) * 40), xp.full((1,) * 40, 2.0)
    labels, others = list(range(40)), list(range(40, 80))
    assert float(xp.sum(xp.autograd.grad(lambda x: xp.einsum(x, labels, []))(x))) == 1.0
    assert float(xp.sum(xp.autograd.grad(lambda x: xp.einsum(x, labels, y, others, []))(x))) == 2.0
    # Three operands and 52 labels, the most for which a path is found.
    parts = [list(range(18)), list(range(18, 35)), list(range(35, 52))]
    z = [xp.ones((3, *(1,) * len(part))) for part in parts]

    def product(*z: Any) -> Any:
        return xp.einsum(*[item for pair in zip(z, parts, strict=True) for item in pair], [])

    assert xp.autograd.vmap(product)(*z).shape == (3,)


def test_too_many_axes_and_labels() -> None:
    x = xp.ones((1,) * 33)
    with pytest.raises(xp.ShapeError, match="66 axes are too many"):
        xp.einsum(x, list(range(33)), x, list(range(33, 66)), list(range(66)))
    with pytest.raises(xp.ArgumentValueError, match="more than 128 labels"):
        xp.einsum(*[part for k in range(5) for part in (x, list(range(33 * k, 33 * k + 33)))], [])


@pytest.mark.parametrize("mode", ["exact", "explicit"])
def test_modes_of_broadcasting(mode: str) -> None:
    x, row = xp.ones((2, 3)), xp.ones((1, 3))
    with xp.broadcasting(mode):
        assert xp.einsum("ij,jk->ik", x, xp.ones((3, 2))).shape == (2, 2)
        if mode == "exact":
            with pytest.raises(xp.StretchError, match="einsum"):
                xp.einsum("ij,ij->ij", x, row)
        else:
            assert xp.einsum("ij,ij->ij", x, row).shape == (2, 3)


def test_strict_mode_refuses_what_is_not_in_the_standard() -> None:
    with xp.strict(), pytest.raises(xp.StrictError, match="einsum"):
        xp.einsum("ij->ji", X)


def test_deferred_operands() -> None:
    x = xp.reshape(xp.arange(2000.0), (40, 50))
    with xp.fused():
        y = x * 2 + 1
        found = xp.einsum("ij,kj->ik", y, y)
    z = x * 2 + 1
    assert_same(found, np.asarray(xp.einsum("ij,kj->ik", z, z)))
