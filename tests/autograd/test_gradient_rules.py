"""Every gradient rule against finite differences to second order, on several layouts, and against peers.

The cases are in `gradient_cases_*.py`, one file for each chapter. The names of functions come from the
tables; the expected values do not.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradient_cases import Case, Singular

import stride0 as xp
from stride0._chapters import counting as _counting
from stride0._chapters import quantiles as _quantiles
from stride0._chapters import selection as _selection
from stride0._chapters import updates as _updates
from stride0._compat import comparing as _comparing
from stride0._compat import extras as _extras
from stride0.autograd import NO_GRAD, REFUSED, VJP, GradientError, grad, vjp
from stride0.testing import check_grad

CHAPTERS = [
    importlib.import_module(f"gradient_cases_{chapter}")
    for chapter in ("elementwise", "statistical", "manipulation", "linalg", "fft")
]
CASES: list[Case] = [case for chapter in CHAPTERS for case in chapter.CASES]

# Arrays of the same elements in other memory layouts.
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda a: xp.asarray(a, copy=True),
    "transposed": lambda a: xp.permute_dims(xp.asarray(a.T, copy=True), tuple(range(a.ndim))[::-1]),
    "negative": lambda a: xp.flip(xp.asarray(np.flip(a), copy=True)),
    "sliced": lambda a: sliced(a),
}


def sliced(a: Any) -> Any:
    room = xp.asarray(np.full([2 * n + 1 for n in a.shape], np.nan, a.dtype))
    room[tuple(slice(1, None, 2) for _ in a.shape)] = xp.asarray(a, copy=True)
    return room[(*(slice(1, None, 2) for _ in a.shape), ...)]


def arguments(case: Case) -> tuple[Any, ...]:
    """The arrays of a case: always the same, whichever tests run."""
    return case.args(np.random.default_rng(zlib.crc32(f"{case.name} {case.id}".encode())))


def each_case(*, peer: str = "") -> pytest.MarkDecorator:
    found = [c for c in CASES if not peer or getattr(c, peer) is not False]
    return pytest.mark.parametrize("case", found, ids=[f"{c.name}-{c.id}" for c in found])


@pytest.mark.parametrize("layout", LAYOUTS)
@each_case()
def test_finite_differences(case: Case, layout: str) -> None:
    xs = [LAYOUTS[layout](a) for a in arguments(case)]
    if layout != "C" and (all(x.ndim == 0 for x in xs) or case.layout_matters):
        return
    # The second derivative does not depend on the layout, because its rules get new arrays.
    order = case.order if layout in ("C", "transposed") else 1
    check_grad(lambda *ys: case.call(xp, *ys), *xs, order=order, rtol=1e-6 * case.tol, atol=1e-6 * case.tol)


def small_cases() -> list[Any]:
    """One case of each function whose higher derivatives finite differences may check, with few elements."""
    found = {}
    for case in CASES:
        if case.order > 1 and sum(a.size for a in arguments(case)) <= 60:
            found.setdefault(case.name, case)
    return [pytest.param(case, id=name) for name, case in found.items()]


@pytest.mark.parametrize("case", small_cases())
def test_third_derivatives(case: Case) -> None:
    xs = [xp.asarray(a, copy=True) for a in arguments(case)]
    check_grad(lambda *ys: case.call(xp, *ys), *xs, order=3, rtol=1e-5 * case.tol, atol=1e-5 * case.tol)


def floating(y: Any) -> list[Any]:
    """The floating-point results."""
    parts = list(y) if isinstance(y, (tuple, list)) else [y]
    return [x for x in parts if np.asarray(x).dtype.kind in "fc"]


def cotangents(y: list[Any]) -> list[Any]:
    rng = np.random.default_rng(1)
    out = []
    for x in y:
        a = np.asarray(x)
        w = rng.standard_normal(a.shape)
        out.append(w + 1j * rng.standard_normal(a.shape) if a.dtype.kind == "c" else w)
    return out


def ours(case: Case, arrays: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """Gradients of the real inner product of the results with fixed weights, and the weights."""
    xs = [xp.asarray(a, copy=True) for a in arrays]
    plain = floating(case.call(xp, *xs))
    weights = cotangents(plain)
    _, pullback = vjp(lambda *ys: [y for y in parts(case.call(xp, *ys)) if is_floating(y)], *xs)
    return [np.asarray(g) for g in pullback([xp.asarray(w) for w in weights])], weights


def parts(y: Any) -> list[Any]:
    return list(y) if isinstance(y, (tuple, list)) else [y]


def is_floating(x: Any) -> bool:
    return "floating" in x.dtype.kind


def agree(case: Case, got: list[Any], expected: list[Any]) -> None:
    for g, e in zip(got, expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-8 * case.tol, atol=1e-8 * case.tol, err_msg=case.id)


@each_case(peer="torch")
def test_torch(case: Case) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    import array_api_compat.torch as namespace
    import torch

    arrays = arguments(case)
    got, weights = ours(case, arrays)
    xs = [torch.tensor(a, requires_grad=True) for a in arrays]
    call = case.torch if callable(case.torch) else case.call
    results = [y for y in parts(call(namespace, *xs)) if y.is_floating_point() or y.is_complex()]
    total = sum((torch.conj(torch.tensor(w)) * y).real.sum() for w, y in zip(weights, results, strict=True))
    found = torch.autograd.grad(total, xs, allow_unused=True) if total.requires_grad else [None] * len(xs)
    expected = [
        np.zeros_like(a) if g is None else g.resolve_conj().numpy()
        for g, a in zip(found, arrays, strict=True)
    ]
    agree(case, got, expected)


@each_case(peer="jax")
def test_jax(case: Case) -> None:
    pytest.importorskip("jax")
    import jax
    import jax.numpy as namespace

    jax.config.update("jax_enable_x64", True)
    arrays = arguments(case)
    got, weights = ours(case, arrays)
    call = case.jax if callable(case.jax) else case.call

    def total(*xs: Any) -> Any:
        results = [y for y in parts(call(namespace, *xs)) if y.dtype.kind in "fc"]
        return sum((namespace.conj(w) * y).real.sum() for w, y in zip(weights, results, strict=True))

    found = jax.grad(total, argnums=tuple(range(len(arrays))))(*map(namespace.asarray, arrays))
    # JAX's convention is the conjugate of stride0's.
    agree(case, got, [np.conj(np.asarray(g)) for g in found])


def singular() -> list[Any]:
    found = [Singular(*s) for chapter in CHAPTERS for s in getattr(chapter, "SINGULAR", [])]
    return [pytest.param(s, id=s.id) for s in found]


@pytest.mark.parametrize("case", singular())
def test_singular_points(case: Singular) -> None:
    """Where finite differences do not exist, gradients follow our conventions."""
    numbers = tuple(range(len(case.args)))

    def total(*xs: Any) -> Any:
        return xp.sum(xp.real(case.call(xp, *xs)))

    def total_of_gradients(*xs: Any) -> Any:
        found = grad(total, argnums=numbers)(*xs)
        return sum((xp.sum(xp.real(g)) for g in found[1:]), xp.sum(xp.real(found[0])))

    xs = [xp.asarray(a, copy=True) for a in case.args]
    for g, expected in zip(grad(total, argnums=numbers)(*xs), case.gradients, strict=True):
        np.testing.assert_allclose(np.asarray(g), np.asarray(expected), rtol=1e-12, atol=1e-12)
    if case.second is not None:
        for g, expected in zip(grad(total_of_gradients, argnums=numbers)(*xs), case.second, strict=True):
            np.testing.assert_allclose(np.asarray(g), np.asarray(expected), rtol=1e-12, atol=1e-12)


def public_functions() -> set[str]:
    """The functions of the namespace and its extensions, by the names of the tables."""
    found = set()
    for prefix, module in (("", xp), ("linalg.", xp.linalg), ("fft.", xp.fft)):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not isinstance(value, type) and not name.startswith("__"):
                found.add(name if not prefix or getattr(xp, name, None) is value else prefix + name)
    # If a function has two names, the table contains the first.
    # Composed functions need no rules.
    return found - {
        "from_dlpack",
        "explain",
        "get_num_threads",
        "loop",
        "replay",
        "scan",
        "set_num_threads",
        *_extras.__all__,
        *_comparing.__all__,
        *_counting.__all__,
        *_quantiles.__all__,
        *_selection.__all__,
        *_updates.__all__,
    }


def test_every_function_is_in_one_table() -> None:
    names = [set(VJP), set(NO_GRAD), set(REFUSED)]
    assert not names[0] & names[1] and not names[0] & names[2] and not names[1] & names[2]
    # These call functions that have rules.
    missing = public_functions() - set().union(*names) - {"linalg.lstsq"}
    assert not missing, sorted(missing)
    operators = {"getitem", "setitem", "view"}
    parts = {"argpartition", "argselect", "intervals"}  # private functions that public functions call
    # `special` is tested in test_gradient_special.
    elsewhere = ("strided.", "special.")
    others = {name for name in set().union(*names) - public_functions() if not name.startswith(elsewhere)}
    assert others == operators | parts, sorted(others)


def test_every_reason_is_given() -> None:
    assert all(reason.strip() for table in (NO_GRAD, REFUSED) for reason in table.values())


def test_every_rule_has_cases() -> None:
    tested = {case.name for case in CASES} | {s.id.split()[0] for p in singular() for s in p.values}
    missing = {name for name in VJP if name not in tested and not name.startswith("special.")}
    missing -= {"setitem", "asarray"}
    assert not missing, sorted(missing)


@pytest.mark.parametrize("name", sorted(n for n in REFUSED if "." not in n))
def test_refused_functions_raise(name: str) -> None:
    function = getattr(xp, name)
    x = xp.asarray([1.0, 2.0])
    with pytest.raises(GradientError, match=name):
        grad(lambda y: xp.sum(function(y, y) if name == "nextafter" else function(y)))(x)
