"""More calls of the functions of `stride0.autograd.scipy`: of `signal` and `ndimage`."""

from __future__ import annotations

from typing import Any

import numpy as np
from gradient_cases_scipy_forms import LINE, SOS, A, B, Case, cases, complexes, normal

import stride0 as xp


def apart(*shape: int, seed: int = 0) -> Any:
    """Numbers in random order, so far apart that finite differences change no order."""
    values = np.linspace(0.3, 2.0, int(np.prod(shape)))
    return np.random.default_rng(seed).permutation(values).reshape(shape)


def picked(*numbers: int) -> Any:
    """The results of a function that depend on its arguments."""

    def call(f: Any, *xs: Any, **options: Any) -> Any:
        found = f(*xs, **options)
        return found[numbers[0]] if len(numbers) == 1 else [found[k] for k in numbers]

    return call


def several(
    where: str, *arrays: Any, linear: tuple[int, ...] = (), take: Any = (1,), **options: tuple[Any, ...]
) -> list[Case]:
    made = picked(*take)
    return [case._replace(mine=made, theirs=made) for case in cases(where, *arrays, linear=linear, **options)]


CUTOFF, BAND = np.asarray(0.3), np.asarray([0.2, 0.6])
ROOTS, POLES = np.asarray([0.2, -0.5, 0.8]), np.asarray([-0.3, 0.4, 0.7])
PAIRS = np.asarray([0.3 + 0.4j, 0.3 - 0.4j])

SIGNAL = [
    *cases(
        "signal.convolve2d correlate2d",
        normal(5, 6),
        normal(2, 3),
        linear=(1,),
        mode=("full", "same", "valid"),
        boundary=("fill", "wrap", "symm"),
    ),
    *cases(
        "signal.convolve2d correlate2d", normal(2, 3), normal(4, 3), linear=(0, 1), mode=("full", "valid")
    ),
    *cases("signal.convolve2d", normal(4, 4), complexes(2, 2), linear=(0, 1), fillvalue=(0, 1.5)),
    *several("signal.deconvolve", normal(8), A, take=(0, 1)),
    *cases("signal.wiener", normal(4, 6), mysize=(3, (3, 5)), noise=(None, 0.4)),
    *cases("signal.medfilt", apart(3, 7), kernel_size=(3, (1, 5))),
    *cases("signal.medfilt2d", apart(5, 5), kernel_size=(3,)),
    Case(
        "signal",
        "order_filter",
        (apart(4, 5),),
        {"rank": 2},
        (),
        *[lambda f, x, rank: f(x, np.ones((3, 3)), rank)] * 2,
    ),
    *several(
        "signal.welch",
        LINE,
        nperseg=(8,),
        detrend=("constant", "linear", False),
        scaling=("density", "spectrum"),
    ),
    *several(
        "signal.welch", normal(3, 20), nperseg=(7,), axis=(1, -1), average=("mean", "median"), nfft=(None,)
    ),
    *several("signal.welch", normal(20, 2), nperseg=(8,), axis=(0,), return_onesided=(False,)),
    *several("signal.periodogram", LINE, nfft=(None, 15, 30), window=("boxcar", "hamming")),
    *several("signal.csd", LINE, normal(18), nperseg=(8,), average=("mean", "median"), noverlap=(0, 5)),
    *several("signal.coherence", LINE, normal(21, seed=3), nperseg=(8,)),
    *several(
        "signal.stft",
        LINE,
        linear=(0,),
        take=(2,),
        nperseg=(8,),
        boundary=("zeros", "even", None),
        padded=(True, False),
        scaling=("spectrum", "psd"),
    ),
    *several("signal.stft", normal(2, 16, 2), linear=(0,), take=(2,), nperseg=(6,), axis=(1,), noverlap=(2,)),
    *several("signal.istft", complexes(5, 4), linear=(0,), take=(1,), nperseg=(8,), boundary=(True, False)),
    *several(
        "signal.istft",
        complexes(4, 6, 3),
        linear=(0,),
        freq_axis=(1,),
        time_axis=(0,),
        input_onesided=(False,),
    ),
    *several(
        "signal.spectrogram", LINE, take=(2,), nperseg=(8,), mode=("psd", "magnitude"), window=("hann",)
    ),
    *cases("signal.czt", normal(5), linear=(0,), m=(None, 3, 7)),
    *cases("signal.czt", complexes(4, 3), linear=(0,), m=(4,), w=(0.9 - 0.2j,), a=(1.1 + 0.3j,), axis=(0,)),
    *cases("signal.cspline1d qspline1d", normal(7), linear=(0,)),
    *cases(
        "signal.cspline1d_eval qspline1d_eval", normal(7), 4.3 * apart(6) - 1.03, linear=(0,), dx=(1.0, 0.8)
    ),
    *cases("signal.chirp", apart(5), f0=(1.0,), t1=(2.0,), f1=(3.0,), method=("lin", "quad", "log", "hyp")),
    *cases("signal.chirp", apart(5), f0=(1.0,), t1=(2.0,), f1=(3.0,), vertex_zero=(False,), phi=(30,)),
    *cases("signal.sawtooth", 5 * normal(6), width=(0, 0.3, 1)),
    *several("signal.zpk2tf", ROOTS[:2], POLES, take=(0, 1), k=(0.7,)),
    *cases("signal.zpk2sos", ROOTS[:2], POLES, k=(0.7,), pairing=(None, "keep_odd")),
    *cases("signal.tf2sos", B, np.asarray([1.4, -0.5, 0.2, 0.03])),
    *several("signal.sos2tf", SOS, take=(0, 1)),
    *cases("signal.sosfilt_zi", SOS[:, [0, 1, 2, 3, 4, 5]] + np.asarray([0, 0, 0, 0.25, 0, 0])),
    *several("signal.bilinear", B[:3], A, take=(0, 1), fs=(1.0, 3.0)),
    *several("signal.bilinear", B[:2], A, take=(0, 1)),
    Case(
        "signal",
        "firls",
        (np.asarray([1.0, 0.9, 0.2, 0.1]),),
        {},
        (0,),
        *[lambda f, d: f(7, (0, 0.3, 0.5, 1), d, weight=[1, 2])] * 2,
    ),
    Case(
        "signal",
        "firwin2",
        (np.asarray([1.0, 0.6, 0.1]),),
        {"window": ("kaiser", 3.0)},
        (0,),
        *[lambda f, g, window: f(9, [0.0, 0.3, 1.0], g, window=window)] * 2,
    ),
    Case(
        "signal",
        "group_delay",
        (B, A),
        {"w": 6},
        (),
        *[lambda f, b, a, w: f((b, a), w)[1]] * 2,
    ),
]
for _name, _given in {
    "butter": (3,),
    "bessel": (3,),
    "cheby1": (3, 1.0),
    "cheby2": (3, 30.0),
    "ellip": (3, 1.0, 30.0),
}.items():
    for _btype in ("low", "high", "bandpass", "bandstop"):
        for _output in ("ba", "sos"):

            def _designed(
                f: Any,
                w: Any,
                given: Any = _given,
                btype: str = _btype,
                output: str = _output,
                analog: bool = False,
            ) -> Any:
                found = f(*given, w, btype=btype, output=output, analog=analog)
                return found if output == "sos" else list(found)

            _w = BAND if _btype.startswith("band") else CUTOFF
            # The derivative of a narrow band is steep.
            SIGNAL.append(
                Case(
                    "signal", _name, (_w,), {"btype": _btype, "output": _output}, (), _designed, _designed, 1
                )
            )
