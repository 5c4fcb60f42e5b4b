"""More calls of the functions of `stride0.autograd.scipy`: of all parts but `signal` and `ndimage`."""

from __future__ import annotations

from typing import Any

import numpy as np
from gradient_cases_scipy_forms import KNOTS, POINTS, SQUARE, Case, cases, complexes, normal
from gradient_cases_scipy_images import apart, several

import stride0 as xp

POSITIVE = SQUARE @ SQUARE.T
HERMITIAN = SQUARE + 0.3j * normal(4, 4)
HERMITIAN = HERMITIAN @ HERMITIAN.conj().T
TALL, WIDE = normal(5, 3), normal(3, 5)


def both(module: str, name: str, made: Any, *arrays: Any, linear: tuple[int, ...] = (), **facts: Any) -> Case:
    """A call of the same form of both functions."""
    order = facts.pop("derivatives", 2)
    return Case(module, name, arrays, facts, linear, made, made, order)


LINALG = [
    *cases("linalg.det inv expm logm cosm sinm coshm sinhm", SQUARE / 4 + np.eye(4)),
    *cases("linalg.tanm tanhm", SQUARE / 8),
    *cases("linalg.logm expm inv det", SQUARE / 4 + 0.1j * normal(4, 4)),
    *cases("linalg.logm", np.diag([-1.0, 2.0, 3.0]) + 0.1 * normal(3, 3)),
    *cases("linalg.norm", normal(4), ord=(None, 1, 3, np.inf)),
    *cases("linalg.norm", normal(4, 3), ord=(None, "fro", "nuc", 1, 2)),
    *cases("linalg.norm", normal(2, 3, 4), axis=(1, (0, 2)), keepdims=(False, True)),
    *cases("linalg.svdvals", normal(4, 3)),
    *cases("linalg.pinv", TALL, rtol=(None, 1e-10)),
    *cases("linalg.cholesky", POSITIVE, lower=(False, True)),
    *cases("linalg.cholesky eigvalsh", HERMITIAN, lower=(False, True)),
    *cases("linalg.eigvalsh", POSITIVE, lower=(False, True)),
    both("linalg", "eigh", lambda f, a: f(a)[0], POSITIVE),
    both("linalg", "eigvals", lambda f, a: (f(a) ** 3).sum(), SQUARE),
    *cases("linalg.solve", SQUARE, normal(4, 2), linear=(1,), transposed=(False, True)),
    *cases(
        "linalg.solve",
        POSITIVE,
        normal(4),
        assume_a=("sym", "pos", "her", "lower triangular"),
        lower=(False, True),
    ),
    *several("linalg.lstsq", TALL, normal(5, 2), take=(0, 1, 3)),
    *several("linalg.lstsq", TALL, normal(5), take=(0, 1)),
    *several("linalg.qr", TALL, take=(1,), mode=("economic",)),
    *several("linalg.svd", TALL, take=(1,), full_matrices=(False,)),
    *cases("linalg.toeplitz", normal(3), normal(4), linear=(0, 1)),
    *cases("linalg.hankel", normal(3), normal(4), linear=(0, 1)),
    *cases("linalg.toeplitz", complexes(3), linear=(0,)),
    *cases("linalg.circulant hankel", normal(4), linear=(0,)),
]

U, V, W = apart(5), apart(5, seed=1), apart(5, seed=2)
METRICS = (
    "euclidean",
    "sqeuclidean",
    "cityblock",
    "chebyshev",
    "canberra",
    "braycurtis",
    "cosine",
    "correlation",
)
SPATIAL = [
    *cases(f"spatial distance.{' '.join(METRICS)}", U, V),
    *cases(f"spatial distance.{' '.join(METRICS)}", U, V, W),
    *cases("spatial distance.minkowski", U, V, p=(1, 1.7, 2, 3, np.inf)),
    *cases("spatial distance.minkowski", U, V, p=(3,), w=(W,)),
    *cases("spatial distance.seuclidean", U, V, W),
    *cases("spatial distance.mahalanobis", U[:4], V[:4], POSITIVE),
    *cases("spatial distance.jensenshannon", U, V, base=(None, 2)),
    *cases(
        "spatial distance.jensenshannon",
        apart(4, 5),
        apart(4, 5, seed=1),
        axis=(0, 1),
        keepdims=(False, True),
    ),
    *cases(
        "spatial distance.cdist",
        apart(6, 3),
        apart(5, 3, seed=1),
        metric=(*METRICS, "seuclidean", "mahalanobis", "e"),
    ),
    *cases("spatial distance.cdist", apart(3, 4), apart(2, 4, seed=1), metric=("minkowski",), p=(1.5,)),
    *cases(
        "spatial distance.pdist",
        apart(5, 3),
        metric=(
            *(name for name in METRICS if name != "chebyshev"),
            "seuclidean",
            "minkowski",
            "jensenshannon",
        ),
    ),
    # No two differences of coordinates are equal in a pair.
    *cases(
        "spatial distance.pdist",
        np.cumsum([[0.3, 0.9, 2.0], [0.4, 1.1, 2.7], [0.5, 1.7, 3.1], [0.2, 1.3, 2.2]], axis=0),
        metric=("chebyshev",),
    ),
    *several("spatial.procrustes", normal(5, 3), normal(5, 3, seed=1), take=(0, 1, 2)),
]
SPATIAL = [case._replace(module=case.module.replace(" ", ".")) for case in SPATIAL]

