"""Gradients of decompositions at repeated eigenvalues and singular values.

A loss that does not depend on the choice of vectors is smooth there. It is compared with the same function
computed without a decomposition (products, `inv`, `expm`), with an exact formula, or with finite differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import stride0 as xp
from stride0.autograd import GradientError, Tape, checkpoint, grad, hessian, hvp, jacobian, jvp, vmap
from stride0.autograd._tape.tape import is_tracked
from stride0.linalg import LinAlgError
from stride0.testing import check_grad

N = 3
RNG = np.random.default_rng(38)
WEIGHTS = RNG.normal(size=(N, N))
GOAL = RNG.normal(size=(N, N))
STEP = RNG.normal(size=(N, N))
TURN = np.linalg.qr(RNG.normal(size=(N, N)))[0]
PHASES = np.linalg.qr(RNG.normal(size=(N, N)) + 1j * RNG.normal(size=(N, N)))[0]

VALUES = {
    "one": [1.0, 1.0, 1.0],
    "zero": [0.0, 0.0, 0.0],
    "pair": [1.0, 1.0, 3.0],
    "rounding": [1.0, 1.0 + 1e-15, 1.0 - 1e-15],
    "near": [1.0, 1.0 + 1e-12, 1.0 + 1e-9],
    "apart": [1.0, 2.0, 4.0],
}


def matrix(values: list[float], turn: Any = None) -> Any:
    w = np.asarray(values)
    if turn is None:
        turn = np.eye(N) if np.ptp(w) == 0 else TURN
    a = (turn * w) @ turn.conj().T
    return xp.asarray((a + a.conj().T) / 2)


def adjoint(x: Any) -> Any:
    return xp.conj(x).mT


def hermitian(x: Any) -> Any:
    return (x + adjoint(x)) / 2


def by_eigh(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(a: Any) -> Any:
        w, v = xp.linalg.eigh(hermitian(a))
        return (v * f(w)[..., None, :]) @ adjoint(v)

    return call


def by_eig(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(a: Any) -> Any:
        w, v = xp.linalg.eig(hermitian(a))
        return (v * f(w)[..., None, :]) @ xp.linalg.inv(v)

    return call


def by_svd(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(a: Any) -> Any:
        u, s, vh = xp.linalg.svd(a, full_matrices=False)
        return (u * f(s)[..., None, :]) @ vh

    return call


# A function of numbers, and the same function of matrices.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "identity": (lambda w: w, lambda a: a * 1.0),
    "cube": (lambda w: w**3, lambda a: a @ a @ a),
    "exp": (xp.exp, xp.linalg.expm),
    "inverse": (lambda w: 1 / w, xp.linalg.inv),
}


def linear(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda a: xp.sum(xp.real(xp.asarray(WEIGHTS) * f(a)))


def quadratic(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda a: xp.sum(xp.abs(f(a) - xp.asarray(GOAL)) ** 2) / 2


def close(got: Any, expected: Any, tolerance: float = 1e-11) -> None:
    expected = np.asarray(expected)
    scale = max(1.0, float(np.max(np.abs(expected))))
    np.testing.assert_allclose(np.asarray(got), expected, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("decomposed", [by_eigh, by_eig])
def test_gradients_of_matrix_functions(decomposed: Any, name: str, values: str) -> None:
    f, of_matrix = FUNCTIONS[name]
    if name == "inverse" and values == "zero":
        return
    for a in (matrix(VALUES[values]), matrix(VALUES[values], PHASES)):
        for loss in (linear, quadratic):
            expected = grad(loss(lambda a: of_matrix(hermitian(a))))(a)
            close(grad(loss(decomposed(f)))(a), expected)


MODES: dict[str, Callable[[Any, Any], Any]] = {
    "jvp": lambda f, a: jvp(f, (a,), (xp.asarray(STEP),))[1],
    "hvp": lambda f, a: hvp(f, a, xp.asarray(STEP)),
    "gradient of a gradient": lambda f, a: grad(lambda x: xp.sum(grad(f)(x) * xp.asarray(STEP)))(a),
    "hessian": lambda f, a: hessian(f)(a),
    "jacobian of a jvp": lambda f, a: jacobian(lambda x: jvp(f, (x,), (xp.asarray(STEP),))[1])(a),
    "vmap": lambda f, a: vmap(grad(f))(xp.stack([a, a + xp.asarray(STEP), a])),
    "grad of vmap": lambda f, a: grad(lambda x: xp.sum(vmap(f)(x)))(xp.stack([a, a + xp.asarray(STEP)])),
    "checkpoint": lambda f, a: grad(checkpoint(f))(a),
    "tape": lambda f, a: by_tape(f, a),
    "fused": lambda f, a: fused(f, a),
}


def by_tape(f: Callable[[Any], Any], a: Any) -> Any:
    with Tape() as tape:
        x = tape.watch(a)
        g = tape.gradient(f(x), x)
        y = xp.sum(g * xp.asarray(STEP))
    return xp.stack([g, tape.gradient(y, x)])


def fused(f: Callable[[Any], Any], a: Any) -> Any:
    with xp.fused(size=1):
        return grad(f)(a)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("values", ["one", "pair", "rounding", "near"])
def test_modes(mode: str, values: str) -> None:
    a = matrix(VALUES[values])
    f, of_matrix = FUNCTIONS["exp"]
    expected = MODES[mode](quadratic(lambda a: of_matrix(hermitian(a))), a)
    close(MODES[mode](quadratic(by_eigh(f)), a), expected, 1e-8 if values == "near" else 1e-10)


def nested(f: Callable[[Any], Any], a: Any) -> Any:
    step = xp.asarray(STEP)
    return grad(lambda y: xp.sum(step * grad(lambda x: xp.sum(step * grad(f)(x)))(y)))(a)


def by_one_tape(f: Callable[[Any], Any], a: Any) -> Any:
    step = xp.asarray(STEP)
    with Tape() as tape:
        x = tape.watch(a)
        g = tape.gradient(f(x), x)
        h = tape.gradient(xp.sum(g * step), x)
        return tape.gradient(xp.sum(h * step), x)


@pytest.mark.parametrize("third", [nested, by_one_tape])
@pytest.mark.parametrize("values", ["one", "pair"])
def test_third_derivatives(third: Any, values: str) -> None:
    f, of_matrix = FUNCTIONS["cube"]
    a = matrix(VALUES[values])
    close(third(linear(by_eigh(f)), a), third(linear(lambda a: of_matrix(hermitian(a))), a), 1e-9)


@pytest.mark.parametrize("values", ["one", "pair"])
def test_whitening(values: str) -> None:
    """The differential of f(A) has the divided differences of f as factors: Daleckii and Krein."""
    f: Any = lambda w: 1 / xp.sqrt(w)  # noqa: E731
    a = matrix(VALUES[values])
    w, v = np.linalg.eigh(np.asarray(a))
    roots = np.sqrt(w)
    slopes = -1 / (np.outer(roots, roots) * (roots[:, None] + roots))
    symmetric = (WEIGHTS + WEIGHTS.T) / 2
    close(grad(linear(by_eigh(f)))(a), v @ (slopes * (v.T @ symmetric @ v)) @ v.T)
    check_grad(linear(by_eigh(f)), a, order=2)


@pytest.mark.parametrize("dtype", [xp.float32, xp.complex64])
def test_single_precision(dtype: Any) -> None:
    a = xp.asarray(matrix(VALUES["pair"]), dtype=dtype)
    weights = xp.asarray(WEIGHTS, dtype=dtype)

    def loss(a: Any) -> Any:
        return xp.sum(xp.real(weights * by_eigh(xp.exp)(a)))

    _, expected = scipy.linalg.expm_frechet(
        np.asarray(matrix(VALUES["pair"])), (WEIGHTS + WEIGHTS.T) / 2, compute_expm=True
    )
    assert grad(loss)(a).dtype == dtype
    close(grad(loss)(a), expected, 1e-5)


def test_stacks() -> None:
    """Matrices with and without repeated values, in one stack."""
    stack = xp.stack([matrix(VALUES[values]) for values in ("one", "apart", "pair", "zero")])
    f, of_matrix = FUNCTIONS["exp"]
    expected = grad(linear(lambda a: of_matrix(hermitian(a))))(stack)
    close(grad(linear(by_eigh(f)))(stack), expected)
    other = xp.flip(stack).mT
    close(grad(linear(by_eigh(f)))(other), grad(linear(lambda a: of_matrix(hermitian(a))))(other))


# --- singular values

RECTANGLES = {
    "one": np.eye(3),
    "zero": np.zeros((3, 3)),
    "pair": TURN @ np.diag([2.0, 2.0, 1.0]) @ TURN,
    "rank 1": TURN @ np.diag([2.0, 0.0, 0.0]) @ TURN.T,
    "rank 2": TURN @ np.diag([2.0, 2.0, 0.0]) @ TURN.T,
    "tall": np.eye(3)[:, :2],
    "tall, rank 1": np.outer([1.0, 2.0, 3.0], [1.0, -1.0]),
    "tall, zero": np.zeros((3, 2)),
    "wide": np.eye(3)[:2],
    "wide, rank 1": np.outer([1.0, -1.0], [1.0, 2.0, 3.0]),
    "complex": PHASES * 2.0,
    "complex, rank 1": np.outer(PHASES[0], PHASES[1]),
}


@pytest.mark.parametrize("name", RECTANGLES)
@pytest.mark.parametrize("full", [False, True])
def test_singular_vectors(name: str, full: bool) -> None:
    """An odd function of singular values is a polynomial of the matrix, so smooth everywhere."""
    a = xp.asarray(RECTANGLES[name])
    rows, columns = a.shape
    weights = xp.asarray(WEIGHTS[:rows, :columns])
    step = xp.asarray(STEP[:rows, :columns])

    def composed(a: Any) -> Any:
        u, s, vh = xp.linalg.svd(a, full_matrices=full)
        k = s.shape[-1]
        return (u[:, :k] * (s + s**3)) @ vh[:k, :]

    def loss(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda a: xp.sum(xp.real(weights * f(a))) + xp.sum(xp.abs(f(a) - step) ** 2)

    ours, expected = loss(composed), loss(lambda a: a + a @ adjoint(a) @ a)
    close(grad(ours)(a), grad(expected)(a))
    close(jvp(ours, (a,), (step,))[1], jvp(expected, (a,), (step,))[1])
    close(hvp(ours, a, step), hvp(expected, a, step), 1e-9)


@pytest.mark.parametrize("name", ["one", "pair", "tall", "wide", "complex"])
def test_polar_factor(name: str) -> None:
    a = RECTANGLES[name]
    weights = WEIGHTS[: a.shape[0], : a.shape[1]]

    def loss(a: Any) -> Any:
        u, _, vh = xp.linalg.svd(a, full_matrices=False)
        return xp.sum(xp.real(xp.asarray(weights) * (u @ vh)))

    got = np.asarray(grad(loss)(xp.asarray(a)))
    step = STEP[: a.shape[0], : a.shape[1]]

    def polar(t: float) -> float:
        u, _, vh = np.linalg.svd(a + t * step, full_matrices=False)
        return float(np.sum((weights * (u @ vh)).real))

    slope = (8 * (polar(1e-3) - polar(-1e-3)) - (polar(2e-3) - polar(-2e-3))) / 12e-3
    assert np.sum(got.real * step) == pytest.approx(slope, abs=1e-8)


def test_rotated_pairs_of_a_real_matrix() -> None:
    """A normal matrix with eigenvalues i, i, -i, -i."""
    a = np.kron([[0.0, 1.0], [-1.0, 0.0]], np.eye(2))
    weights = xp.asarray(RNG.normal(size=(4, 4)))

    def loss(a: Any) -> Any:
        w, v = xp.linalg.eig(a)
        return xp.sum(xp.real(weights * ((v * xp.exp(w)) @ xp.linalg.inv(v))))

    expected = grad(lambda a: xp.sum(weights * xp.linalg.expm(a)))(xp.asarray(a))
    close(grad(loss)(xp.asarray(a)), expected)


# --- only values


def test_second_derivatives_of_values() -> None:
    """The sum of powers of eigenvalues is the trace of a power."""
    for a in (xp.eye(N), matrix(VALUES["pair"])):
        expected = hessian(lambda a: xp.linalg.trace(hermitian(a) @ hermitian(a) @ hermitian(a)))(a)
        close(hessian(lambda a: xp.sum(xp.linalg.eigvalsh(hermitian(a)) ** 3))(a), expected)
        close(hessian(lambda a: xp.sum(xp.linalg.eigh(hermitian(a))[0] ** 3))(a), expected)
        squares = hessian(lambda a: xp.sum((a @ a.mT) ** 2))(a)
        close(hessian(lambda a: xp.sum(xp.linalg.svdvals(a) ** 4))(a), squares)


def test_values_and_vectors_of_two_calls() -> None:
    a = matrix(VALUES["one"])

    def loss(a: Any) -> Any:
        b = hermitian(a)
        w, v = xp.linalg.eigh(b)[0], xp.linalg.eigh(b)[1]
        return linear(lambda a: (v * xp.exp(w)) @ v.mT)(a)

    close(grad(loss)(a), grad(linear(lambda a: xp.linalg.expm(hermitian(a))))(a))


# --- refused, or not


@pytest.mark.parametrize(
    "loss",
    [
        lambda a: xp.sum(xp.linalg.eigh(a)[1][:, 0]),
        lambda a: xp.linalg.eigh(a)[1][0, 0] ** 2,
        lambda a: xp.sum(xp.linalg.eigh(a)[1] ** 4),
        lambda a: xp.sum(
            xp.asarray(WEIGHTS) * (xp.linalg.eigh(a)[1][:, :1] @ xp.linalg.eigh(a)[1][:, :1].mT)
        ),
        lambda a: xp.linalg.svd(a)[0][0, 1],
        lambda a: xp.sum(xp.linalg.svd(a)[2][0, :] ** 4),
        lambda a: xp.real(xp.linalg.eig(a)[1][0, 1]),
    ],
)
def test_choice_of_vectors_is_refused(loss: Callable[[Any], Any]) -> None:
    with pytest.raises(LinAlgError, match=r"repeat.*choice"):
        grad(loss)(xp.eye(N))
    with pytest.raises(LinAlgError, match=r"repeat.*choice"):
        jvp(loss, (xp.eye(N),), (xp.asarray(STEP),))


def test_polar_factor_of_a_singular_matrix_is_refused() -> None:
    def loss(a: Any) -> Any:
        u, _, vh = xp.linalg.svd(a)
        return xp.sum(xp.asarray(WEIGHTS) * (u @ vh))

    with pytest.raises(LinAlgError, match="repeat"):
        grad(loss)(xp.asarray(RECTANGLES["rank 1"]))


def test_subspaces_and_single_values_are_not_refused() -> None:
    """The projector onto all vectors of a repeated value, and onto the other vectors."""
    a = matrix(VALUES["pair"])
    w, v = np.linalg.eigh(np.asarray(a))
    p = v[:, :2] @ v[:, :2].T
    # The projector is a function of the matrix: 1 at the pair, 0 at the other value, with slope 0 at both.
    slopes = np.where(np.equal.outer(w > 2, w > 2), 0, -1 / (w[2] - w[0]))
    expected = v @ (slopes * (v.T @ (WEIGHTS + WEIGHTS.T) @ v) / 2) @ v.T

    def projector(a: Any) -> Any:
        vectors = xp.linalg.eigh(a)[1][:, :2]
        return vectors @ vectors.mT

    close(projector(a), p)
    close(grad(linear(projector))(a), expected)
    # The other projector is the rest, and has no vector of the pair.
    close(grad(linear(lambda a: xp.linalg.eigh(a)[1][:, 2:] @ xp.linalg.eigh(a)[1][:, 2:].mT))(a), -expected)


def test_rounding_errors_at_an_optimum_are_not_refused() -> None:
    """All cotangents of a loss that has reached its minimum are rounding errors."""
    for values in ("one", "pair", "rounding"):
        a = matrix(VALUES[values])
        goal = xp.linalg.expm(a)
        g = grad(lambda a, goal=goal: xp.sum((by_eigh(xp.exp)(a) - goal) ** 2))(a)
        close(g, np.zeros((N, N)), 1e-11)


def test_a_gradient_holds_no_graph() -> None:
    """Memory of a recorded pass is freed with the pass: gradients are untracked, and can be written to."""
    g = grad(linear(by_eigh(xp.exp)))(xp.eye(N))
    before = np.asarray(g).copy()
    g += 1.0
    close(g, before + 1.0)
    assert not is_tracked(g)


def test_several_decompositions() -> None:
    """Two decompositions of one matrix, and a decomposition of another decomposition's results."""
    a, one = matrix(VALUES["one"]), xp.eye(N)

    def both(a: Any) -> Any:
        return by_eigh(xp.exp)(a) * by_svd(lambda s: s**3)(a)

    def exact(a: Any) -> Any:
        return xp.linalg.expm(hermitian(a)) * (a @ a @ a)

    close(grad(linear(both))(a), grad(linear(exact))(a))

    def nested(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return linear(lambda a: f(f(a) - one))

    ours, expected = nested(by_eigh(xp.exp)), nested(lambda a: xp.linalg.expm(hermitian(a)))
    close(grad(ours)(a), grad(expected)(a))
    close(jvp(ours, (a,), (xp.asarray(STEP),))[1], jvp(expected, (a,), (xp.asarray(STEP),))[1])
    with pytest.raises(GradientError, match="no second derivative of a decomposition"):
        hvp(ours, a, xp.asarray(STEP))


def test_cotangents_from_elsewhere_are_refused() -> None:
    """The calls after a checkpoint are not known within it."""
    decomposed = checkpoint(xp.linalg.eigh)

    def loss(a: Any) -> Any:
        w, v = decomposed(a)
        return xp.sum(xp.asarray(WEIGHTS) * ((v * xp.exp(w)) @ v.mT))

    with pytest.raises(LinAlgError, match="repeat"):
        grad(loss)(xp.eye(N))
