"""Which subscripts `einsum` accepts, compared with NumPy; and contractions of empty arrays."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad, jvp, vmap

LABELS = "ijkAB"


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("...i->i", [(3, 4)]),
        ("...i->", [(2, 3, 4)]),
        ("i...->i", [(3, 4)]),
        ("...ii->i", [(2, 3, 3)]),
        ("...ij,jk->ik", [(2, 3, 4), (4, 5)]),
        ("ij,...jk->ik", [(3, 4), (1, 4, 5)]),
        ("...,...->", [(3,), (3,)]),
    ],
)
def test_a_result_that_lacks_the_ellipsis(subscripts: str, shapes: list[tuple[int, ...]]) -> None:
    x = [xp.ones(shape) for shape in shapes]
    with pytest.raises(ValueError):
        np.einsum(subscripts, *map(np.asarray, x))
    with pytest.raises(xp.ArgumentValueError, match=r"einsum: the result lacks the \d axe?i?s"):
        xp.einsum(subscripts, *x)
    with pytest.raises(xp.ArgumentValueError, match="the result lacks"):
        vmap(lambda *x: xp.einsum(subscripts, *x))(*[xp.stack([part, part]) for part in x])
    with pytest.raises(xp.ArgumentValueError, match="einsum_path: the result lacks"):
        xp.einsum_path(subscripts, *x)


def test_an_ellipsis_without_axes_may_be_left_out() -> None:
    x = xp.asarray([1.0, 2.0])
    assert xp.einsum("...i->i", x).tolist() == [1.0, 2.0]
    assert xp.einsum(x, [..., 0], [0]).tolist() == [1.0, 2.0]
    assert xp.einsum("i->...i", x).tolist() == [1.0, 2.0]
    with pytest.raises(xp.ArgumentValueError, match="the result lacks the 1 axis"):
        xp.einsum(xp.ones((3, 2)), [..., 0], [0])


@pytest.mark.parametrize(
    "subscripts", ["i. ..->i...", "i.. .->...i", "i...-> ...i - >", "i - > i", "i- >i", "ij-"]
)
def test_spaces_within_a_symbol(subscripts: str) -> None:
    x = np.ones((2, 3))
    with pytest.raises(ValueError):
        np.einsum(subscripts, x)
    with pytest.raises(xp.ArgumentValueError, match="einsum"):
        xp.einsum(subscripts, xp.asarray(x))


def _random_term(rng: random.Random) -> list[str]:
    term = [rng.choice(LABELS) for _ in range(rng.randrange(4))]
    if rng.random() < 0.35:
        term.insert(rng.randrange(len(term) + 1), "...")
    return term


def _random_call(rng: random.Random) -> tuple[list[list[str]], list[str] | None, list[np.ndarray]]:
    """Return the labels of operands, those of the result, and operands that often fit them."""
    terms = [_random_term(rng) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    sizes = {label: rng.choice([1, 2, 3]) for label in LABELS}
    if rng.random() < 0.1:
        sizes[rng.choice(LABELS)] = 0
    operands = []
    for term in terms:
        shape: list[int] = []
        for label in term:
            if label == "...":
                shape += [rng.choice([1, 2]) for _ in range(rng.randrange(3))]
            else:
                shape.append(1 if rng.random() < 0.05 else sizes[label])
        shape += [2] * (rng.random() < 0.03)
        operands.append(np.arange(float(np.prod(shape, dtype=int))).reshape(shape))
    if rng.random() < 0.3:
        return terms, None, operands
    output = sorted({label for term in terms for label in term} - {"..."})
    rng.shuffle(output)
    output = output[: rng.randrange(len(output) + 1)]
    if (any("..." in term for term in terms) and rng.random() < 0.7) or rng.random() < 0.05:
        output.insert(rng.randrange(len(output) + 1), "...")
    if rng.random() < 0.05:
        output.append(rng.choice(LABELS))
    return terms, output, operands


def _arguments(rng: random.Random, terms: Any, output: Any, operands: list[Any]) -> list[Any]:
    """Return a call of either form; some strings are made invalid."""
    if rng.random() < 0.4:
        lists = [
            [... if label == "..." else LABELS.index(label) for label in term]
            for term in (*terms, output or ())
        ]
        call = [part for pair in zip(operands, lists, strict=False) for part in pair]
        return call if output is None else [*call, lists[-1]]
    text = ",".join("".join(term) for term in terms) + ("" if output is None else "->" + "".join(output))
    if rng.random() < 0.15:
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice([" ", " ", ".", ",", "-", ">", "1", "..."]) + text[place:]
    return [text, *operands]


@pytest.mark.parametrize("seed", range(4))
def test_the_same_calls_are_taken_as_by_numpy(seed: int) -> None:
    rng = random.Random(seed)
    taken = refused = 0
    for _ in range(700):
        terms, output, operands = _random_call(rng)
        call = _arguments(rng, terms, output, operands)
        ours = [xp.asarray(part) if isinstance(part, np.ndarray) else part for part in call]
        facts = [part.shape if isinstance(part, np.ndarray) else part for part in call]
        try:
            wanted = np.einsum(*call)
        except ValueError:
            refused += 1
            with pytest.raises((xp.ArgumentValueError, xp.ShapeError), match="einsum: "):
                print(facts, xp.einsum(*ours).shape)
        else:
            taken += 1
            found = xp.einsum(*ours)
            assert found.shape == np.shape(wanted), facts
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, err_msg=str(facts))
    assert taken > 400 and refused > 50


# --- arrays without elements


def _total(function: Any) -> Any:
    return lambda *x: xp.sum(function(*x) ** 2)


def _check_all_orders(function: Any, *x: xp.Array) -> None:
    """Check the shapes of derivatives in both modes, of both orders and in batches."""
    argnums = tuple(range(len(x)))
    value, first = function(*x), grad(_total(function), argnums=argnums)
    shapes = [part.shape for part in x]
    assert [part.shape for part in first(*x)] == shapes
    assert jvp(function, x, x)[1].shape == value.shape
    second = grad(lambda *x: sum(xp.sum(part**2) for part in first(*x)), argnums=argnums)
    assert [part.shape for part in second(*x)] == shapes
    batch = [xp.stack([part, part]) for part in x]
    assert vmap(function)(*batch).shape == (2, *value.shape)
    assert [part.shape for part in vmap(first)(*batch)] == [(2, *shape) for shape in shapes]


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij->", [(0, 3)]),
        ("ij->j", [(0, 3)]),
        ("ij->i", [(3, 0)]),
        ("ii->", [(0, 0)]),
        ("iij->j", [(0, 0, 2)]),
        ("...i->...", [(0, 3)]),
        ("ij,jk->ik", [(2, 0), (0, 3)]),
        ("ij,jk->ik", [(0, 2), (2, 3)]),
        ("ij,jk->", [(2, 0), (0, 3)]),
        ("ij,ij->ij", [(0, 3), (1, 3)]),
        ("ij,i->j", [(0, 3), (1,)]),
        ("i,j->", [(0,), (3,)]),
        ("ii,ij->j", [(0, 0), (0, 2)]),
        ("ij,jk,kl->il", [(2, 0), (0, 3), (3, 1)]),
        ("ij,j,k->", [(0, 3), (3,), (2,)]),
    ],
)
def test_derivatives_of_einsum_without_elements(subscripts: str, shapes: list[tuple[int, ...]]) -> None:
    x = [xp.ones(shape) for shape in shapes]
    found = xp.einsum(subscripts, *x)
    assert np.array_equal(np.asarray(found), np.einsum(subscripts, *map(np.asarray, x)))
    _check_all_orders(lambda *x: xp.einsum(subscripts, *x), *x)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        *(
            ("matmul", shapes)
            for shapes in ([(0, 3), (3, 2)], [(2, 0), (0, 3)], [(0,), (0,)], [(1, 2, 3), (0, 3, 1)])
        ),
        *(("matmul", shapes) for shapes in ([(2, 0), (0,)], [(0,), (0, 2)], [(2, 3), (3, 0)])),
        *(("vecdot", shapes) for shapes in ([(0,), (0,)], [(2, 0), (0,)], [(0, 1, 3), (1, 2, 3)])),
    ],
)
def test_derivatives_of_products_without_elements(name: str, shapes: list[tuple[int, ...]]) -> None:
    _check_all_orders(getattr(xp, name), *[xp.ones(shape) for shape in shapes])


@pytest.mark.parametrize(
    ("axes", "shapes"),
    [
        *((1, shapes) for shapes in ([(0, 3), (3, 2)], [(2, 0), (0, 3)], [(0,), (0,)])),
        *((0, shapes) for shapes in ([(0, 3), (3,)], [(), (0,)])),
        (((0,), (1,)), [(3, 0), (2, 3)]),
    ],
)
def test_derivatives_of_tensordot_without_elements(axes: Any, shapes: list[tuple[int, ...]]) -> None:
    _check_all_orders(lambda x, y: xp.tensordot(x, y, axes=axes), *[xp.ones(shape) for shape in shapes])
