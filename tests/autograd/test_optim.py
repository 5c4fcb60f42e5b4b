"""`stride0.optim`: the steps of PyTorch's optimisers, on nested structures, and L-BFGS on them."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad
from stride0.optim import adam, apply_updates, minimize_lbfgs, sgd

W, B = np.asarray([[0.5, -1.5], [2.0, 0.25]]), np.asarray(0.75)


def loss(p: Any) -> Any:
    namespace = (
        p["w"].__array_namespace__()
        if hasattr(p["w"], "__array_namespace__")
        else importlib.import_module("torch")
    )
    return namespace.sum((p["w"] - 0.3) ** 4) + namespace.sin(p["b"][0]) * namespace.sum(p["w"])


OPTIMIZERS = [
    pytest.param(lambda: sgd(0.01), "SGD", {"lr": 0.01}, id="sgd"),
    pytest.param(lambda: sgd(0.01, momentum=0.9), "SGD", {"lr": 0.01, "momentum": 0.9}, id="momentum"),
    pytest.param(
        lambda: sgd(0.01, momentum=0.8, nesterov=True),
        "SGD",
        {"lr": 0.01, "momentum": 0.8, "nesterov": True},
        id="nesterov",
    ),
    pytest.param(lambda: adam(0.1), "Adam", {"lr": 0.1}, id="adam"),
    pytest.param(
        lambda: adam(0.1, b1=0.7, b2=0.95, eps=1e-3),
        "Adam",
        {"lr": 0.1, "betas": (0.7, 0.95), "eps": 1e-3},
        id="adam options",
    ),
]


@pytest.mark.parametrize(("made", "name", "options"), OPTIMIZERS)
def test_the_steps_are_those_of_pytorch(made: Any, name: str, options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    w, b = torch.tensor(W, requires_grad=True), torch.tensor(B, requires_grad=True)
    theirs = getattr(torch.optim, name)([w, b], **options)
    p: Any = {"w": xp.asarray(W), "b": [xp.asarray(B)]}
    optimizer = made()
    state = optimizer.init(p)
    gradient = grad(loss)
    for _ in range(30):
        theirs.zero_grad()
        loss({"w": w, "b": [b]}).backward()
        theirs.step()
        updates, state = optimizer.update(gradient(p), state, p)
        p = apply_updates(p, updates)
        assert np.allclose(np.asarray(p["w"]), w.detach().numpy(), rtol=1e-12, atol=1e-13)
        assert np.allclose(np.asarray(p["b"][0]), b.detach().numpy(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("optimizer", [sgd(0.1, momentum=0.5), adam(0.1)])
def test_nothing_is_changed_in_place(optimizer: Any) -> None:
    p, g = (xp.asarray([1.0, 2.0]),), (xp.asarray([0.5, -1.0]),)
    state = optimizer.init(p)
    first = optimizer.update(g, state)
    second = optimizer.update(g, state)
    assert np.array_equal(np.asarray(first[0][0]), np.asarray(second[0][0]))
    apply_updates(p, first[0])
    assert p[0].tolist() == [1.0, 2.0] and g[0].tolist() == [0.5, -1.0]


@pytest.mark.parametrize("optimizer", [sgd(0.1), sgd(0.1, momentum=0.5), adam(0.1)])
def test_dtypes_stay(optimizer: Any) -> None:
    for dtype in (xp.float32, xp.float64, xp.complex64):
        p = {"a": xp.ones(3, dtype=dtype)}
        updates, _ = optimizer.update(p, optimizer.init(p))
        assert updates["a"].dtype == dtype and apply_updates(p, updates)["a"].dtype == dtype


def test_a_schedule_gets_the_number_of_updates() -> None:
    seen: list[int] = []

    def rate(count: int) -> float:
        seen.append(count)
        return 1 / (count + 1)

    optimizer = sgd(rate)
    state = optimizer.init(xp.ones(1))
    for k in range(3):
        updates, state = optimizer.update(xp.ones(1), state)
        assert float(updates[0]) == -1 / (k + 1)
    assert seen == [0, 1, 2]


def test_complex_parameters_descend() -> None:
    z = xp.asarray([1.0 + 2.0j])
    optimizer = adam(0.05)
    state = optimizer.init(z)
    gradient = grad(lambda z: xp.sum(xp.real(xp.conj(z - 1j) * (z - 1j))))
    for _ in range(400):
        updates, state = optimizer.update(gradient(z), state)
        z = apply_updates(z, updates)
    assert abs(complex(z[0]) - 1j) < 1e-3


def test_lbfgs_on_a_nested_structure() -> None:
    pytest.importorskip("scipy")
    target = xp.asarray([[1.0, 2.0], [3.0, 4.0]], dtype=xp.float32)

    def f(p: Any, scale: Any) -> Any:
        return scale * xp.sum((p["w"] - target) ** 2) + xp.sum((p["rest"][0] + 1) ** 4)

    start = {"w": xp.zeros((2, 2), dtype=xp.float32), "rest": (xp.zeros(3),)}
    found = minimize_lbfgs(f, start, 2.0, options={"gtol": 1e-9, "ftol": 1e-14})
    assert found.success and found.value < 1e-6
    assert found.parameters["w"].dtype == xp.float32 and found.parameters["w"].shape == (2, 2)
    assert np.allclose(np.asarray(found.parameters["w"]), np.asarray(target), atol=1e-3)
    assert np.allclose(np.asarray(found.parameters["rest"][0]), -1, atol=0.05)
    assert start["rest"][0].tolist() == [0, 0, 0]
    assert minimize_lbfgs(f, start, 2.0, options={"maxiter": 1}).iterations == 1


def test_errors() -> None:
    with pytest.raises(xp.ArgumentValueError, match="momentum is 1"):
        sgd(0.1, momentum=1)
    with pytest.raises(xp.ArgumentValueError, match="b2"):
        adam(0.1, b2=-0.5)
    with pytest.raises(xp.ArgumentValueError, match="different structure"):
        apply_updates({"a": xp.ones(1)}, {"b": xp.ones(1)})
    with pytest.raises(xp.ArgumentTypeError, match="a parameter is"):
        minimize_lbfgs(xp.sum, (xp.ones(2, dtype=xp.int64),))
    with pytest.raises(xp.ArgumentTypeError, match="options is str"):
        minimize_lbfgs(xp.sum, xp.ones(2), options="C")


class Point(NamedTuple):
    place: Any
    name: str
    size: int
    nothing: Any = None


@pytest.mark.parametrize("optimizer", [sgd(0.1), sgd(0.1, momentum=0.5, nesterov=True), adam(0.1)])
def test_what_is_no_array_stays(optimizer: Any) -> None:
    start = [Point(xp.asarray([1.0, -2.0]), "p", 3), {"f": xp.tanh, "x": xp.asarray(1.5)}]
    bare = [start[0].place, start[1]["x"]]

    def steps(parameters: Any, of: Any) -> Any:
        state = optimizer.init(parameters)
        for _ in range(3):
            updates, state = optimizer.update(grad(of)(parameters), state, parameters)
            parameters = apply_updates(parameters, updates)
        return parameters

    found = steps(start, lambda p: xp.sum(p[0].place ** 2) * p[0].size + p[1]["f"](p[1]["x"]))
    expected = steps(bare, lambda p: xp.sum(p[0] ** 2) * 3 + xp.tanh(p[1]))
    assert found[0]._replace(place=None) == Point(None, "p", 3) and found[1]["f"] is xp.tanh
    np.testing.assert_array_equal(np.asarray(found[0].place), np.asarray(expected[0]))
    np.testing.assert_array_equal(np.asarray(found[1]["x"]), np.asarray(expected[1]))


def test_lbfgs_passes_by_what_is_no_array() -> None:
    pytest.importorskip("scipy")
    found = minimize_lbfgs(lambda p: xp.sum((p.place - p.size) ** 2), Point(xp.zeros(2), "p", 3))
    assert found.parameters._replace(place=None) == Point(None, "p", 3)
    np.testing.assert_allclose(np.asarray(found.parameters.place), 3.0, rtol=1e-6)