SIGNAL.append(
    Case(
        "signal",
        "butter",
        (CUTOFF,),
        {"analog": True},
        (),
        *[lambda f, w, analog: list(f(3, w, analog=analog))] * 2,
    )
)


RANKED = "ndimage.maximum_filter minimum_filter median_filter"
MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
CROSS = np.asarray([[0, 1, 0], [1, 1, 1], [0, 1, 0]], dtype=bool)
BUMP = np.asarray([[0.1, 0.3], [0.25, 0.0]])
LABELS = np.asarray([[1, 1, 2, 2, 0], [1, 3, 3, 2, 2], [4, 3, 3, 0, 2]])


def _derivative(x: Any, axis: int, output: Any, mode: str, cval: float) -> None:
    """What `scipy.ndimage.generic_laplace` calls; it writes to its output."""
    if isinstance(x, np.ndarray):
        from scipy import ndimage
    else:
        from stride0.autograd.scipy import ndimage
    # SciPy passes a dtype, too, and then takes what is returned.
    found = ndimage.correlate1d(x, [-1.0, 0.3, 1.0], axis, None, mode, cval)
    if isinstance(output, np.ndarray | xp.Array):
        output[...] = found
    else:
        return found  # type: ignore[return-value]


def _labelled(f: Any, x: Any, index: Any) -> Any:
    namespace = x.__array_namespace__()
    return f(
        x, namespace.asarray(LABELS), index if isinstance(index, int | None) else namespace.asarray(index)
    )