VALUES = apart(6, seed=4)
T = np.asarray([0.0, 0.3, 0.6, 1.0, 2.2, 3.0, 3.5, 4.1, 5.0, 5.5, 6.0])
REPEATED = np.asarray([0.0] * 4 + [1.0, 2.2, 2.2, 4.1] + [5.0] * 4)
# Away from knots and from midpoints of two.
BETWEEN_KNOTS = POINTS + 0.07
WEIGHTED = np.asarray([1.0, 2.0, 0.5, 1.5, 1.0, 0.7])


def evaluated() -> Any:
    """Construct with all arrays except the last, and evaluate at the last."""

    def call(f: Any, *xs: Any, nu: int = 0, **options: Any) -> Any:
        made = f(*xs[:-1], **options)
        return made(xs[-1], nu=nu) if nu else made(xs[-1])

    return call


def splines(names: str, *arrays: Any, linear: tuple[int, ...] = (), **options: tuple[Any, ...]) -> list[Case]:
    call = evaluated()
    found = cases(f"interpolate.{names}", *arrays, linear=linear, **options)
    return [case._replace(mine=call, theirs=call) for case in found]


INTERPOLATE = [
    *splines("PPoly BPoly", normal(4, 5), KNOTS, POINTS, linear=(0,), nu=(0, 1, 2)),
    *splines("PPoly", normal(2, 3, 5), KNOTS, POINTS, linear=(0,), axis=(1,)),
    *splines("CubicHermiteSpline", KNOTS, normal(6), normal(6, seed=1), POINTS, linear=(1, 2), nu=(0, 1)),
    *splines("PchipInterpolator", KNOTS, VALUES, POINTS, nu=(0, 1)),
    *splines("PchipInterpolator", KNOTS, np.sort(VALUES), POINTS),
    *splines("PchipInterpolator", KNOTS[:2], VALUES[:2], POINTS),
    *splines("PchipInterpolator", KNOTS, normal(2, 6), POINTS, axis=(1,)),
    *splines("Akima1DInterpolator", KNOTS, VALUES, POINTS[1:5], method=("akima", "makima")),
    *splines("Akima1DInterpolator", KNOTS, normal(2, 6), POINTS, axis=(1,), extrapolate=(True,)),
    *splines("BSpline", T, normal(7), 1.5 + 2 * apart(4), linear=(1,), k=(3,), nu=(0, 1, 2)),
    Case(
        "interpolate",
        "BSpline",
        (normal(8), 0.5 + 2 * apart(4)),
        {},
        (0,),
        *[lambda f, c, x: f(REPEATED, c, 3)(x)] * 2,
    ),
    *splines("BSpline", T, normal(2, 8), 1.5 + 2 * apart(4), linear=(1,), k=(2,), axis=(1,)),
    *splines("make_interp_spline", KNOTS, normal(6), BETWEEN_KNOTS, linear=(1,), k=(1, 2, 3, 4, 5)),
    *splines(
        "make_interp_spline", KNOTS, normal(6), POINTS, linear=(1,), bc_type=("natural", "clamped"), nu=(0, 1)
    ),
    *splines("make_interp_spline", KNOTS, normal(3, 6), POINTS, linear=(1,), axis=(1,)),
    *splines(
        "make_interp_spline",
        KNOTS,
        normal(6),
        POINTS,
        linear=(1,),
        bc_type=(([(1, 0.3)], [(2, -0.2)]), (None, [(1, 0), (2, 1)])),
    ),
    both(
        "interpolate",
        "make_lsq_spline",
        lambda f, x, y, w, p: f(x, y, [0.0] * 4 + [2.1] + [5.0] * 4, w=w)(p),
        np.linspace(0.1, 4.9, 11),
        normal(11),
        np.linspace(0.5, 1.5, 11),
        POINTS[1:],
        linear=(1,),
    ),
    Case(
        "interpolate",
        "make_smoothing_spline",
        (normal(6), POINTS),
        {},
        (0,),
        *[lambda f, y, p: f(KNOTS, y, w=WEIGHTED, lam=0.3)(p)] * 2,
    ),
    *splines("make_splrep", KNOTS, normal(6), POINTS, linear=(1,)),
    both(
        "interpolate",
        "NdBSpline",
        lambda f, t, u, c, x: f((t, u), c, 3)(x),
        np.arange(9.0) ** 1.1,
        np.arange(10.0),
        normal(5, 6),
        3 + 2 * apart(3, 2),
        linear=(2,),
    ),
    *splines(
        "interp1d", KNOTS, normal(6), BETWEEN_KNOTS[1:5], linear=(1,), kind=("linear", "quadratic", "cubic")
    ),
    *splines(
        "interp1d",
        KNOTS[::-1].copy(),
        normal(6),
        BETWEEN_KNOTS[1:5],
        linear=(1,),
        kind=("nearest", "previous", "next"),
    ),
    *splines("interp1d", KNOTS, normal(6), POINTS, linear=(1,), fill_value=("extrapolate",)),
    *splines("interp1d", KNOTS, normal(6), POINTS, bounds_error=(False,), fill_value=((1.5, 2.5),)),
    *[
        both(
            "interpolate",
            "RegularGridInterpolator",
            lambda f, v, x, method: f(
                (KNOTS, KNOTS[1:]), v, method=method, bounds_error=False, fill_value=None
            )(x),
            normal(6, 5),
            np.asarray([[0.2, 1.0], [1.4, 4.25], [4.1, 2.05]]),
            method=method,
            linear=(0,),
        )
        for method in ("nearest", "slinear")
    ],
]

