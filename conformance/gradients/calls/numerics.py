"""Calls of SciPy's other parts: from clustering to spatial data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import diags_array

from conformance.gradients.calls.parts import HALF, QUATERNIONS, SQUARE, VECTORS, call, named, scipy_function
from conformance.gradients.operands import LINE, NUM, A, B, P, X, Y, apart, normal

STEPS = np.cumsum(apart(3, 8, seed=2), axis=1)
KNOTS = np.arange(8.0)
GRID = normal(5, 6)
TRIDIAGONAL = diags_array([-1.0, 4.0, -1.0], offsets=[-1, 0, 1], shape=(8, 8), format="csc")


def polynomial(t: Any) -> Any:
    return t**3 - 2 * t


def _points() -> Any:
    return scipy_function("stats.qmc.Halton")(1, rng=1)


def rotation(name: str, made: Any, *arrays: Any) -> Any:
    """A call of a method of a class of scipy.spatial.transform."""
    return call(f"spatial.transform.{name}", made, *arrays)


INTEGRATE = [
    call("integrate.trapezoid", lambda xp, f, y, x: f(y, x, axis=1), X, STEPS),
    call("integrate.trapezoid dx", lambda xp, f, y: f(y, dx=0.1, axis=0), X),
    call("integrate.cumulative_trapezoid", lambda xp, f, y, x: f(y, x, initial=0), X, STEPS),
    call("integrate.cumulative_simpson", lambda xp, f, y, x: f(y, x=x), X, STEPS),
    call("integrate.cumulative_simpson dx", lambda xp, f, y: f(y, dx=0.2, axis=0), X),
    call("integrate.romb", lambda xp, f, y: f(y, dx=0.2, axis=1), normal(3, 9)),
    call("integrate.simpson", lambda xp, f, y: f(y, dx=0.2, axis=1), X),
    call("integrate.simpson x", lambda xp, f, y, x: f(y, x=x, axis=1), X, STEPS),
    call(
        "integrate.cubature",
        lambda xp, f, a, b, k: f(lambda x, k: xp.exp(-k * xp.sum(x * x, axis=-1)), a, b, args=(k,)).estimate,
        np.asarray([0.1, -0.2]),
        np.asarray([1.0, 1.3]),
        HALF,
    ),
    call(
        "integrate.tanhsinh",
        lambda xp, f, a, b, k: f(lambda t, k: xp.exp(-k * t * t), a, b, args=(k,)).integral,
        A[0],
        A[0] + B[0],
        B[1],
    ),
    call(
        "integrate.tanhsinh to infinity",
        lambda xp, f, k: (
            f(lambda t, k: xp.exp(-k * t * t), xp.asarray(0.0), xp.asarray(xp.inf), args=(k,)).integral
        ),
        A[0],
    ),
    call(
        "integrate.nsum",
        lambda xp, f, k: f(lambda n, k: 1 / n**k, xp.ones_like(k), 9 + xp.ones_like(k), args=(k,)).sum,
        1 + A[0],
    ),
    call(
        "integrate.nsum to infinity",
        lambda xp, f, k: f(lambda n, k: 1 / n**k, xp.asarray(1.0), xp.asarray(xp.inf), args=(k,)).sum,
        2 + A[0],
        rough=1e-5,  # the number of terms and of points jumps with k
    ),
    call(
        "integrate.qmc_quad",
        lambda xp, f, b: (
            f(
                lambda t: xp.exp(-t[0] * t[0]),
                xp.asarray([0.0]),
                b,
                n_points=8,
                n_estimates=2,
                qrng=_points(),
            ).integral
        ),
        np.asarray([1.2]),
    ),
    # Beyond SciPy's list: what it computes with NumPy alone.
    call("integrate.quad_vec", lambda xp, f, k: f(lambda t: xp.exp(-k * t), 0.0, 1.0)[0], A[0]),
    call("integrate.solve_ivp", lambda xp, f, y: f(lambda t, y: -y, (0, 1), y, t_eval=[1.0]).y, A[0]),
    call(
        "integrate.solve_ivp closure",
        lambda xp, f, k: f(lambda t, y: -k * xp.asarray(y), (0, 1), [1.0], rtol=1e-10, atol=1e-10).y[:, -1],
        HALF,
    ),
    call(
        "integrate.odeint",
        lambda xp, f, k: f(lambda y, t, k: -k * xp.asarray(y), [1.0], [0.0, 0.5, 1.0], args=(k,)),
        HALF,
    ),
]

OPTIMIZE = [
    *named("optimize", "rosen rosen_der rosen_hess", X[0]),
    *named("optimize", "rosen_hess_prod", X[0], Y[0]),
    call(
        "optimize.elementwise.find_root",
        lambda xp, f, k: f(lambda t, k: t * t - k, (xp.zeros_like(k), 2 + k), args=(k,)).x,
        A[0],
    ),
    call(
        "optimize.elementwise.find_minimum",
        lambda xp, f, k: f(lambda t, k: xp.cosh(t - k), (k - 1, k + 0.1, k + 2), args=(k,)).f_x,
        A[0],
    ),
    call(
        "optimize.elementwise.find_minimum place",
        lambda xp, f, k: f(lambda t, k: xp.cosh(t - k), (k - 1, k + 0.1, k + 2), args=(k,)).x,
        A[0],
        rough=1e-4,
    ),
    call(
        "optimize.elementwise.bracket_root",
        lambda xp, f, k: f(lambda t, k: t * t * t - k, k + 0.2, args=(k,)).f_bracket,
        A[0],
    ),
    call(
        "optimize.elementwise.bracket_minimum",
        lambda xp, f, k: f(lambda t, k: xp.cosh(t - k), k + 0.3, args=(k,)).f_bracket,
        A[0],
    ),
    # Beyond SciPy's list: what it computes with NumPy alone.
    call("optimize.brentq", lambda xp, f, k: f(lambda t: t * t - k, 0, 2), HALF),
    call(
        "optimize.minimize",
        lambda xp, f, k: f(lambda t: xp.sum((xp.asarray(t) - k) ** 2), [0.0]).x,
        HALF,
        rough=1e-4,
    ),
    call("optimize.minimize_scalar", lambda xp, f, k: f(lambda t, k: (t - k) ** 2, args=(k,)).x, HALF),
    call("optimize.root", lambda xp, f, k: f(lambda t, k: xp.asarray(t) ** 3 - k, [1.0], (k,)).x, HALF),
    call("optimize.root_scalar", lambda xp, f, k: f(lambda t: t * t - k, bracket=(0, 2)).root, HALF),
    call("optimize.newton", lambda xp, f, k: f(lambda t, k: t * t - k, 1.0, args=(k,)), HALF),
    call("optimize.fsolve", lambda xp, f, k: f(lambda t, k: xp.asarray(t) ** 3 - k, [1.0], args=(k,)), HALF),
    call(
        "optimize.least_squares",
        lambda xp, f, y: f(lambda t: t[0] * xp.asarray(A[1]) ** 2 - y, [1.0], xtol=1e-12, gtol=1e-12).x,
        A[0],
    ),
    call(
        "optimize.curve_fit",
        lambda xp, f, y: f(lambda x, a, b: a + b * xp.asarray(x), xp.asarray(A[1]), y)[0],
        A[0],
        rough=1e-5,  # SciPy stops when parameters change by less than 1.5e-8
    ),
]

DIFFERENTIATE = [
    call("differentiate.derivative", lambda xp, f, a: f(polynomial, a).df, A[0]),
    call(
        "differentiate.derivative args",
        lambda xp, f, a, k: f(lambda t, k: xp.sin(k * t), a, args=(k,)).df,
        A[0],
        B[0],
    ),
    call(
        "differentiate.derivative closure",
        lambda xp, f, k: f(lambda t: xp.sin(k * t), xp.asarray(0.7)).df,
        HALF,
    ),
    call(
        "differentiate.jacobian",
        lambda xp, f, a: f(lambda x: xp.sin(x) * xp.sum(x, axis=0, keepdims=True), a).df,
        A[0, :3],
    ),
    call(
        "differentiate.hessian",
        lambda xp, f, x: f(lambda y: xp.sum(y**3, axis=0), x).ddf,
        A[0, :3],
        rough=1e-5,
    ),
]

FFT = [
    *named("fft", "fft fft2 fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2", X),
    *named("fft", "ihfftn irfft irfft2 irfftn rfft rfft2 rfftn", X),
    *named("fft", "fft ifft hfft irfft", X + 1j * Y, note="complex", n=6, axis=0, norm="ortho"),
    *named("fft", "fht ifht", X, dln=0.1, mu=0.2),
    *named("fft", "dct dctn dst dstn idct idctn idst idstn", X),
    *named("fft", "dct dst idct idst", X, note="type 3", type=3, n=6, norm="ortho"),
]

INTERPOLATE = [
    *[
        call(f"interpolate.{name}", lambda xp, f, x, y, t: f(x, y)(t), KNOTS, X[0], 3 * A[0] + 0.01)
        for name in ("Akima1DInterpolator", "CubicSpline", "PchipInterpolator", "make_interp_spline")
    ],
    *[
        call(f"interpolate.{name} by y", lambda xp, f, y: f(xp.asarray(KNOTS), y)(xp.asarray(3 * A[0])), X[0])
        for name in ("CubicSpline", "make_interp_spline", "PchipInterpolator")
    ],
    call(
        "interpolate.CubicHermiteSpline",
        lambda xp, f, x, y, d, t: f(x, y, d)(t),
        KNOTS,
        X[0],
        X[1],
        3 * A[0] + 0.01,
    ),
    call("interpolate.BSpline", lambda xp, f, t, c, x: f(t, c, 3)(x), np.arange(12.0), X[0], 3 + A[0]),
    call("interpolate.PPoly", lambda xp, f, c, x, t: f(c, x)(t), X[:3, :2], np.arange(3.0), A[0] + 0.01),
    call("interpolate.BPoly", lambda xp, f, c, x, t: f(c, x)(t), X[:3, :2], np.arange(3.0), A[0] + 0.01),
    call(
        "interpolate.NdBSpline",
        lambda xp, f, c, x: f((xp.arange(9.0), xp.arange(9.0)), c, 3)(x),
        normal(5, 5),
        3 + A[:, :2],
    ),
    call(
        "interpolate.RegularGridInterpolator",
        lambda xp, f, v, x: f((xp.arange(5.0), xp.arange(6.0)), v)(x),
        GRID,
        A[:, :2] + 0.01,
    ),
    call(
        "interpolate.RegularGridInterpolator cubic",
        lambda xp, f, v, x: f((xp.arange(5.0), xp.arange(6.0)), v, method="cubic")(x),
        GRID,
        A[:, :2] + 0.01,
        rough=1e-4,
    ),
    call(
        "interpolate.RBFInterpolator",
        lambda xp, f, y, d, x: f(y, d)(x),
        A[:, :2].repeat(2, 0) + normal(6, 2),
        X[0, :6],
        B[:, :2],
    ),
    call(
        "interpolate.make_lsq_spline",
        lambda xp, f, y: f(xp.asarray(np.linspace(0, 7, 24)), y, xp.asarray([0.0] * 4 + [3.0] + [7.0] * 4))(
            xp.asarray(3 * A[0])
        ),
        LINE,
    ),
    call(
        "interpolate.make_smoothing_spline",
        lambda xp, f, y: f(xp.asarray(np.linspace(0, 7, 24)), y, lam=0.3)(xp.asarray(3 * A[0])),
        LINE,
    ),
    call(
        "interpolate.make_splrep",
        lambda xp, f, y: f(xp.asarray(np.linspace(0, 7, 24)), y)(xp.asarray(3 * A[0])),
        LINE,
    ),
    call("interpolate.interp1d", lambda xp, f, y, t: f(xp.asarray(KNOTS), y)(t), X[0], 3 * A[0] + 0.01),
]

LINALG = [
    *named("linalg", "block_diag", X, P),
    *named("linalg", "fiedler", A[0]),
    *named("linalg", "orthogonal_procrustes", A[:, :3], B[:, :3]),
    # Beyond SciPy's list: what it computes with NumPy alone.
    *named("linalg", "det expm inv logm norm pinv sqrtm eigvals svdvals", SQUARE),
    *named("linalg", "solve solve_triangular", SQUARE, SQUARE[0]),
    call("linalg.lstsq", lambda xp, f, a, b: f(a, b)[0], normal(5, 3), LINE[:5]),
    call("linalg.cho_solve", lambda xp, f, c, b: f((c, True), b), np.tril(SQUARE), LINE[:3]),
    call("linalg.cholesky", lambda xp, f, a: f(a), SQUARE @ SQUARE.T),
    *named("linalg", "circulant toeplitz", NUM),
]

SPARSE = [
    call("sparse.linalg.spsolve", lambda xp, f, b: f(TRIDIAGONAL, b), A[0]),
    call("sparse.linalg.cg", lambda xp, f, b: f(TRIDIAGONAL, b, rtol=1e-12)[0], A[0]),
]

CLUSTER = [
    *named("cluster.vq", "whiten", X),
    call("cluster.vq.vq", lambda xp, f, x, book: f(x, book)[1], X, Y[:2]),
    call("cluster.vq.kmeans", lambda xp, f, x, book: f(x, book), X, Y[:2]),
    call("cluster.vq.kmeans2", lambda xp, f, x, book: f(x, book)[0], X, Y[:2]),
    *named(
        "cluster.hierarchy", "average centroid complete linkage median single ward weighted", normal(5, 2)
    ),
]

SPATIAL = [
    *named("spatial.distance", "cdist", A, B),
    *named("spatial.distance", "pdist", A),
    *named(
        "spatial.distance", "cosine correlation euclidean jensenshannon minkowski sqeuclidean", A[0], B[0]
    ),
    *named("spatial", "procrustes", A, B),
    *[
        rotation(f"Rotation.from_quat {name}", lambda xp, f, q, n=name: getattr(f(q), n)(), QUATERNIONS)
        for name in ("as_matrix", "as_mrp", "as_quat", "as_rotvec", "magnitude")
    ],
    rotation("Rotation.from_quat as_euler", lambda xp, f, q: f(q).as_euler("xyz"), QUATERNIONS),
    rotation("Rotation.from_euler", lambda xp, f, e: f("xyz", e).as_matrix(), VECTORS),
    rotation("Rotation.from_mrp", lambda xp, f, v: f(v).as_matrix(), VECTORS / 4),
    rotation("Rotation.from_rotvec", lambda xp, f, v: f(v).as_matrix(), VECTORS),
    rotation("Rotation.from_quat apply", lambda xp, f, q, v: f(q).apply(v), QUATERNIONS, VECTORS),
    rotation("Rotation.from_quat inv", lambda xp, f, q: f(q).inv().as_matrix(), QUATERNIONS),
    rotation("Rotation.from_quat mean", lambda xp, f, q: f(q).mean().as_matrix(), QUATERNIONS),
    rotation("Rotation.from_quat power", lambda xp, f, q: (f(q) ** 2.3).as_matrix(), QUATERNIONS),
    rotation("Rotation.from_quat product", lambda xp, f, q: (f(q) * f(q[::-1, :])).as_matrix(), QUATERNIONS),
    rotation("Rotation.align_vectors", lambda xp, f, a, b: f(a, b)[0].as_matrix(), VECTORS, X[:, :3]),
    rotation("RigidTransform.from_exp_coords", lambda xp, f, e: f(e).as_matrix(), normal(3, 6)),
    rotation("RigidTransform.from_translation", lambda xp, f, t: f(t).apply(t + 1), VECTORS),
    rotation("RigidTransform.from_dual_quat", lambda xp, f, q: f(q).as_matrix(), X),
]

CONSTANTS = [
    *named("constants", "lambda2nu nu2lambda", A),
    call("constants.convert_temperature", lambda xp, f, x: f(x, "C", "F"), A),
]

CALLS = [
    *INTEGRATE,
    *OPTIMIZE,
    *DIFFERENTIATE,
    *FFT,
    *INTERPOLATE,
    *LINALG,
    *SPARSE,
    *CLUSTER,
    *SPATIAL,
    *CONSTANTS,
]

NOT_CALLED: dict[str, str] = {
    "takes and returns linkage matrices, which contain integers": (
        "cluster.hierarchy.cophenet cluster.hierarchy.dendrogram cluster.hierarchy.from_mlab_linkage"
        " cluster.hierarchy.inconsistent cluster.hierarchy.maxRstat cluster.hierarchy.maxdists"
        " cluster.hierarchy.maxinconsts cluster.hierarchy.optimal_leaf_ordering"
        " cluster.hierarchy.to_mlab_linkage cluster.hierarchy.to_tree"
    ),
    "returns integers or truth values": (
        "cluster.hierarchy.correspond cluster.hierarchy.fcluster cluster.hierarchy.fclusterdata"
        " cluster.hierarchy.is_isomorphic cluster.hierarchy.is_monotonic cluster.hierarchy.is_valid_im"
        " cluster.hierarchy.is_valid_linkage cluster.hierarchy.leaders cluster.hierarchy.leaves_list"
        " cluster.hierarchy.num_obs_linkage"
    ),
    "depends only on integers": "fft.fftfreq fft.rfftfreq",
    "returns knots, which are some of the points": "interpolate.generate_knots",
    "returns a spline and its parameters, computed with NumPy only": "interpolate.make_splprep",
    "is a function of scipy.special": "spatial.distance.rel_entr",
}
