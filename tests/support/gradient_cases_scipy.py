"""Calls of SciPy's functions: differentiable ones, and ones that NumPy computes.

SciPy takes arrays of other libraries in them, because `tests/conftest.py` imports it with `SCIPY_ARRAY_API`.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import stride0 as xp
from conformance.gradients.operands import DEN, LINE, NUM, POLES, A, B, P, X, Y, apart, normal

scipy = pytest.importorskip("scipy", minversion="1.17", reason="the cases are those of SciPy 1.17")
constants, differentiate, integrate, interpolate, ndimage, optimize, signal, special, stats, transform = (
    importlib.import_module(f"scipy.{name}")
    for name in (
        *("constants", "differentiate", "integrate", "interpolate", "ndimage", "optimize", "signal"),
        *("special", "stats", "spatial.transform"),
    )
)
for name in (
    "cluster.hierarchy",
    "cluster.vq",
    "fft",
    "linalg",
    "optimize.elementwise",
    "spatial.distance",
):
    importlib.import_module(f"scipy.{name}")

RigidTransform, Rotation, Slerp = transform.RigidTransform, transform.Rotation, transform.Slerp
Array = type(xp.zeros(()))
Call = Callable[..., Any]


# --- operands

STEPS = np.cumsum(apart(3, 8, seed=2), axis=1)
SECTIONS = np.asarray([[0.2, 0.1, 0.3, 1.0, 0.2, 0.1]])
SQUARE = normal(3, 3) + 3 * np.eye(3)
QUATERNIONS, VECTORS = normal(3, 4), normal(3, 3)
A_HALF = np.asarray(0.5)


class Case(NamedTuple):
    id: str
    call: Call
    arrays: tuple[Any, ...]  # to differentiate by
    order: int = 2  # up to which derivative; what is iterated until it converges is no smooth function
    fails: str = ""  # why it cannot be called, tracked or not
    constant: bool = False  # whether the result does not move with the arrays


def case(id: str, call: Call, *arrays: Any, order: int = 2, fails: str = "", constant: bool = False) -> Case:
    return Case(id, call, arrays, order, fails, constant)


def named(module: str, names: str, *arrays: Any, constant: bool = False, **options: Any) -> list[Case]:
    """Functions of a module of SciPy, all called alike."""

    def call(name: str) -> Call:
        function = operator.attrgetter(f"{module}.{name}")(scipy)
        return lambda *xs: function(*xs, **options)

    return [case(f"{module}.{name}", call(name), *arrays, constant=constant) for name in names.split()]


def polynomial(t: Any) -> Any:
    return t**3 - 2 * t


# --- what SciPy computes with the functions of the namespace

RIGHT: list[Case] = [
    *named("special", "log_softmax softmax logsumexp", X),
    case("special.logsumexp axis", lambda x: special.logsumexp(x, axis=1, keepdims=True), X),
    case("special.logsumexp complex", lambda x: special.logsumexp(x, axis=1), X + 1j * Y),
    case("special.softmax axis", lambda x: special.softmax(x, axis=0), X),
    *named("special", "rel_entr xlogy", A, B),
    # --- stats
    *named("stats", "circmean circstd circvar differential_entropy gmean gstd gzscore hmean iqr", A, axis=1),
    *named("stats", "kstat kstatvar kurtosis median_abs_deviation mode sem skew tmax tmean", A, axis=1),
    *named("stats", "tmin tsem tstd tvar variation zscore", A, axis=1),
    *named("stats", "kurtosis skew", A, axis=1, bias=False, nan_policy="omit"),
    *named("stats", "entropy", A, B, axis=1),
    *named("stats", "gmean hmean", A, axis=1, weights=xp.asarray(B)),
    *named("stats", "zmap", A, B, axis=1),
    case("stats.moment order", lambda x: stats.moment(x, [2, 3, 4], axis=1), A),
    case("stats.describe", lambda x: [y for y in stats.describe(x, axis=1) if isinstance(y, Array)], A),
    case("stats.directional_stats", lambda x: stats.directional_stats(x).mean_direction, A),
    case("stats.pmean", lambda x, w: stats.pmean(x, 1.7, axis=1, weights=w), A, B),
    case("stats.quantile", lambda x: stats.quantile(x, 0.3, axis=1), A),
    case("stats.quantile hd", lambda x: stats.quantile(x, 0.3, axis=1, method="harrell-davis"), A),
    case("stats.sigmaclip", lambda x: stats.sigmaclip(x).clipped, A),
    case("stats.tvar limits", lambda x: stats.tvar(x, (0.5, 1.8), axis=1), A),
    case("stats.trim_mean", lambda x: stats.trim_mean(x, 0.2, axis=1), A),
    case("stats.yeojohnson_llf", lambda x: stats.yeojohnson_llf(0.3, x, axis=1), X),
    # --- integrate
    case("integrate.trapezoid", lambda y, x: integrate.trapezoid(y, x, axis=1), X, STEPS),
    case("integrate.trapezoid dx", lambda y: integrate.trapezoid(y, dx=0.1, axis=0), X),
    case(
        "integrate.cumulative_trapezoid",
        lambda y, x: integrate.cumulative_trapezoid(y, x, initial=0),
        X,
        STEPS,
    ),
    case("integrate.cumulative_simpson", lambda y, x: integrate.cumulative_simpson(y, x=x), X, STEPS),
    case("integrate.cumulative_simpson dx", lambda y: integrate.cumulative_simpson(y, dx=0.2, axis=0), X),
    case(
        "integrate.cubature",
        lambda a, b, k: (
            integrate.cubature(lambda x, k: xp.exp(-k * xp.sum(x * x, axis=-1)), a, b, args=(k,)).estimate
        ),
        np.asarray([0.1, -0.2]),
        np.asarray([1.0, 1.3]),
        A_HALF,
    ),
    # --- functions of functions: by the arguments, by `args`, and by what the function closes over
    case("differentiate.derivative", lambda a: differentiate.derivative(polynomial, a).df, A[0], order=1),
    case(
        "differentiate.derivative args",
        lambda a, k: differentiate.derivative(lambda t, k: xp.sin(k * t), a, args=(k,)).df,
        A[0],
        B[0],
        order=1,
    ),
    case(
        "differentiate.derivative closure",
        lambda k: differentiate.derivative(lambda t: xp.sin(k * t), xp.asarray(0.7)).df,
        A_HALF,
        order=1,
    ),
    case(
        "differentiate.jacobian",
        lambda a: differentiate.jacobian(lambda x: xp.sin(x) * xp.sum(x, axis=0, keepdims=True), a).df,
        A[0, :3],
        order=1,
    ),
    case(
        "optimize.find_root",
        lambda k: (
            optimize.elementwise.find_root(lambda t, k: t * t - k, (xp.zeros_like(k), 2 + k), args=(k,)).x
        ),
        A[0],
        order=1,
    ),
    *named("optimize", "rosen rosen_der rosen_hess", X[0]),
    *named("optimize", "rosen_hess_prod", X[0], Y[0]),
    # --- signal
    *named("signal", "fftconvolve", LINE, NUM),
    *named("signal", "fftconvolve", X, Y, mode="same", axes=1),
    *named("signal", "convolve correlate", LINE, NUM, method="fft"),
    *named("signal", "hilbert hilbert2", X),
    *named("signal", "lfiltic", NUM, DEN, LINE[:3], LINE[3:6]),
    *named("signal", "lp2bp lp2bs lp2hp lp2lp normalize tf2zpk", 10 * NUM, 10 * DEN),
    *named("signal", "minimum_phase", np.asarray([0.2, 0.9, 0.3])),
    *named("signal", "sos2zpk", SECTIONS),
    case("signal.bilinear_zpk", lambda z, p, k: signal.bilinear_zpk(z, p, k, 2.0), NUM[:2], POLES, A_HALF),
    case("signal.envelope", lambda x: signal.envelope(x, (1, 10)), LINE),
    case("signal.firwin", lambda cutoff: signal.firwin(5, cutoff), A_HALF),
    case("signal.freqs", lambda b, a, w: signal.freqs(b, a, w)[1], NUM, DEN, A[0]),
    case("signal.freqz", lambda b, a, w: signal.freqz(b, a, w)[1], NUM, DEN, A[0]),
    case(
        "signal.freqz_sos",
        lambda s: signal.freqz_sos(xp.concat((s, xp.ones((1, 1)), xp.asarray(SECTIONS[:, 4:])), axis=1), 8)[
            1
        ],
        SECTIONS[:, :3],
    ),
    case("signal.freqz_zpk", lambda z, p: signal.freqz_zpk(z, p, 1.0, 8)[1], NUM[:2], DEN[1:]),
    case("signal.gauss_spline", lambda x: signal.gauss_spline(x, 3), X),
    case("signal.general_cosine", lambda a: signal.windows.general_cosine(8, a), NUM),
    case("signal.resample", lambda x: signal.resample(x, 12, axis=1), X),
    case("signal.vectorstrength", lambda x: signal.vectorstrength(x, 3.0), LINE),
    *[
        case(
            f"signal.{n}_zpk",
            lambda z, p, n=n: getattr(signal, f"{n}_zpk")(z, p, 1.0)[:2],
            1j + NUM[:2],
            1j + POLES,
        )
        for n in ("lp2bp", "lp2bs", "lp2hp", "lp2lp")
    ],
    # --- fft
    *named("fft", "fft fft2 fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2", X),
    *named("fft", "ihfftn irfft irfft2 irfftn rfft rfft2 rfftn", X),
    *named("fft", "fft ifft hfft irfft", X + 1j * Y, n=6, axis=0, norm="ortho"),
    *named("fft", "fht ifht", X, dln=0.1, mu=0.2),
    # --- linalg, cluster, constants
    *named("linalg", "block_diag", X, P),
    *named("linalg", "fiedler", A[0]),
    *named("linalg", "orthogonal_procrustes", A[:, :3], B[:, :3]),
    *named("cluster.vq", "whiten", X),
    *named("constants", "lambda2nu nu2lambda", A),
    case("constants.convert_temperature", lambda x: constants.convert_temperature(x, "C", "F"), A),
    # --- spatial.transform
    *[
        case(f"Rotation.{n}", lambda q, n=n: getattr(Rotation.from_quat(q), n)(), QUATERNIONS)
        for n in ("as_matrix", "as_mrp", "as_quat", "as_rotvec", "magnitude")
    ],
    case("Rotation.as_euler", lambda q: Rotation.from_quat(q).as_euler("xyz"), QUATERNIONS),
    case("Rotation.from_euler", lambda e: Rotation.from_euler("xyz", e).as_matrix(), VECTORS),
    case("Rotation.from_mrp", lambda v: Rotation.from_mrp(v).as_matrix(), VECTORS / 4),
    case("Rotation.from_rotvec", lambda v: Rotation.from_rotvec(v).as_matrix(), VECTORS),
    case("Rotation.apply", lambda q, v: Rotation.from_quat(q).apply(v), QUATERNIONS, VECTORS),
    case("Rotation.inv", lambda q: Rotation.from_quat(q).inv().as_matrix(), QUATERNIONS),
    case("Rotation.mean", lambda q: Rotation.from_quat(q).mean().as_matrix(), QUATERNIONS),
    case(
        "Rotation product",
        lambda q, v: (Rotation.from_quat(q) * Rotation.from_rotvec(v)).as_matrix(),
        QUATERNIONS,
        VECTORS,
    ),
    case("Rotation power", lambda q: (Rotation.from_quat(q) ** 2.3).as_matrix(), QUATERNIONS),
    case(
        "Slerp",
        lambda q, t: Slerp(xp.asarray([0.0, 1.0, 2.0]), Rotation.from_quat(q))(t).as_matrix(),
        QUATERNIONS,
        np.asarray([0.3, 1.2]),
    ),
    case(
        "RigidTransform.from_exp_coords",
        lambda e: RigidTransform.from_exp_coords(e).as_matrix(),
        normal(3, 6),
    ),
    case(
        "RigidTransform.apply",
        lambda t, q, v: RigidTransform.from_components(t, Rotation.from_quat(q)).apply(v),
        VECTORS,
        QUATERNIONS,
        VECTORS + 1,
    ),
    case(
        "RigidTransform.inv",
        lambda t, q: RigidTransform.from_components(t, Rotation.from_quat(q)).inv().as_exp_coords(),
        VECTORS,
        QUATERNIONS,
    ),
]

RIGHT += [
    case(
        "integrate.nsum",
        lambda k: integrate.nsum(lambda n, k: 1 / n**k, xp.ones_like(k), 9 + xp.ones_like(k), args=(k,)).sum,
        1 + A[0],
        order=1,
    ),
    case(
        "differentiate.hessian",
        lambda x: differentiate.hessian(lambda y: xp.sum(y**3, axis=0), x).ddf,
        A[0, :3],
        order=1,
    ),
]

# --- what SciPy computes in place, over values that gradients need and through views (PyTorch refuses most)

RIGHT += [
    *named("special", "logsumexp", A, b=xp.asarray(B)),
    *named("special", "logsumexp", A, b=xp.asarray(X), return_sign=True, axis=1),
    # Not evenly spaced: that would make all of them ties.
    *named("stats", "false_discovery_control", P * P, axis=1),
    *named("stats", "lmoment", A, axis=1),
    case("stats.boxcox_llf", lambda x: stats.boxcox_llf(0.3, x, axis=1), A),
    case("integrate.romb", lambda y: integrate.romb(y, dx=0.2, axis=1), normal(3, 9)),
    case("signal.oaconvolve", lambda x, y: signal.oaconvolve(x, y), normal(200), NUM),
    case(
        "Rotation.align_vectors", lambda a, b: Rotation.align_vectors(a, b)[0].as_matrix(), VECTORS, X[:, :3]
    ),
    case("RigidTransform.from_dual_quat", lambda q: RigidTransform.from_dual_quat(q).as_matrix(), X),
    case(
        "integrate.tanhsinh",
        lambda a, b, k: integrate.tanhsinh(lambda t, k: xp.exp(-k * t * t), a, b, args=(k,)).integral,
        A[0],
        A[0] + B[0],
        B[1],
        order=1,
    ),
    case(
        "optimize.find_minimum",
        lambda k: (
            optimize.elementwise.find_minimum(
                lambda t, k: xp.cosh(t - k), (k - 1, k + 0.1, k + 2), args=(k,)
            ).x
        ),
        A[0],
        order=1,
    ),
]

# --- what is the same wherever nothing changes places

ONE, OTHER = np.split(apart(6, 8), 2)
RANKS: list[Case] = [
    *named("stats", "rankdata", A, axis=1, constant=True),
    *[
        case(
            f"stats.{n}",
            lambda x, y, n=n: getattr(stats, n)(x, y, axis=1).statistic,
            ONE,
            OTHER,
            constant=True,
        )
        for n in ("kruskal", "mood", "spearmanrho")
    ],
]

# --- what goes through NumPy

ONES, TAPS = xp.ones((3, 8)), xp.asarray(NUM)
NUMPYS: list[Case] = [
    *named(
        "ndimage",
        "gaussian_filter gaussian_filter1d gaussian_gradient_magnitude gaussian_laplace",
        X,
        sigma=1.0,
    ),
    *named(
        "ndimage",
        "extrema laplace maximum mean median minimum prewitt sobel spline_filter spline_filter1d",
        X,
    ),
    *named("ndimage", "center_of_mass distance_transform_edt standard_deviation sum_labels variance", X),
    *named(
        "ndimage",
        "black_tophat grey_closing grey_dilation grey_erosion grey_opening maximum_filter",
        X,
        size=3,
    ),
    *named(
        "ndimage",
        "maximum_filter1d median_filter minimum_filter minimum_filter1d morphological_gradient",
        X,
        size=3,
    ),
    *named("ndimage", "morphological_laplace uniform_filter uniform_filter1d white_tophat", X, size=3),
    *named("ndimage", "convolve correlate", X, Y[:2, :2]),
    *named("ndimage", "convolve1d correlate1d", X, NUM),
    *named("ndimage", "affine_transform", X, np.eye(2) + 0.1),
    *named("ndimage", "map_coordinates", X, A[:2]),
    *named("ndimage", "percentile_filter", X, percentile=30, size=3),
    *named("ndimage", "rank_filter", X, rank=1, size=3),
    *named("ndimage", "rotate", X, angle=20.0),
    *named("ndimage", "shift", X, NUM[:2]),
    *named("ndimage", "zoom", X, zoom=1.5),
    *named("ndimage", "fourier_gaussian", X + 0j, sigma=1.0),
    *named("ndimage", "generic_filter", X, function=np.mean, size=3),
    case("ndimage output", lambda x, out: ndimage.gaussian_filter(x, 1.0, output=out), X, Y),
    # --- special functions are tested all together; these have rules in no library
    *named("special", "entr erf expit gammaln ndtr", P),
    # --- stats
    *named("stats", "alexandergovern bartlett f_oneway levene", A, B, axis=1),
    *named(
        "stats",
        "energy_distance kendalltau somersd spearmanr theilslopes wasserstein_distance",
        A[0],
        B[0],
    ),
    # A median of slopes: evenly spaced numbers have equal slopes, where it has no derivative.
    *named("stats", "siegelslopes", X[0], Y[0]),
    *named("stats", "pearsonr ttest_ind ttest_rel", A, B, axis=1),
    *named("stats", "jarque_bera kurtosistest normaltest skewtest", apart(2, 24), axis=1),
    *named("stats", "chisquare power_divergence", A, axis=1),
    *named("stats", "boxcox expectile gaussian_kde shapiro yeojohnson", A[0]),
    *named("stats", "trim1 trimboth", A[0], proportiontocut=0.2),
    *named("stats", "ttest_1samp", A, popmean=0.1, axis=1),
    *named("stats", "combine_pvalues", P, axis=1),
    *named("stats.norm", "cdf logpdf pdf", X),
    *named("stats.contingency", "expected_freq", A),
    # --- integrate and optimize: solvers that call back
    *named("integrate", "simpson", X, axis=1),
    case("integrate.quad", lambda k: integrate.quad(lambda t: float(xp.exp(-k * t)), 0.0, 1.0), A_HALF),
    case("integrate.quad_vec", lambda k: integrate.quad_vec(lambda t: xp.exp(-k * t), 0.0, 1.0), A[0]),
    case("integrate.solve_ivp", lambda y: integrate.solve_ivp(lambda t, y: -y, (0, 1), y), A[0]),
    case(
        "integrate.solve_ivp closure",
        lambda k: integrate.solve_ivp(lambda t, y: -k * xp.asarray(y), (0, 1), [1.0]),
        A_HALF,
    ),
    case("optimize.brentq", lambda k: optimize.brentq(lambda t: t * t - k, 0, 2), A_HALF),
    case("optimize.minimize", lambda x: optimize.minimize(lambda t: np.sum(t * t), x), A[0]),
    case(
        "optimize.minimize closure",
        lambda k: optimize.minimize(lambda t: xp.sum((xp.asarray(t) - k) ** 2), [0.0]),
        A_HALF,
    ),
    # --- signal
    *named("signal", "convolve correlate", LINE, NUM, method="direct"),
    *named("signal", "convolve2d correlate2d", X, Y[:2, :2]),
    *named("signal", "bilinear deconvolve", NUM, DEN),
    *named("signal", "chirp", LINE, f0=1.0, t1=1.0, f1=2.0),
    *named("signal", "cspline1d czt detrend periodogram qspline1d sawtooth welch", LINE),
    *named("signal", "square", LINE, constant=True),
    *named("signal", "csd coherence", LINE, normal(24, seed=1), nperseg=8),
    *named("signal", "medfilt2d", X, kernel_size=3),
    *named("signal", "wiener", X, mysize=3),
    *named("signal", "savgol_filter", X, window_length=5, polyorder=2),
    *named("signal", "resample_poly", X, up=3, down=2, axis=1),
    *named("signal", "zpk2tf zpk2sos", NUM[:2], POLES[:2], k=1.0),
    *named("signal", "tf2sos", NUM, DEN),
    *named("signal", "sos2tf", SECTIONS),
    # It divides by the leading coefficients unless they are 1; the branch for 1 has another derivative.
    *named("signal", "sosfilt_zi", 1.25 * SECTIONS),
    case("signal.group_delay", lambda b, a: signal.group_delay((b, a), 8)[1], NUM, DEN),
    case("signal.lfilter", lambda b, a, x: signal.lfilter(b, a, x), NUM, DEN, X),
    case("signal.filtfilt", lambda x: signal.filtfilt(TAPS, TAPS, x), LINE),
    case("signal.sosfilt", lambda s, x: signal.sosfilt(s, x), SECTIONS, X),
    case("signal.upfirdn", lambda h, x: signal.upfirdn(h, x, 2), NUM, LINE),
    # --- fft, linalg, spatial, cluster, interpolate
    *named("fft", "dct dctn dst dstn idct idctn idst idstn", X),
    *named("linalg", "det eig eigh eigvals expm inv logm lu norm pinv polar qr schur sqrtm svd", SQUARE),
    *named("linalg", "lstsq solve solve_triangular", SQUARE, SQUARE[0]),
    *named("linalg", "cholesky", SQUARE @ SQUARE.T),
    *named("linalg", "circulant toeplitz", NUM),
    *named("linalg", "khatri_rao", SQUARE, VECTORS),
    *named("spatial", "procrustes", A, B),
    *named("spatial.distance", "cdist", A, B),
    *named("spatial.distance", "pdist", A),
    *named("spatial.distance", "cosine correlation euclidean jensenshannon minkowski", A[0], B[0]),
    *named("cluster.vq", "kmeans2 vq", X, Y[:2]),
    *named("cluster.hierarchy", "linkage", X),
    *[
        case(
            f"interpolate.{n}",
            lambda x, y, t, n=n: getattr(interpolate, n)(x, y)(t),
            np.arange(8.0),
            X[0],
            3 * A[0],
        )
        for n in ("Akima1DInterpolator", "CubicSpline", "interp1d", "make_interp_spline")
    ],
    case(
        "interpolate.BSpline",
        lambda t, c, x: interpolate.BSpline(t, c, 3)(x),
        np.arange(12.0),
        X[0],
        3 + A[0],
    ),
    case("interpolate.PPoly", lambda c, x, t: interpolate.PPoly(c, x)(t), X[:3, :2], np.arange(3.0), A[0]),
]