NDIMAGE = [
    *cases(RANKED, apart(5, 6), size=(3, (1, 4)), mode=MODES, cval=(0.7,)),
    *cases(RANKED, apart(5, 6), footprint=(CROSS,), origin=(0, (1, -1))),
    *cases(RANKED, apart(2, 5, 4), size=(2,), axes=((0, 2),)),
    *cases("ndimage.maximum_filter1d minimum_filter1d", apart(5, 6), size=(3, 4), axis=(0, 1), origin=(0, 1)),
    *cases("ndimage.rank_filter", apart(5, 6), rank=(0, 1, -2), size=(3,)),
    *cases("ndimage.percentile_filter", apart(5, 6), percentile=(0, 30, 100), size=(3,)),
    *cases(
        "ndimage.grey_erosion grey_dilation grey_opening grey_closing",
        apart(5, 6),
        size=(3, (2, 3)),
        mode=MODES,
    ),
    *cases("ndimage.grey_erosion grey_dilation", apart(5, 6), footprint=(CROSS,), origin=(0, (0, 1))),
    *cases(
        "ndimage.morphological_gradient morphological_laplace white_tophat black_tophat",
        apart(5, 6),
        size=(3,),
        mode=("reflect", "constant"),
    ),
    *[
        Case("ndimage", name, (apart(5, 6), BUMP), {}, (), *[lambda f, x, s: f(x, structure=s)] * 2)
        for name in ("grey_erosion", "grey_dilation", "grey_closing", "morphological_gradient")
    ],
    *cases("ndimage.fourier_gaussian", complexes(4, 5), linear=(0,), sigma=(1.0, (0.5, 2.0))),
    *cases("ndimage.fourier_uniform fourier_ellipsoid", complexes(4, 5), linear=(0,), size=(2.0,)),
    *cases("ndimage.fourier_shift", complexes(4, 3), linear=(0,), shift=(1.3,), n=(-1, 5)),
    *cases("ndimage.fourier_uniform", normal(4, 5), linear=(0,), size=(2.0,)),
    *cases(
        "ndimage.rotate", normal(5, 6), linear=(0,), angle=(20.0, 90.0), reshape=(True, False), order=(1, 3)
    ),
    *cases(
        "ndimage.rotate",
        normal(2, 4, 5),
        linear=(0,),
        angle=(-35.0,),
        axes=((2, 1), (0, 2)),
        mode=("nearest",),
    ),
    Case(
        "ndimage",
        "geometric_transform",
        (normal(4, 5),),
        {},
        (0,),
        *[lambda f, x: f(x, lambda at: (at[0] + 0.3, at[1] * 0.9), mode="nearest")] * 2,
    ),
    Case(
        "ndimage",
        "generic_filter",
        (normal(3, 4),),
        {},
        (0,),
        *[lambda f, x: f(x, lambda w: w.mean(), size=3)] * 2,
    ),
    Case(
        "ndimage",
        "generic_filter1d",
        (normal(3, 5),),
        {},
        (0,),
        *[lambda f, x: f(x, lambda line, out: out.__setitem__(slice(None), 2 * line[2:] - line[:-2]), 3)] * 2,
    ),
    *[
        Case(
            "ndimage",
            name,
            (np.add.outer(np.arange(4.0) ** 2, np.arange(5.0) ** 2),),
            {},
            (),
            *[lambda f, x: f(x, _derivative)] * 2,
        )
        for name in ("generic_laplace", "generic_gradient_magnitude")
    ],
    Case(
        "ndimage",
        "vectorized_filter",
        (normal(4, 5),),
        {},
        (),
        lambda f, x: f(x, lambda w, axis: xp.sum(w * w, axis=axis), size=(2, 3)),
        lambda f, x: f(x, lambda w, axis: np.sum(w * w, axis=axis), size=(2, 3)),
    ),
    *[
        Case("ndimage", name, (apart(3, 5),), {"index": index}, (), _labelled, _labelled)
        for name in (
            *("sum", "sum_labels", "mean", "variance", "standard_deviation", "maximum", "minimum", "median"),
        )
        for index in (None, 2, [3, 1, 2, 1], [[1], [2]])
    ],
    *cases("ndimage.sum mean variance standard_deviation maximum minimum median", apart(3, 5)),
    Case("ndimage", "center_of_mass", (apart(3, 5),), {}, (), *[lambda f, x: list(f(x))] * 2),
    Case(
        "ndimage",
        "center_of_mass",
        (apart(3, 5),),
        {"index": [2, 1]},
        (),
        *[lambda f, x, index: [c for place in _labelled(f, x, index) for c in place]] * 2,
    ),
    Case(
        "ndimage",
        "extrema",
        (apart(3, 5),),
        {"index": [2, 1]},
        (),
        *[lambda f, x, index: list(_labelled(f, x, index)[:2])] * 2,
    ),
    Case(
        "ndimage",
        "labeled_comprehension",
        (normal(3, 5),),
        {},
        (),
        lambda f, x: f(x, xp.asarray(LABELS), xp.asarray([1, 2, 9]), lambda v: xp.sum(v * v), float, 0.5),
        lambda f, x: f(x, LABELS, [1, 2, 9], lambda v: np.sum(v * v), float, 0.5),
    ),
]

CASES = [*SIGNAL, *NDIMAGE]
