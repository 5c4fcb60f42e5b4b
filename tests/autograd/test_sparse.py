"""Sparse derivatives: patterns, values of sparse matrices, plans and errors."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import stride0 as xp
from stride0 import autograd

pytest.importorskip("scipy.sparse")
from sparse_programs import check

X = xp.asarray([0.3, -1.2, 2.0, 0.7])
A = xp.asarray([[0.9, 0.2, -0.4], [0.1, 1.5, 0.6]])
BAND = xp.asarray([[1.0, 2, 0, 0], [0, 0, 3, 0], [0, 0, 0, 0]])


def dense(f, *args, argnums=0):
    found = autograd.jacobian(f, argnums, mode="reverse")(*args)
    parts = found if isinstance(found, tuple) else (found,)
    size = xp.reshape(f(*args), (-1,)).shape[0]
    return np.concatenate([np.asarray(part).reshape(size, -1) for part in parts], axis=1)


def in_place(x):
    y = xp.zeros(4)
    y[1:] = x[:-1]
    y[0] += x[3]
    part = y[2:]
    part *= x[0]
    return y


def by_positions(x):
    y = xp.asarray(x, copy=True)
    y[xp.asarray([3, 0])] = x[1:3] ** 2
    return y


def by_mask(x):
    y = xp.zeros(4)
    y[xp.asarray([True, False, True, False])] = x[:2]
    return y


def through_components(x):
    z = xp.astype(x, xp.complex128)
    part = xp.real(z)
    part[1] = x[2]
    return xp.stack([xp.real(z), xp.imag(z * 1j)])


# The pattern has exactly the entries of the dense matrix that are not 0.
EXACT = {
    "elementwise": (lambda x: xp.sin(x) * x + x[::-1], X),
    "broadcasting": (lambda a: a * a[0] + a[:, :1], A),
    "constant factor": (lambda x: x * xp.asarray([1.0, 0, 2, 0]), X),
    "sum": (lambda a: xp.sum(a, axis=0), A),
    "mean, keepdims": (lambda a: a - xp.mean(a, axis=1, keepdims=True), A),
    "prod": (lambda a: xp.prod(a, axis=1), A),
    "variance": (lambda a: xp.var(a, axis=0), A),
    "norm": (lambda a: xp.linalg.vector_norm(a, axis=1), A),
    "logsumexp": (lambda a: xp.special.logsumexp(a, axis=0), A),
    "softmax": (lambda a: xp.special.softmax(a, axis=1), A),
    "cumulative_sum": (lambda x: xp.cumulative_sum(x, include_initial=True), X),
    "cumulative_prod": (lambda a: xp.cumulative_prod(a, axis=1), A),
    "diff": (lambda x: xp.diff(x, n=2), X),
    "transpose, reshape": (lambda a: xp.reshape(a.T, (2, 3)) * xp.reshape(a, (2, 3)), A),
    "concat, stack": (lambda x: xp.stack([xp.concat([x[2:], x[:2]]), x]), X),
    "roll, flip, repeat, tile": (
        lambda x: xp.concat([xp.roll(x, 1), xp.flip(x), xp.repeat(x, 2), xp.tile(x, (2,))]),
        X,
    ),
    "triangles": (lambda a: xp.tril(a) + xp.triu(a, k=1), A),
    "positions": (lambda x: x[xp.asarray([3, 0, 3])], X),
    "mask": (lambda x: x[xp.asarray([True, False, True, True])], X),
    "take, take_along_axis": (
        lambda a: (
            xp.take(a, xp.asarray([2, 0]), axis=1)
            + xp.take_along_axis(a, xp.asarray([[1, 1], [0, 2]]), axis=1)
        ),
        A,
    ),
    "matrix product": (lambda a: a.T @ a, A),
    "product with constant": (lambda x: BAND @ x, X),
    "product from the left": (lambda a: a @ BAND[:, :3].T, A),
    "stack of products": (lambda a: xp.matmul(xp.stack([a, a * 2]), xp.eye(3)), A),
    "tensordot": (lambda a: xp.tensordot(a, a, axes=((0,), (0,))), A),
    "vecdot": (lambda a: xp.vecdot(a, a[0]), A),
    "einsum": (lambda a: xp.einsum("ij,kj->ik", a, BAND[:, :3]), A),
    "einsum of three": (lambda a: xp.einsum("ij,ik,ik->j", a, a, a), A),
    "outer": (lambda x: xp.linalg.outer(x, x[:2]), X),
    "Fourier transform": (lambda a: xp.real(xp.fft.fft(a + 0.1 * a**2, axis=1)), A),
    "inverse of each matrix": (
        lambda a: xp.linalg.inv(xp.stack([a[:, :2], a[:, 1:]]) + 2 * xp.ones((2, 2)) * xp.eye(2)),
        A,
    ),
    "trace, diagonal": (lambda a: xp.concat([xp.linalg.diagonal(a), xp.linalg.trace(a)[None]]), A),
    "writes": (in_place, X),
    "writes by positions": (by_positions, X),
    "writes by mask": (by_mask, X),
    "matmul in place": (lambda x: _multiplied(x), X),
    "checkpoint": (autograd.checkpoint(lambda x: xp.sin(x)), X),
    "vmap": (autograd.vmap(lambda x: xp.sin(x)), X),
    "vmap of rows": (autograd.vmap(lambda row: xp.stack([row[0] * row[1], row[2] ** 2]), out_axes=1), A),
    "vmap of columns": (
        lambda x: autograd.vmap(lambda a, b: a[0] * b, in_axes=(1, None))(xp.reshape(x, (2, 2)), x[2]),
        X,
    ),
    "vmap within vmap": (autograd.vmap(autograd.vmap(lambda x: x**2)), A),
    "vmap and closure": (lambda x: autograd.vmap(lambda part: part * x[3] + x[2])(x[:2]), X),
    "write within vmap": (lambda x: _written_in_vmap(x), X),
    "constant results": (lambda x: xp.floor(x) + x, X),
    "no axes": (lambda x: x[0] * x[2], X),
}


def _written_in_vmap(x):
    y = x * 1.0
    autograd.vmap(lambda part, v: part.__setitem__(0, v))(xp.reshape(y, (2, 2)), x[:2])
    return y


def _multiplied(x):
    y = x * 1.0
    y @= xp.asarray([[1.0, 2, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    return y


@pytest.mark.parametrize("name", EXACT)
def test_patterns_are_exact(name):
    f, x = EXACT[name]
    pattern = autograd.jacobian_sparsity(f, x)
    matrix = dense(f, x)
    # Except for rounding errors of Fourier transforms.
    nonzero = np.abs(matrix) > 1e-14
    if name == "Fourier transform":
        assert not (nonzero & ~pattern.toarray()).any() and pattern.nnz == 2 * 9
    else:
        np.testing.assert_array_equal(pattern.toarray(), nonzero)
    assert pattern.dtype == np.bool_ and pattern.has_sorted_indices
    found = autograd.sparse_jacobian(f)(x)
    np.testing.assert_allclose(found.toarray(), matrix, rtol=1e-12, atol=1e-12)


def test_second_form_of_the_product_in_einsum():
    f = lambda a: xp.einsum("ii->i", a[:, :2])  # noqa: E731
    np.testing.assert_array_equal(autograd.jacobian_sparsity(f, A).toarray(), dense(f, A) != 0)


# Choices by values may differ at other points: all choices count.
CHOOSING = {
    "maximum": (lambda x: xp.maximum(x, x[::-1]), 8),
    "max": (lambda x: xp.max(x), 4),
    "where": (lambda x: xp.where(x > 0, x, x[::-1]), 8),
    "where of constants": (lambda x: xp.where(xp.asarray([True, False] * 2), x, x[::-1]), 8),
    "writes to components": (lambda x: through_components(x), 10),
    "computed mask as factor": (lambda x: xp.astype(x > 0, xp.float64) * x[::-1], 4),
    "sort": (lambda x: xp.sort(x), 16),
    "positions": (lambda x: xp.take(x, xp.argsort(x)), 16),
    "one position": (lambda x: x[xp.argmax(x)], 4),
    "matrix of a detached array": (
        lambda x: (autograd.stop_gradient(xp.linalg.outer(x, x)) * 0) @ x,
        16,
    ),
}


@pytest.mark.parametrize("name", CHOOSING)
def test_all_choices_count(name):
    f, entries = CHOOSING[name]
    assert autograd.jacobian_sparsity(f, X).nnz == entries


@autograd.custom_vjp
def mixing(x):
    return xp.sin(x)


mixing.defvjp(lambda x: (xp.sin(x), x), lambda x, g: (xp.cumulative_sum(g) * x,))
# Their patterns are not known, so they are dense, not empty.
UNKNOWN = {
    "gradient": autograd.grad(lambda x: xp.sum(x**3)),
    "derivative of the caller": mixing,
    "no rule": lambda x: xp.interp(x, xp.asarray([-2.0, 0, 3]), xp.asarray([0.0, 1, 0])),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_operations_are_dense(name):
    assert autograd.jacobian_sparsity(UNKNOWN[name], X).nnz == 16
    assert autograd.hessian_sparsity(lambda x: xp.sum(UNKNOWN[name](x)), X).nnz == 16
    f = UNKNOWN[name]
    np.testing.assert_allclose(autograd.sparse_jacobian(f)(X).toarray(), dense(f, X), atol=1e-12)


def test_unknown_operations_touch_their_operands_only():
    pattern = autograd.jacobian_sparsity(lambda x: xp.concat([mixing(x[:2]), x[2:]]), X)
    np.testing.assert_array_equal(pattern.toarray(), [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


ENERGIES = {
    "springs": lambda x: xp.sum((x[1:] - x[:-1]) ** 2),
    "linear": lambda x: xp.sum(x * 2) + x[0] - xp.max(x),
    "bilinear": lambda x: x[0] * x[3] + xp.sum(x),
    "ratio": lambda x: xp.sum(x[:2] / x[2:]),
    "elementwise": lambda x: xp.sum(xp.exp(x) + xp.where(x > 0, x**3, xp.sin(x))),
    "product": lambda x: xp.prod(x[:3]),
    "matrix product": lambda x: xp.sum((BAND @ x) * x[1:]),
    "two factors": lambda x: xp.sum(xp.reshape(x, (2, 2)) @ xp.reshape(x, (2, 2))),
    "writes": lambda x: xp.sum(in_place(x) ** 2),
    "constant": lambda x: xp.sum(xp.floor(x)),
}


@pytest.mark.parametrize("name", ENERGIES)
def test_hessians(name):
    f = ENERGIES[name]
    matrix = np.asarray(autograd.hessian(f)(X))
    pattern = autograd.hessian_sparsity(f, X)
    if name == "product":
        # The diagonal is in the pattern, and 0.
        matrix = matrix + np.diag([1e-300, 1e-300, 1e-300, 0])
    np.testing.assert_array_equal(pattern.toarray(), matrix != 0)
    found = autograd.sparse_hessian(f)(X)
    np.testing.assert_allclose(found.toarray(), matrix, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("first", range(0, 48, 12))
def test_random_programs(first):
    assert [said for seed in range(first, first + 12) if (said := check(seed, seed % 4 == 0))] == []


def arrow(x):
    return xp.concat([xp.reshape(xp.sum(x**2), (1,)), x[1:] * x[0] + x[1:] ** 2])


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse", "both"])
@pytest.mark.parametrize(
    "f",
    [
        arrow,
        lambda x: BAND @ x,
        lambda x: x[:2] * x[2:],
        lambda x: xp.sum(x**2),
        lambda x: x[:1] * xp.ones(6),
    ],
)
def test_modes(f, mode):
    plan = autograd.sparse_plan(f, X, mode=mode)
    np.testing.assert_allclose(plan.jacobian(X).toarray(), dense(f, X), rtol=1e-13)
    plan.check(X)


def test_colors():
    x = xp.linspace(1, 2, 30)
    assert autograd.sparse_plan(arrow, x).jacobian_colors == 3
    assert autograd.sparse_plan(arrow, x, mode="forward").jacobian_colors == 30
    assert autograd.sparse_plan(lambda x: xp.sum(x[0] * x[1:] ** 2), x).hessian_colors == 2
    assert autograd.sparse_plan(lambda x: x[2:] - 2 * x[1:-1] + x[:-2], x).jacobian_colors == 3
    assert autograd.sparse_plan(lambda x: xp.sum(x**2), x).hessian_colors == 1
    assert autograd.sparse_plan(lambda x: xp.ones(3) * xp.floor(x[0]), x).jacobian_colors == 0


def test_large_patterns_take_little_memory():
    n = 20_000
    x = xp.linspace(0, 1, n)
    plan = autograd.sparse_plan(lambda x: xp.sin(x[2:]) - x[1:-1] * x[:-2], x)
    assert plan.jacobian_sparsity.nnz == 3 * (n - 2) and plan.jacobian_colors == 3
    matrix = plan.jacobian(x)
    np.testing.assert_allclose(matrix.diagonal(2), np.cos(np.asarray(x)[2:]), rtol=1e-12)
    np.testing.assert_allclose(matrix.diagonal(), -np.asarray(x)[1:-1], rtol=1e-12)


def test_structures_and_several_arguments():
    def f(p, k, x):
        return {"a": p["u"] * k, "b": [p["v"] ** 2, xp.sum(x) * p["v"][0]]}

    p = {"u": X, "v": xp.asarray([1.0, 2.0])}
    which = (0, 2)
    found = autograd.sparse_jacobian(f, which)(p, 3.0, X[:2])
    expected = np.zeros((7, 8))
    expected[:4, :4], expected[4:6, 4:6] = 3 * np.eye(4), np.diag([2.0, 4.0])
    expected[6, 4], expected[6, 6:] = X[0] + X[1], 1.0
    np.testing.assert_allclose(found.toarray(), expected)
    assert autograd.jacobian_sparsity(f, p, 3.0, X[:2], argnums=which).nnz == np.count_nonzero(expected)
    h = autograd.sparse_hessian(lambda p, x: xp.sum(p["u"] * x[0]) + p["v"][0] ** 3, (0, 1))(p, X[:2])
    assert h.shape == (8, 8) and h.nnz == 9 and h[4, 4] == 6.0 and h[0, 6] == 1.0
    assert autograd.sparse_jacobian(lambda x, k=1.0: x * k)(X, k=2.0).data.tolist() == [2.0] * 4


def test_dtypes_and_empty_arrays():
    found = autograd.sparse_jacobian(lambda x: x[1:] * x[:-1])(xp.astype(X, xp.float32))
    assert found.dtype == np.float32
    assert autograd.sparse_jacobian(lambda x: x * 2)(xp.zeros(0)).shape == (0, 0)
    assert autograd.sparse_jacobian(lambda x: x[:0])(X).shape == (0, 4)
    assert autograd.jacobian_sparsity(lambda z: z * z[::-1], X * 1j).nnz == 8


def test_patterns_of_the_caller():
    import scipy.sparse

    def f(x):
        return x[::-1] * x

    right, wrong = scipy.sparse.coo_array(np.eye(4) + np.eye(4)[::-1]), np.eye(4)
    np.testing.assert_allclose(autograd.sparse_jacobian(f, sparsity=right)(X).toarray(), dense(f, X))
    autograd.sparse_plan(f, X, sparsity=right).check(X)
    autograd.sparse_plan(lambda x: xp.sum(f(x) ** 3), X).check(X)
    with pytest.raises(autograd.GradientError, match=r"^check: the pattern of the Jacobian leaves out"):
        autograd.sparse_plan(f, X, sparsity=wrong).check(X)
    with pytest.raises(autograd.GradientError, match=r"^check: the pattern of the Hessian leaves out"):
        autograd.sparse_plan(lambda x: xp.sum(f(x)), X, sparsity=np.eye(4)).check(X)
    with pytest.raises(xp.ShapeError, match=r"^sparse_jacobian: the shapes of pattern and matrix"):
        autograd.sparse_jacobian(f, sparsity=np.eye(3))(X)
    with pytest.raises(xp.ArgumentTypeError, match=r"^sparse_jacobian: sparsity is of type str"):
        autograd.sparse_jacobian(f, sparsity="dense")


def arrowed(x):
    return xp.concat([xp.sum(x**2, keepdims=True), x[1:] * xp.sin(x[0])])


@pytest.mark.parametrize("mode", ["forward", "both"])
def test_recorded_calls(mode):
    """Equal bits, also for other values, dtypes and variables of the function."""
    factor = 2.0

    def f(x):
        return arrowed(x) * factor

    plans = [autograd.sparse_plan(f, X, mode=mode, replay=replay) for replay in (False, True)]
    for k in range(4):
        one, other = (plan.jacobian(X + k) for plan in plans)
        np.testing.assert_array_equal(one.toarray(), other.toarray())
    factor = 3.0
    one, other = (plan.jacobian(X) for plan in plans)
    np.testing.assert_array_equal(one.toarray(), other.toarray())
    for _ in range(2):
        one, other = (plan.jacobian(xp.astype(X, xp.float32)) for plan in plans)
        assert one.dtype == other.dtype == np.float32
        np.testing.assert_array_equal(one.toarray(), other.toarray())
    plans[1].check(X)
    for _ in range(2):
        with pytest.raises(xp.ShapeError, match="the shapes of pattern and matrix differ"):
            plans[1].jacobian(X[:-1])


def test_recorded_hessians_and_refusals():
    plan = autograd.sparse_plan(lambda x, a: xp.sum(a * arrowed(x) ** 2), X, 2.0, replay=True)
    for a in (2.0, 3.0, 4.0):
        expected = autograd.hessian(lambda x, a=a: xp.sum(a * arrowed(x) ** 2))(X)
        np.testing.assert_allclose(plan.hessian(X, a).toarray(), np.asarray(expected), atol=1e-12)
    branching = autograd.sparse_plan(lambda x: x if x[0] > 0 else -x, X, replay=True)
    branching.jacobian(X)
    with pytest.raises(xp.ReplayError, match="the value of an array is read"):
        branching.jacobian(X)
    with pytest.raises(xp.GradientError, match="an argument is tracked"):
        autograd.grad(lambda x: xp.sum(xp.asarray(plan.jacobian(x, 2.0).data)))(X)


def test_results_belong_to_the_caller():
    plan = autograd.sparse_plan(lambda x: x[1:] * x[:-1], X)
    first = plan.jacobian(X)
    first.data[:] = 0
    first.eliminate_zeros()
    np.testing.assert_allclose(plan.jacobian(X).toarray(), dense(lambda x: x[1:] * x[:-1], X))


@pytest.mark.parametrize(
    "write",
    [
        lambda y, x: xp.nan_to_num(y, copy=False),
        lambda y, x: xp.put_along_axis(y, xp.asarray([1, 0]), x[2:], axis=0),
        lambda y, x: y.__setitem__(xp.argmax(x), x[1]),
    ],
)
def test_other_writes(write):
    def f(x):
        y = x * 2.0
        write(y, x)
        return y

    pattern = autograd.jacobian_sparsity(f, X).toarray()
    assert not ((dense(f, X) != 0) & ~pattern).any() and pattern.any()


def test_arguments_are_not_changed():
    def f(x):
        x *= 2
        return x

    x = xp.asarray(X, copy=True)
    assert autograd.jacobian_sparsity(f, x).nnz == 4
    assert xp.all(x == X)


def test_within_modes():
    for mode in (xp.strict(), xp.testing.flags(), xp.fused(), xp.testing.flags(views=False)):
        with mode:
            assert autograd.jacobian_sparsity(lambda x: x[1:] * x[:-1] + xp.sum(x[:1]), X).nnz == 8
    with xp.testing.flags(writable=False), pytest.raises(xp.WriteError):
        autograd.jacobian_sparsity(in_place, X)
    assert autograd.grad(lambda x: x[0] ** 2)(X)[0] == 2 * X[0]


def test_errors_leave_nothing_behind():
    with pytest.raises(ValueError, match="own"):
        autograd.jacobian_sparsity(lambda x: (_ for _ in ()).throw(ValueError("own")), X)
    assert autograd.jacobian_sparsity(lambda x: x, X).nnz == 4


def test_errors():
    with pytest.raises(xp.ArgumentTypeError, match=r"^jacobian_sparsity: a result of dtype int64"):
        autograd.jacobian_sparsity(xp.argsort, X)
    with pytest.raises(
        xp.ShapeError, match=r"^hessian_sparsity: the function returned an array of shape \(4,\)"
    ):
        autograd.hessian_sparsity(lambda x: x, X)
    with pytest.raises(xp.ShapeError, match=r"^sparse_hessian: the function returned an array of shape"):
        autograd.sparse_hessian(lambda x: x)(X)
    with pytest.raises(xp.ShapeError, match=r"^hessian: the function did not return"):
        autograd.sparse_plan(lambda x: x, X).hessian(X)
    with pytest.raises(xp.ArgumentValueError, match=r"^sparse_jacobian: mode is 'rows'"):
        autograd.sparse_jacobian(lambda x: x, mode="rows")
    with pytest.raises(xp.ArgumentTypeError, match=r"^sparse_jacobian: an argument is of dtype complex128"):
        autograd.sparse_jacobian(lambda x: x)(X * 1j)
    with pytest.raises(autograd.GradientError, match=r"^sparse_jacobian: an argument is tracked"):
        autograd.grad(lambda x: autograd.sparse_jacobian(lambda x: x)(x).sum())(X)
    with pytest.raises(xp.BatchingError, match=r"^sparse_jacobian: an argument is batched"):
        autograd.vmap(lambda x: autograd.sparse_jacobian(lambda x: x)(x).sum())(X[None])
    with pytest.raises(xp.ShapeError, match=r"^jacobian: the shapes of pattern and matrix"):
        autograd.sparse_plan(lambda x: x, X).jacobian(X[:2])


def test_without_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(ImportError, match=r"sparse_jacobian returns SciPy sparse arrays.*pip install scipy"):
        autograd.sparse_jacobian(lambda x: x)


def test_for_scipy():
    """Least squares with a sparse Jacobian, as SciPy calls it."""
    optimize = pytest.importorskip("scipy.optimize")

    def residuals(x):
        return xp.concat([10 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])

    n = 12
    f = autograd.on_numpy(residuals)
    jac = autograd.on_numpy(autograd.sparse_jacobian(residuals))
    start = np.full(n, -1.0)
    found = optimize.least_squares(f, start, jac=jac, method="trf", tr_solver="lsmr")
    np.testing.assert_allclose(found.x, np.ones(n), atol=1e-6)
    pattern = autograd.jacobian_sparsity(residuals, xp.asarray(start))
    found = optimize.least_squares(f, start, jac_sparsity=pattern)
    np.testing.assert_allclose(found.x, np.ones(n), atol=1e-6)