OTHERS = [
    both("stats", "boxcox", lambda f, x, p: f(x, p), apart(5), np.asarray(0.4)),
    both(
        "stats",
        "gaussian_kde",
        lambda f, x, w, p: f(x, weights=w)(p),
        normal(7),
        WEIGHTED.repeat(2)[:7],
        apart(4),
    ),
    both(
        "stats",
        "gaussian_kde",
        lambda f, x, p, width: f(x, bw_method=width).logpdf(p),
        normal(2, 7),
        normal(2, 3, seed=1),
        width="silverman",
    ),
    *[
        both(
            "stats",
            "ks_1samp",
            lambda f, x, side: f(x, lambda t: t / 3, alternative=side).statistic,
            apart(6),
            side=side,
        )
        for side in ("two-sided", "less", "greater")
    ],
    *[
        both(
            "stats",
            "ks_1samp",
            lambda f, x, method: f(x, lambda t: t / 4, method=method).pvalue,
            apart(6),
            derivatives=1,
            method=method,
        )
        for method in ("exact", "asymp")
    ],
    both("stats", "cramervonmises", lambda f, x: f(x, lambda t: t / 3).statistic, apart(6)),
    both("cluster.vq", "vq", lambda f, x, book: f(x, book)[1], normal(6, 2), normal(3, 2, seed=1)),
    both("cluster.vq", "kmeans", lambda f, x: list(f(x, x[:2, :])), normal(6, 2)),
    both("cluster.vq", "kmeans2", lambda f, x: f(x, x[:2, :], minit="matrix")[0], normal(6, 2)),
    *cases(
        "cluster hierarchy.linkage",
        normal(6, 2),
        method=("single", "complete", "average", "weighted", "centroid", "median", "ward"),
    ),
    Case(
        "integrate",
        "quad_vec",
        (apart(3),),
        {},
        (),
        lambda f, k: f(lambda t: xp.exp(-k * t * t), 0.0, 2.0)[0],
        lambda f, k: f(lambda t: np.exp(-k * t * t), 0.0, 2.0)[0],
    ),
    *[
        Case(
            "integrate",
            "quad_vec",
            (apart(3),),
            {"ends": ends},
            (),
            lambda f, k, ends: f(lambda t: xp.exp(-k * t * t), *ends)[0],
            lambda f, k, ends: f(lambda t: np.exp(-k * t * t), *ends)[0],
        )
        for ends in ((0.5, np.inf), (-np.inf, 0.5), (-np.inf, np.inf))
    ],
    # Without a tracked array they return a number, as SciPy does.
    *[
        Case(
            "optimize",
            name,
            (np.asarray(1.7),),
            {},
            (),
            lambda f, k, starts: xp.asarray(f(lambda t: t**3 + t - k, *starts)),
            lambda f, k, starts: f(lambda t: t**3 + t - k, *starts),
        )._replace(options={"starts": (1.0,) if name == "newton" else (0.0, 2.0)})
        for name in ("bisect", "brentq", "brenth", "ridder", "toms748", "newton")
    ],
]
OTHERS = [case._replace(module=case.module.replace(" ", ".")) for case in OTHERS]

SHAPES = {"gamma": (1.4,), "chi2": (2.5,), "beta": (1.5, 2.5), "t": (3.5,), "lognorm": (0.8,)}
BETWEEN = {"ppf": np.asarray([0.2, 0.5, 0.9])}
DISTRIBUTIONS = [
    Case(
        f"stats.{name}",
        what,
        (BETWEEN.get(what, np.asarray([0.35, 0.6, 0.9, 1.1])), *map(np.asarray, SHAPES.get(name, ()))),
        {"loc": 0.1, "scale": 1.2},
        # The second derivative by a parameter of an incomplete integral is refused.
        derivatives=1 if name in ("gamma", "chi2", "beta", "t") else 2,
    )
    for name in (
        *(
            "norm",
            "expon",
            "uniform",
            "logistic",
            "laplace",
            "cauchy",
            "lognorm",
            "gamma",
            "chi2",
            "beta",
            "t",
        ),
    )
    for what in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf")
    if (name, what) != ("laplace", "ppf")
]

CASES = [*LINALG, *SPATIAL, *INTERPOLATE, *OTHERS, *DISTRIBUTIONS]
