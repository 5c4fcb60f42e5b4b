"""A photograph through scipy.ndimage, scipy.signal and scipy.fft, of stride0 arrays and of NumPy's.

    python examples/scipy_image.py                             stride0 and NumPy, side by side
    python examples/scipy_image.py --image flower.jpg --output pictures --repeat 10
    python examples/scipy_image.py --quick                     timed once, of every second pixel

SciPy's functions get one of the photographs that scikit-learn ships, as an array of each library, and return
arrays of that library. Pictures of stride0's results are saved. The exit code is 1 if results of the
libraries differ.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

# SciPy decides at its first import whether it accepts arrays of other libraries.
os.environ["SCIPY_ARRAY_API"] = "1"

import numpy
from side_by_side import Array, State, Step, report, run

LIBRARIES = ("numpy", "stride0")
PHOTOGRAPHS = ("china.jpg", "flower.jpg")
# Results of SciPy's own loops are equal in all bits. Functions of the libraries may add in another order:
# results differ by some units in the last place of the largest element.
ROUNDING = 1e-12
# It divides by a variance, which may be a small difference of two large sums.
CANCELLED = 1e-9
# Every tenth frequency still shows the photograph; this many are enough at full size.
KEPT = 0.1
WANTED_DECIBELS = 20.0
NUMBERED = "ndimage: dark parts, numbered"


def load(name: str, step: int) -> Array:
    """Every `step`-th pixel of a photograph, as bytes, (height, width, 3)."""
    from sklearn.datasets import load_sample_image  # type: ignore[import-untyped, import-not-found, unused-ignore]

    return load_sample_image(name)[::step, ::step]


# ------------------------------------------------------------------------------
# The steps. Each takes what is there of one library, and answers in it.
# ------------------------------------------------------------------------------


def as_grey(state: State) -> Array:
    """Brightness from 0 to 1, as the eye weighs the colours."""
    xp = state["xp"]
    weights = xp.asarray([0.299, 0.587, 0.114])
    return xp.astype(state["photograph"], xp.float64) @ weights / 255


def blur(state: State) -> Array:
    from scipy import ndimage  # type: ignore[import-untyped, import-not-found, unused-ignore]

    xp = state["xp"]
    return ndimage.gaussian_filter(xp.astype(state["photograph"], xp.float64) / 255, (3.0, 3.0, 0.0))


def edges(state: State) -> Array:
    from scipy import ndimage

    return ndimage.gaussian_gradient_magnitude(state["grey"], 1.0)


def median(state: State) -> Array:
    from scipy import ndimage

    return ndimage.median_filter(state["grey"], size=5)


def turned(state: State) -> Array:
    from scipy import ndimage

    return ndimage.rotate(state["grey"], 15.0, order=3, mode="reflect")


def regions(state: State) -> Array:
    """Connected parts that are darker than what is around them, numbered from 1."""
    from scipy import ndimage

    around = ndimage.gaussian_filter(state["grey"], 15.0)
    dark = ndimage.median_filter(state["grey"], size=5) < around - 0.05
    return ndimage.label(ndimage.binary_opening(dark, iterations=2))[0]


def distance(state: State) -> Array:
    """The distance of each dark pixel from the nearest bright one."""
    from scipy import ndimage

    return ndimage.distance_transform_edt(state[NUMBERED] > 0)


def sharpen(state: State) -> Array:
    """The picture minus its Laplacian."""
    from scipy import signal  # type: ignore[import-untyped, import-not-found, unused-ignore]

    kernel = state["xp"].asarray([[0.0, -1.0, 0.0], [-1.0, 5.0, -1.0], [0.0, -1.0, 0.0]])
    return signal.convolve2d(state["grey"], kernel, mode="same", boundary="symm")


def smear(state: State) -> Array:
    """Blurred as by a moving camera."""
    from scipy import signal

    xp = state["xp"]
    return signal.fftconvolve(state["grey"], xp.ones((1, 25)) / 25, mode="valid")


def match(state: State) -> Array:
    """The correlation of a part of the picture with every place of the picture."""
    from scipy import signal

    xp = state["xp"]
    grey = state["grey"] - xp.mean(state["grey"])
    top, left, size = state["cutting"]
    cutting = grey[top : top + size, left : left + size]
    cutting = cutting - xp.mean(cutting)
    window = xp.ones((size, size))
    total = signal.fftconvolve(grey, window, mode="valid")
    spread = signal.fftconvolve(grey * grey, window, mode="valid") - total * total / (size * size)
    # Where the picture is uniform, only rounding errors would be correlated.
    spread = xp.clip(spread, 1e-2, None)
    found = signal.correlate(grey, cutting, mode="valid", method="fft")
    return found / xp.sqrt(spread * xp.sum(cutting * cutting))


def place(state: State) -> Array:
    """The place of the highest correlation: row and column."""
    xp = state["xp"]
    alike = state["signal: likeness to a cutting"]
    best = xp.argmax(alike)
    return xp.stack([best // alike.shape[1], best % alike.shape[1]])


def low_pass(state: State) -> Array:
    """Each row after a Butterworth filter, forwards and backwards."""
    from scipy import signal

    sections = state["xp"].asarray(signal.butter(4, 0.1, output="sos"))
    return signal.sosfiltfilt(sections, state["grey"], axis=1)


def spectrum(state: State) -> Array:
    """The logarithm of the amplitudes, the lowest frequencies in the middle."""
    from scipy import fft  # type: ignore[import-untyped, import-not-found, unused-ignore]

    xp = state["xp"]
    # The mean is kept: without it the lowest amplitude would be only a rounding error.
    return xp.log1p(xp.abs(fft.fftshift(fft.fft2(state["grey"]))))


def compressed(state: State) -> Array:
    """The picture from the largest tenth of its cosine transform."""
    from scipy import fft

    xp = state["xp"]
    amplitudes = fft.dctn(state["grey"], norm="ortho")
    sizes = xp.sort(xp.reshape(xp.abs(amplitudes), (-1,)))
    least = sizes[-int(KEPT * sizes.shape[0])]
    kept = xp.where(xp.abs(amplitudes) >= least, amplitudes, xp.zeros_like(amplitudes))
    return fft.idctn(kept, norm="ortho")


def decibels(state: State) -> float:
    """The signal-to-noise ratio of the compressed picture, at peaks of 1."""
    xp = state["xp"]
    error = xp.mean((state["fft: a tenth of the frequencies"] - state["grey"]) ** 2)
    return float(-10 * xp.log10(error))


def upsampled(state: State) -> Array:
    """Twice as many rows and columns, by zeros where the spectrum has no frequencies."""
    from scipy import signal

    rows, columns = state["grey"].shape
    return signal.resample(signal.resample(state["grey"], 2 * rows, axis=0), 2 * columns, axis=1)


def steps() -> list[Step]:
    def largest(result: numpy.ndarray) -> float:
        return float(numpy.max(result))

    return [
        Step("grey", as_grey, ROUNDING),
        Step("ndimage: Gaussian filter, in colour", blur),
        Step("ndimage: edges", edges, ROUNDING),
        Step("ndimage: median filter", median, ROUNDING),
        Step("ndimage: turned by 15 degrees", turned, ROUNDING),
        Step(NUMBERED, regions, number=largest),
        Step("ndimage: distance from the bright", distance, number=largest),
        Step("signal: sharpened", sharpen, ROUNDING),
        Step("signal: smeared", smear, ROUNDING),
        Step("signal: likeness to a cutting", match, CANCELLED, largest),
        Step("signal: row of the cutting", place, number=lambda at: float(at[0])),
        Step("signal: low-pass along rows", low_pass, ROUNDING),
        Step("signal: resampled to twice the size", upsampled, ROUNDING),
        Step("fft: spectrum", spectrum, ROUNDING),
        Step("fft: a tenth of the frequencies", compressed, ROUNDING),
        Step("decibels of that", decibels, ROUNDING),
    ]


# ------------------------------------------------------------------------------
# What came out.
# ------------------------------------------------------------------------------


def file_name(title: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in title).split()) + ".png"


def save(state: State, folder: Path) -> list[Path]:
    """Save every result that is a picture."""
    from matplotlib.image import imsave  # type: ignore[import-not-found, unused-ignore]

    xp = state["xp"]
    folder.mkdir(parents=True, exist_ok=True)
    saved = []
    # Brightness is drawn unscaled; of these results the largest number is white.
    scaled = {"ndimage: edges", "ndimage: distance from the bright", "fft: spectrum"}
    for title, result in [("photograph", state["photograph"]), *((s.title, state[s.title]) for s in steps())]:
        if getattr(result, "ndim", 0) < 2:
            continue
        # Matplotlib draws NumPy's arrays: a view of the same memory.
        pixels = numpy.asarray(result)
        if title == NUMBERED:
            # Neighbours get colours far apart: multiples of the golden section, modulo 1.
            pixels = numpy.asarray(xp.where(result > 0, 0.1 + 0.9 * (result * 0.618034 % 1), 0.0))
        saved.append(folder / file_name(title))
        if result.ndim == 3:
            imsave(saved[-1], pixels if result.dtype == xp.uint8 else numpy.clip(pixels, 0, 1))
        else:
            colours = "nipy_spectral" if title == NUMBERED else "gray"
            imsave(saved[-1], pixels, cmap=colours, vmin=0, vmax=pixels.max() if title in scaled else 1)
    return saved


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--image", choices=PHOTOGRAPHS, default=PHOTOGRAPHS[0], help="which photograph (china.jpg)"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("scipy_image"), metavar="DIR", help="for the pictures"
    )
    parser.add_argument(
        "--repeat", type=int, default=5, metavar="N", help="times it is run in each library (5)"
    )
    parser.add_argument("--quick", action="store_true", help="time each step once, of every second pixel")
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")

    photograph = load(options.image, 2 if options.quick else 1)
    height, width, _ = photograph.shape
    cutting = (height // 3, width // 2, height // 8)

    def prepare(xp: Any) -> State:
        return {"xp": xp, "photograph": xp.asarray(photograph), "cutting": cutting}

    rows, states = run(steps(), prepare, LIBRARIES, 1 if options.quick else options.repeat)
    same = report(rows, states, LIBRARIES)

    ours = states[1]
    row, column = (int(n) for n in numpy.asarray(ours["signal: row of the cutting"]))
    found = (row, column) == cutting[:2]
    if not found:
        print(f"\nNOT FOUND: the cutting is from {cutting[:2]}, not {(row, column)}")
    clear = ours["decibels of that"] >= WANTED_DECIBELS
    if not clear:
        print(f"\nTOO BLURRED: {ours['decibels of that']:.1f} dB, not {WANTED_DECIBELS}")
    saved = save(ours, options.output)
    print(f"\n{len(saved)} pictures of {width} x {height} pixels in {options.output}")
    return 0 if same and found and clear else 1


if __name__ == "__main__":
    sys.exit(main())
