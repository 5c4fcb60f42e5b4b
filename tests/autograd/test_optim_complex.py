"""`stride0.optim` on complex parameters: pairs of reals, each part with its own step, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad, vmap
from stride0.optim import adam, apply_updates, sgd

OPTIMIZERS = {
    "sgd": lambda: sgd(0.01),
    "momentum": lambda: sgd(0.01, momentum=0.9),
    "nesterov": lambda: sgd(0.01, momentum=0.8, nesterov=True),
    "adam": lambda: adam(0.1),
    "adam options": lambda: adam(0.1, b1=0.7, b2=0.95, eps=1e-3),
    "adam schedule": lambda: adam(lambda step: 0.1 / (1 + step)),
}
each = pytest.mark.parametrize("made", OPTIMIZERS.values(), ids=list(OPTIMIZERS))


def complexes(shape: tuple[int, ...], seed: int, dtype: str = "complex128") -> Any:
    """Complex numbers whose imaginary parts are ten times as large as the real ones."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=shape) + 10j * rng.normal(size=shape)).astype(dtype)


def after(optimizer: Any, p: Any, gradients: list[Any]) -> Any:
    state = optimizer.init(p)
    for g in gradients:
        updates, state = optimizer.update(g, state, p)
        p = apply_updates(p, updates)
    return p


@each
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_a_complex_parameter_is_a_pair_of_real_ones(made: Any, dtype: str, shape: tuple[int, ...]) -> None:
    p = complexes(shape, 0, dtype)
    gradients = [complexes(shape, k, dtype) for k in range(1, 12)]
    found = after(made(), xp.asarray(p), [xp.asarray(g) for g in gradients])
    assert found.dtype.name == dtype and found.shape == shape
    for part in ("real", "imag"):
        real = [xp.asarray(getattr(x, part).copy()) for x in (p, *gradients)]
        assert np.array_equal(getattr(np.asarray(found), part), np.asarray(after(made(), real[0], real[1:])))


@each
def test_real_and_complex_parameters_in_one_structure(made: Any) -> None:
    w, b = 0.05 * complexes((3, 2), 0), np.asarray([1.0, -2.0])

    def loss(p: Any) -> Any:
        return xp.sum(xp.abs(p["w"] @ p["b"][0] - (1 + 2j)) ** 2)

    def pairs(p: Any) -> Any:
        real, imag = p["w"]
        return xp.sum((real @ p["b"][0] - 1) ** 2) + xp.sum((imag @ p["b"][0] - 2) ** 2)

    whole: Any = {"w": xp.asarray(w), "b": [xp.asarray(b)]}
    split: Any = {"w": (xp.asarray(w.real.copy()), xp.asarray(w.imag.copy())), "b": [xp.asarray(b)]}
    ours, theirs = made(), made()
    state, other = ours.init(whole), theirs.init(split)
    for _ in range(10):
        updates, state = ours.update(grad(loss)(whole), state)
        whole = apply_updates(whole, updates)
        updates, other = theirs.update(grad(pairs)(split), other)
        split = apply_updates(split, updates)
    assert np.allclose(np.asarray(whole["w"]).real, np.asarray(split["w"][0]), rtol=1e-9)
    assert np.allclose(np.asarray(whole["w"]).imag, np.asarray(split["w"][1]), rtol=1e-9)
    assert np.allclose(np.asarray(whole["b"][0]), np.asarray(split["b"][0]), rtol=1e-9)


def test_an_infinite_part_leaves_the_other_part_alone() -> None:
    p, g = xp.asarray([1 + 1j, 1 + 1j]), xp.asarray([complex(np.inf, 2), complex(3, np.nan)])
    found = np.asarray(after(adam(0.5), p, [g]))
    assert found[0].imag == pytest.approx(0.5) and found[1].real == pytest.approx(0.5)
    assert np.isnan(found[0].real) and np.isnan(found[1].imag)


def test_a_real_gradient_moves_the_real_part() -> None:
    found = after(adam(0.5), xp.asarray([1 + 1j]), [xp.asarray([2.0])])
    assert np.allclose(np.asarray(found), [0.5 + 1j])


def test_transposed_parameters_batches_and_gradients_of_a_step() -> None:
    optimizer = adam(0.1)
    g = complexes((3, 4), 5)

    def step(g: Any) -> Any:
        return optimizer.update(g, optimizer.init(g))[0]

    whole = np.asarray(step(xp.asarray(g)))
    assert np.array_equal(np.asarray(step(xp.asarray(g).T)), whole.T)
    assert np.array_equal(np.asarray(step(xp.asarray(g)[::-1, ::2])), whole[::-1, ::2])
    assert np.array_equal(np.asarray(vmap(step)(xp.asarray(g))), whole)
    with xp.fused():
        assert np.array_equal(np.asarray(step(xp.asarray(g))), whole)
    # A step of size 0.1 in each part does not depend on the size of the gradient.
    slope = grad(lambda g: xp.sum(xp.real(step(g)) + xp.imag(step(g))))(xp.asarray(g))
    assert np.abs(np.asarray(slope)).max() < 1e-6
