"""Annotations of jaxtyping, `Float[Array, "n m"]`, checked by beartype when a function is called."""

# ruff: noqa: F722 - shapes are not Python annotations

from __future__ import annotations

import pytest

import stride0 as xp
from stride0 import Array
from stride0.autograd import grad, vmap

jaxtyping = pytest.importorskip("jaxtyping", reason="the tests of annotations need it: pip install jaxtyping")
beartype = pytest.importorskip("beartype", reason="the tests of annotations need it: pip install beartype")

from jaxtyping import Float, Shaped, jaxtyped  # noqa: E402

typed = jaxtyped(typechecker=beartype.beartype)


@typed
def product(x: Float[Array, "n m"], y: Float[Array, " m"]) -> Float[Array, " n"]:
    return x @ y


@typed
def row_of(x: Shaped[Array, "n m"]) -> Shaped[Array, " n"]:
    return x[0, :]


A, V = xp.ones((2, 3)), xp.asarray([1.0, 2.0, 3.0])


def test_shapes_and_dtypes() -> None:
    assert product(A, V).tolist() == [6.0, 6.0]
    assert product(xp.astype(A, xp.float16), xp.astype(V, xp.float16)).dtype == xp.float16
    for x, y, named in (
        (A, V[:2], "y"),
        (V, V, "x"),
        (xp.astype(A, xp.int64), V, "x"),
        (A, xp.astype(V, xp.complex128), "y"),
        (A, [1.0, 2.0, 3.0], "y"),
    ):
        with pytest.raises(jaxtyping.TypeCheckError, match=rf"parameter '{named}'"):
            product(x, y)
    with pytest.raises(jaxtyping.TypeCheckError, match="return value"):
        row_of(A)


KINDS = {
    "bool": ("Bool",),
    "int16": ("Int", "Integer", "Real", "Num"),
    "uint32": ("UInt", "Integer", "Real", "Num"),
    "float16": ("Float16", "Float", "Real", "Inexact", "Num"),
    "bfloat16": ("BFloat16", "Float", "Real", "Inexact", "Num"),
    "float32": ("Float32", "Float", "Real", "Inexact", "Num"),
    "float64": ("Float64", "Float", "Real", "Inexact", "Num"),
    "complex64": ("Complex64", "Complex", "Inexact", "Num"),
    "complex128": ("Complex128", "Complex", "Inexact", "Num"),
}


@pytest.mark.parametrize("dtype", KINDS)
def test_kinds_of_dtypes(dtype: str) -> None:
    x = xp.zeros((2, 3), dtype=getattr(xp, dtype))
    names = {"Shaped", *(name for group in KINDS.values() for name in group)}
    found = {name for name in names if isinstance(x, getattr(jaxtyping, name)[Array, "2 3"])}
    assert found == {"Shaped", *KINDS[dtype]}


def test_forms_of_shapes() -> None:
    x = xp.ones((2, 3, 4))
    for form in ("2 3 4", "a b c", "... 4", "2 ...", "*batch n", "_ _ _", "a b a+2", "#a 3 4"):
        assert isinstance(x, Float[Array, form]), form
    for form in ("2 3", "a a b", "... 3", "2 3 4 5", ""):
        assert not isinstance(x, Float[Array, form]), form
    assert isinstance(xp.asarray(1.0), Float[Array, ""])


def test_under_transformations_and_settings() -> None:
    assert grad(lambda x: xp.sum(product(x, V)))(A).tolist() == [[1.0, 2.0, 3.0]] * 2
    # An array within vmap has the shape of an example.
    assert vmap(lambda x: product(x, V))(xp.ones((5, 2, 3))).shape == (5, 2)
    with xp.fused():
        assert product(A * 2, V + 1).tolist() == [18.0, 18.0]
    with xp.strict():
        assert xp.all(product(A, V) == 6.0)
        with pytest.raises(jaxtyping.TypeCheckError):
            product(A, A)
