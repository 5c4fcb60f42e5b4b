"""Calls of the functions of `stride0.autograd.scipy`, which are compared with SciPy's of the same names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import stride0 as xp


class Case(NamedTuple):
    module: str
    name: str
    arrays: tuple[Any, ...]  # the arrays to differentiate by; they come before all other arguments
    options: dict[str, Any]
    linear: tuple[int, ...] = ()  # in which of the arrays the function is linear, if the others are fixed
    mine: Callable[..., Any] | None = None  # where the call is more than one of the function
    theirs: Callable[..., Any] | None = None
    derivatives: int = 2

    @property
    def id(self) -> str:
        shapes = " ".join(str(a.shape).replace(" ", "") for a in self.arrays)
        return f"{self.module}.{self.name} {shapes} {self.options}"


def normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def complexes(*shape: int, seed: int = 0) -> Any:
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 1)


def product(**options: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
    """All combinations of the values of options."""
    for values in itertools.product(*options.values()):
        yield dict(zip(options, values, strict=True))


def cases(
    where: str, *arrays: Any, linear: tuple[int, ...] = (), derivatives: int = 2, **options: tuple[Any, ...]
) -> list[Case]:
    module, names = where.split(".")
    return [
        Case(module, name, arrays, chosen, linear, derivatives=derivatives)
        for name in names.split()
        for chosen in product(**options)
    ]


B, A = np.asarray([0.4, 0.3, -0.2, 0.1]), np.asarray([1.4, -0.5, 0.2])
SOS = np.asarray([[0.2, 0.1, 0.3, 1.0, 0.2, 0.1], [0.4, 0.3, 0.1, 1.0, -0.3, 0.2]])
LINE, PLANE = normal(21), normal(5, 12)

# With first-order sections, for which SciPy pads signals less.
ZEROS = np.asarray([[0.4, 0.3, 0.0, 1.0, -0.3, 0.0], [0.2, 0.1, 0.3, 1.0, 0.2, 0.1]])


def sectioned(name: str, x: Any, **options: tuple[Any, ...]) -> list[Case]:
    """Filters of sections, differentiated by all coefficients except the leading ones of the denominators."""

    def call(f: Any, numerators: Any, denominators: Any, x: Any, **chosen: Any) -> Any:
        namespace = x.__array_namespace__()
        ones = namespace.ones((numerators.shape[0], 1))
        return f(namespace.concat((numerators, ones, denominators), axis=1), x, **chosen)

    arrays = (SOS[:, :3], SOS[:, 4:], x)
    return [Case("signal", name, arrays, chosen, (2,), call, call) for chosen in product(**options)]


SIGNAL = [
    *cases(
        "signal.convolve correlate",
        normal(9),
        normal(4),
        linear=(0, 1),
        mode=("full", "same", "valid"),
        method=("direct", "fft", "auto"),
    ),
    *cases("signal.convolve correlate", normal(3), normal(8), linear=(0, 1), mode=("full", "same", "valid")),
    *cases(
        "signal.convolve correlate",
        normal(5, 6),
        normal(2, 3),
        linear=(0, 1),
        mode=("full", "same", "valid"),
        method=("direct", "fft"),
    ),
    *cases(
        "signal.convolve correlate", complexes(7), complexes(3, seed=2), linear=(0, 1), mode=("full", "same")
    ),
    *cases("signal.convolve correlate", normal(7), complexes(3, seed=2), linear=(0, 1)),
    *cases("signal.oaconvolve", normal(40), normal(3), linear=(0, 1), mode=("full", "same", "valid")),
    *cases(
        "signal.oaconvolve",
        normal(3, 20),
        normal(1, 4),
        linear=(0, 1),
        mode=("full", "same", "valid"),
        axes=(1, [1]),
    ),
    *cases("signal.oaconvolve", complexes(3, 9), complexes(3, 4), linear=(0, 1), axes=(-1,)),
    *cases("signal.lfilter", B, A, LINE, linear=(0, 2)),
    *cases("signal.lfilter", B, A, normal(6, 3), linear=(0, 2), axis=(0, 1)),
    *cases("signal.lfilter", B, A[:1], PLANE, linear=(0, 2)),
    *cases("signal.lfilter", B[:1], A, PLANE, linear=(0, 2), axis=(0,)),
    *cases(
        "signal.lfilter", complexes(3), 2 + 0.3 * complexes(2, seed=3), complexes(8, seed=5), linear=(0, 2)
    ),
    *cases("signal.lfilter_zi", B, A),
    *cases("signal.lfilter_zi", B[:2], A),
    *cases("signal.filtfilt", B, A, LINE, linear=(2,), padtype=("odd", "even", "constant", None)),
    *cases("signal.filtfilt", B, A, normal(20, 2), linear=(2,), axis=(0,), padlen=(0, 3)),
    *sectioned("sosfilt", normal(9)),
    *sectioned("sosfilt", normal(5, 6), axis=(0, -1)),
    *sectioned("sosfiltfilt", normal(30), padtype=("odd", "even", "constant", None)),
    *sectioned("sosfiltfilt", normal(30, 2), axis=(0,), padlen=(0, 4)),
    Case(
        "signal",
        "sosfiltfilt",
        (normal(30),),
        {},
        (0,),
        lambda f, x: f(xp.asarray(ZEROS), x),
        lambda f, x: f(ZEROS, x),
    ),
    *cases(
        "signal.savgol_filter",
        LINE,
        linear=(0,),
        window_length=(5, 6, 7),
        polyorder=(2,),
        deriv=(0, 1),
        mode=("mirror", "constant", "nearest", "wrap"),
    ),
    *cases(
        "signal.savgol_filter",
        LINE,
        linear=(0,),
        window_length=(5, 7, 21),
        polyorder=(2, 3),
        deriv=(0, 1),
        delta=(0.5,),
        mode=("interp",),
    ),
    *cases(
        "signal.savgol_filter",
        normal(9, 3),
        linear=(0,),
        window_length=(5,),
        polyorder=(2,),
        axis=(0,),
        mode=("interp", "mirror"),
    ),
    *cases("signal.upfirdn", normal(5), normal(7), linear=(0, 1), up=(1, 2, 3, 5), down=(1, 2, 3)),
    *cases("signal.upfirdn", normal(2), normal(6, 3), linear=(0, 1), up=(4, 1), down=(1, 5), axis=(0, 1)),
    *cases("signal.upfirdn", complexes(4), complexes(6), linear=(0, 1), up=(2,), down=(3,)),
    *cases(
        "signal.resample_poly",
        normal(12),
        linear=(0,),
        up=(1, 3, 5),
        down=(2, 3, 7),
        padtype=("constant", "mean"),
    ),
    *cases(
        "signal.resample_poly", normal(3, 10), linear=(0,), up=(4,), down=(6,), axis=(1,), window=("hamming",)
    ),
    *cases("signal.resample_poly", normal(10), up=(4,), down=(3,), padtype=("minimum", "maximum")),
    *cases("signal.detrend", LINE, linear=(0,), type=("linear", "constant"), bp=(0, [7, 12])),
    *cases("signal.detrend", normal(9, 2), linear=(0,), axis=(0,)),
]

FFT = [
    *cases(
        "fft.dct dst idct idst", normal(6), linear=(0,), type=(1, 2, 3, 4), norm=(None, "ortho", "forward")
    ),
    *cases(
        "fft.dct dst idct idst",
        normal(5),
        linear=(0,),
        type=(1, 2, 3, 4),
        norm=("ortho",),
        orthogonalize=(False,),
    ),
    *cases(
        "fft.dct dst idct idst",
        normal(5),
        linear=(0,),
        type=(2, 3),
        norm=("backward",),
        orthogonalize=(True,),
    ),
    *cases("fft.dct idst", normal(4, 5), linear=(0,), type=(2, 3), n=(3, 7), axis=(0, 1)),
    *cases("fft.dct dst", complexes(5), linear=(0,), type=(1, 2, 3, 4)),
    *cases("fft.dctn idctn dstn idstn", normal(4, 5), linear=(0,), type=(1, 2), norm=(None, "ortho")),
    *cases("fft.dctn dstn", normal(2, 4, 5), linear=(0,), s=((3, 6),), axes=((0, 2), None)),
]

MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
NDIMAGE = [
    *cases(
        "ndimage.correlate1d convolve1d", normal(7), normal(3), linear=(0, 1), mode=MODES, origin=(-1, 0, 1)
    ),
    *cases("ndimage.correlate1d convolve1d", normal(6, 5), normal(4), linear=(0, 1), axis=(0, 1), mode=MODES),
    *cases("ndimage.correlate1d convolve1d", normal(3), normal(9), linear=(0, 1), mode=MODES),
    *cases(
        "ndimage.correlate convolve",
        normal(5, 6),
        normal(2, 3),
        linear=(0, 1),
        mode=MODES,
        origin=(0, (-1, 1)),
    ),
    *cases("ndimage.correlate convolve", normal(3, 4, 3), normal(2, 3, 1), linear=(0, 1)),
    *cases("ndimage.correlate convolve", complexes(5, 4), complexes(3, 2), linear=(0,)),
    *cases("ndimage.correlate1d convolve1d", complexes(5, 4), complexes(3), linear=(0,), axis=(0,)),
    *cases("ndimage.correlate1d convolve1d", normal(5, 4), complexes(3), linear=(0,), axis=(0,)),
    *cases(
        "ndimage.gaussian_filter1d",
        normal(6, 9),
        linear=(0,),
        sigma=(0.7, 2.0),
        axis=(0, 1),
        order=(0, 1, 2),
        mode=MODES,
    ),
    *cases(
        "ndimage.gaussian_filter",
        normal(6, 9),
        linear=(0,),
        sigma=(1.0, (0.5, 2.0), (0, 1)),
        order=(0, (0, 1)),
        mode=("reflect", "wrap"),
    ),
    *cases(
        "ndimage.gaussian_filter",
        normal(6, 9),
        linear=(0,),
        sigma=(1.0,),
        axes=((1,), None),
        radius=(2,),
        truncate=(2.0,),
    ),
    *cases("ndimage.uniform_filter1d", normal(6, 9), linear=(0,), size=(2, 3, 5), mode=MODES),
    *cases(
        "ndimage.uniform_filter", normal(6, 9), linear=(0,), size=(3, (1, 4)), origin=(0, (0, 1)), mode=MODES
    ),
    *cases(
        "ndimage.spline_filter1d",
        normal(7, 4),
        linear=(0,),
        order=(0, 1, 2, 3, 4, 5),
        axis=(0, 1),
        mode=("mirror", "reflect", "grid-wrap"),
    ),
    *cases(
        "ndimage.spline_filter1d",
        normal(7),
        linear=(0,),
        order=(3,),
        mode=("constant", "nearest", "wrap", "grid-mirror"),
    ),
    *cases("ndimage.spline_filter", normal(7, 4), linear=(0,), order=(2, 3)),
    *cases(
        "ndimage.zoom",
        normal(5, 6),
        linear=(0,),
        zoom=(1.5, (2.0, 0.7), (1.0, 1.4)),
        order=(0, 1, 2, 3, 5),
        mode=("constant", "nearest", "mirror"),
    ),
    *cases(
        "ndimage.zoom",
        normal(5, 6),
        linear=(0,),
        zoom=(1.5, 2.0),
        order=(0, 1, 3),
        mode=("nearest", "mirror", "reflect", "grid-wrap"),
        grid_mode=(True,),
    ),
]
# Without flat places, where the length of the gradient has a kink.
HILL = np.exp(np.add.outer(0.5 * np.arange(6.0), 0.4 * np.arange(9.0))) / 10
NDIMAGE += [
    *cases("ndimage.prewitt sobel", normal(6, 9), linear=(0,), axis=(0, 1), mode=MODES),
    *cases("ndimage.prewitt sobel laplace", normal(3, 4, 5), linear=(0,), mode=("reflect", "constant")),
    *cases("ndimage.laplace", normal(6, 9), linear=(0,), mode=MODES),
    *cases("ndimage.gaussian_laplace", normal(6, 9), linear=(0,), sigma=(1.0, (0.7, 1.5)), mode=MODES),
    *cases("ndimage.gaussian_gradient_magnitude", HILL, sigma=(1.0, (1.2, 0.8)), truncate=(2.5,)),
]
SPLINES = ("constant", "nearest", "mirror", "reflect", "grid-mirror", "grid-wrap")


def places(shape: tuple[int, ...], low: int, high: int) -> Any:
    """Coordinates away from elements and from midpoints of two: these are the knots of splines."""
    rng = np.random.default_rng(3)
    return (
        rng.integers(low, high, shape)
        + rng.choice([0.2, 0.3, 0.7, 0.8], shape)
        + rng.uniform(-0.05, 0.05, shape)
    )


PLACES = places((2, 3, 4), 0, 4)
NDIMAGE += [
    *cases("ndimage.map_coordinates", normal(5, 6), PLACES, linear=(0,), order=(1, 2, 3, 4, 5), mode=SPLINES),
    *cases(
        "ndimage.map_coordinates",
        normal(5, 6),
        places((2, 3, 4), -5, 9),
        linear=(0,),
        order=(0, 1, 2, 3, 4, 5),
        mode=SPLINES,
    ),
    *cases(
        "ndimage.map_coordinates",
        normal(20),
        places((1, 3, 4), -45, 60),
        linear=(0,),
        order=(1, 3),
        mode=SPLINES,
    ),
    *cases(
        "ndimage.map_coordinates",
        normal(3, 4, 3),
        places((3, 5), 0, 2),
        linear=(0,),
        order=(1, 3),
        prefilter=(True, False),
    ),
    *cases("ndimage.map_coordinates", normal(5, 6), places((2, 3, 4), -2, 7), order=(1, 3), cval=(2.5,)),
    *cases("ndimage.shift", normal(5, 6), np.asarray([0.6, -1.3]), linear=(0,), order=(1, 3), mode=SPLINES),
    *cases(
        "ndimage.affine_transform",
        normal(5, 6),
        # A map that moves no element near another one.
        np.asarray([[0.9855, -0.036], [0.0222, 0.9706]]),
        linear=(0,),
        offset=((-0.0745, 0.2534),),
        order=(1, 3),
        mode=SPLINES,
    ),
]

TRIANGLE = np.tril(normal(4, 4)) + 3 * np.eye(4)
SQUARE = normal(4, 4) + 4 * np.eye(4)
LINALG = [
    *cases(
        "linalg.solve_triangular",
        TRIANGLE,
        normal(4),
        linear=(1,),
        trans=(0, 1, 2, "T"),
        lower=(True,),
        unit_diagonal=(False, True),
    ),
    *cases("linalg.solve_triangular", SQUARE, normal(4, 3), linear=(1,), trans=(0, "C"), lower=(False, True)),
    *cases("linalg.solve_triangular", np.triu(SQUARE) + 0.3j, complexes(4, 2), linear=(1,), trans=(0, 1, 2)),
    *cases("linalg.sqrtm", SQUARE),
    *cases("linalg.sqrtm", SQUARE + 0.3j * normal(4, 4)),
    *cases("linalg.solve_sylvester", SQUARE, normal(3, 3) + 3 * np.eye(3), normal(4, 3), linear=(2,)),
]
BANDS = np.asarray([[0.0, 0.0, 0.4, 0.1], [0.0, 0.5, -0.2, 0.3], [2.0, 3.0, 2.5, 4.0], [0.3, -0.4, 0.6, 0.0]])
LINALG += [
    Case(
        "linalg",
        "solve_banded",
        (BANDS, normal(4, 2)),
        {},
        (1,),
        lambda f, ab, b: f((1, 2), ab, b),
        lambda f, ab, b: f((1, 2), ab, b),
    ),
    Case(
        "linalg",
        "solve_banded",
        (BANDS[::-1, ::-1].copy(), normal(4)),
        {},
        (1,),
        lambda f, ab, b: f((2, 1), ab, b),
        lambda f, ab, b: f((2, 1), ab, b),
    ),
    *[
        Case(
            "linalg",
            "cho_solve",
            (TRIANGLE if lower else TRIANGLE.T.copy(), normal(4, 2)),
            {"lower": lower},
            (1,),
            lambda f, c, b, lower: f((c, lower), b),
            lambda f, c, b, lower: f((c, lower), b),
        )
        for lower in (False, True)
    ],
]

INTEGRATE = [
    *[
        case
        for n in (2, 3, 4, 5, 8)
        for case in (
            *cases("integrate.simpson", normal(n, 3), linear=(0,), dx=(0.3,), axis=(0,)),
            Case(
                "integrate",
                "simpson",
                (normal(2, n), np.cumsum(np.linspace(0.5, 1.0, n))),
                {"n": n},
                (0,),
                lambda f, y, x, n: f(y, x=x),
                lambda f, y, x, n: f(y, x=x),
            ),
        )
    ],
    Case(
        "integrate",
        "simpson",
        (normal(2, 6), np.cumsum(0.5 + 0 * normal(2, 6) + normal(2, 6) ** 2, axis=1)),
        {},
        (0,),
        lambda f, y, x: f(y, x=x),
        lambda f, y, x: f(y, x=x),
    ),
]

KNOTS = np.asarray([0.0, 0.7, 1.9, 2.6, 4.0, 4.4])
POINTS = np.asarray([-0.3, 0.2, 1.3, 2.2, 3.7, 4.9])
INTERPOLATE = [
    *[
        Case(
            "interpolate",
            "CubicSpline",
            (KNOTS[:n], normal(n), POINTS),
            {"bc_type": bc, "nu": nu},
            (1,),
            lambda f, x, y, t, bc_type, nu: f(x, y, bc_type=bc_type)(t, nu),
            lambda f, x, y, t, bc_type, nu: f(x, y, bc_type=bc_type)(t, nu),
        )
        for bc in ("not-a-knot", "natural", "clamped", ("natural", "not-a-knot"))
        for n in (2, 3, 4, 6)
        for nu in ((0, 1, 2) if n > 3 else (0,))
    ],
    Case(
        "interpolate",
        "CubicSpline",
        (KNOTS, normal(2, 6, 3), POINTS.reshape(2, 3)),
        {"axis": 1},
        (1,),
        lambda f, x, y, t, axis: f(x, y, axis=axis)(t),
        lambda f, x, y, t, axis: f(x, y, axis=axis)(t),
    ),
    Case(
        "interpolate",
        "RegularGridInterpolator",
        (KNOTS, KNOTS[1:], normal(6, 5, 2), np.asarray([[0.2, 1.0], [1.3, 4.2], [4.1, 2.0]])),
        {},
        (2,),
        lambda f, x, y, v, t: f((x, y), v)(t),
        lambda f, x, y, v, t: f((x, y), v)(t),
    ),
    Case(
        "interpolate",
        "RegularGridInterpolator",
        (KNOTS, normal(6), np.asarray([[-0.2], [1.3], [5.1]])),
        {"out": True},
        (1,),
        lambda f, x, v, t, out: f((x,), v, bounds_error=False, fill_value=None)(t),
        lambda f, x, v, t, out: f((x,), v, bounds_error=False, fill_value=None)(t),
    ),
    Case(
        "interpolate",
        "interpn",
        (normal(6, 5), np.asarray([[0.2, 1.0], [1.3, 4.2]])),
        {},
        (0,),
        lambda f, v, t: f((KNOTS, KNOTS[1:]), v, t),
        lambda f, v, t: f((KNOTS, KNOTS[1:]), v, t),
    ),
]

CASES = [*SIGNAL, *FFT, *NDIMAGE, *LINALG, *INTEGRATE, *INTERPOLATE]
