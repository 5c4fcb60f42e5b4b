"""Forms of `ndimage` at the edges of their parameters: no elements, flat images, absent labels."""

from __future__ import annotations

import importlib
import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad, jvp, vmap
from stride0.testing import check_grad

pytest.importorskip("scipy", minversion="1.17", reason="the cases are those of SciPy 1.17")
ours = importlib.import_module("stride0.autograd.scipy").ndimage
theirs = importlib.import_module("scipy.ndimage")

MODES = ["reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-wrap", "grid-constant"]
each_mode = pytest.mark.parametrize("mode", MODES)
SHAPES = [(0,), (1,), (2,), (5,), (0, 3), (3, 0), (0, 0), (1, 3), (2, 2), (3, 4), (2, 0, 3)]


def apart(shape: tuple[int, ...], seed: int = 0) -> Any:
    """Distinct numbers in random order."""
    count = int(np.prod(shape))
    return np.random.default_rng(seed).permutation(np.arange(float(count))).reshape(shape) * 0.37 + 0.1


def same(found: Any, expected: Any) -> None:
    assert found.shape == np.shape(expected) and found.dtype.name == np.asarray(expected).dtype.name
    assert np.allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-11, equal_nan=True)


# --- filters of arrays of any size

FILTERS: list[tuple[str, dict[str, Any]]] = [
    ("gaussian_filter", {"sigma": 1.0}),
    ("gaussian_filter", {"sigma": 0.5, "order": 1}),
    ("gaussian_filter1d", {"sigma": 1.0, "axis": 0}),
    ("gaussian_laplace", {"sigma": 1.0}),
    ("gaussian_laplace", {"sigma": 1.0, "axes": (0,)}),
    ("gaussian_gradient_magnitude", {"sigma": 1.0}),
    ("gaussian_gradient_magnitude", {"sigma": 1.0, "axes": (-1,)}),
    ("gaussian_gradient_magnitude", {"sigma": 1.0, "axes": ()}),
    *[("laplace", {"axes": axes}) for axes in (None, 0, ())],
    *[(name, {"axis": axis}) for name in ("sobel", "prewitt") for axis in (0, -1)],
    *[("uniform_filter", {"size": size}) for size in (1, 2, 3)],
    ("uniform_filter1d", {"size": 3, "axis": 0}),
    *[(name, {"size": size}) for name in ("maximum_filter", "median_filter") for size in (1, 2)],
    ("minimum_filter1d", {"size": 3}),
    ("percentile_filter", {"percentile": 20, "size": 3}),
    ("rank_filter", {"rank": -1, "size": 2}),
    *[(f"grey_{name}", {"size": 3}) for name in ("erosion", "dilation", "opening", "closing")],
    *[(f"morphological_{name}", {"size": 3}) for name in ("gradient", "laplace")],
    *[(f"{name}_tophat", {"size": 3}) for name in ("white", "black")],
]


@each_mode
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_filters_of_arrays_of_any_size(shape: tuple[int, ...], mode: str) -> None:
    x = apart(shape)
    more = {"cval": 0.7} if "constant" in mode else {}
    for name, options in FILTERS:
        found = getattr(ours, name)(xp.asarray(x), mode=mode, **options, **more)
        same(found, getattr(theirs, name)(x, mode=mode, **options, **more))


@each_mode
@pytest.mark.parametrize("name", ["correlate", "convolve"])
def test_weights_of_any_size_and_origin(name: str, mode: str) -> None:
    for shape, size, origin in itertools.product(
        [(0,), (1,), (3,), (0, 2), (2, 3)], (1, 2, 3, 4), (-1, 0, 1)
    ):
        x, w = apart(shape), np.linspace(-1.0, 2.0, size ** len(shape)).reshape((size,) * len(shape))
        calls = [
            (name, w, {}),
            (name, w.reshape(-1)[:size], {"axes": 0}),
            (f"{name}1d", w.reshape(-1)[:size], {}),
        ]
        for function, weights, more in calls:
            options = {"mode": mode, "origin": origin, "cval": 0.7, **more}
            try:
                expected = getattr(theirs, function)(x, weights, **options)
            except ValueError:
                with pytest.raises(ValueError, match="origin"):
                    getattr(ours, function)(xp.asarray(x), xp.asarray(weights), **options)
            else:
                same(getattr(ours, function)(xp.asarray(x), xp.asarray(weights), **options), expected)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)], ids=str)
def test_gradients_and_batches_of_no_elements(shape: tuple[int, ...]) -> None:
    x, w = xp.zeros(shape), xp.asarray([1.0, 2.0, -1.0])
    for f in (lambda x: ours.gaussian_filter(x, 1.0), lambda x: ours.median_filter(x, 3), ours.laplace):
        assert grad(lambda x, f=f: xp.sum(f(x)))(x).shape == shape
        assert jvp(f, (x,), (x,))[1].shape == shape
    for f in (lambda x: ours.gaussian_filter(x, 1.0), ours.laplace, ours.sobel):
        assert vmap(f)(xp.zeros((2, *shape))).shape == (2, *shape)
    of_weights = grad(lambda w: xp.sum(ours.correlate1d(x, w, axis=0)))(w)
    assert of_weights.tolist() == [0.0, 0.0, 0.0]
    both = vmap(lambda x, w: ours.correlate1d(x, w, axis=0))(xp.zeros((2, *shape)), xp.ones((2, 3)))
    assert both.shape == (2, *shape)


@pytest.mark.parametrize("shape", [(0,), (0, 3)], ids=str)
def test_functions_that_call_back_or_interpolate_no_elements(shape: tuple[int, ...]) -> None:
    x, y = xp.zeros(shape), np.zeros(shape)
    assert ours.generic_filter(x, xp.sum, size=3).shape == shape
    assert ours.generic_filter1d(x, lambda a, out: None, 3).shape == shape
    assert ours.geometric_transform(x, lambda place: place).shape == shape
    same(ours.map_coordinates(x, xp.zeros((len(shape), 2)), cval=0.5), np.full(2, 0.5))
    for order in range(6):
        same(ours.zoom(x, 2, order=order), theirs.zoom(y, 2, order=order))
        same(ours.shift(x, 0.3, order=order), theirs.shift(y, 0.3, order=order))
    with pytest.raises(ValueError, match="constant"):
        ours.map_coordinates(x, xp.zeros((len(shape), 2)), mode="nearest")


def test_modes() -> None:
    x = apart((3, 4))
    modes = ["mirror", "wrap"]
    for name in ("gaussian_filter", "gaussian_laplace", "gaussian_gradient_magnitude"):
        found = getattr(ours, name)(xp.asarray(x), [1.0, 0.5], mode=modes)
        same(found, getattr(theirs, name)(x, [1.0, 0.5], mode=modes))
    for name in ("sobel", "prewitt", "laplace"):
        same(getattr(ours, name)(xp.asarray(x), mode=modes), getattr(theirs, name)(x, mode=modes))
    for name in ("sobel", "laplace"):
        with pytest.raises(ValueError, match="one of"):
            getattr(ours, name)(xp.asarray(x), mode="mirrored")


@pytest.mark.parametrize("mode", ["reflect", "mirror", "nearest", "constant", "grid-wrap"])
def test_zoom_by_one_is_the_array(mode: str) -> None:
    for shape in ((2,), (3,), (2, 2)):
        x = apart(shape)
        same(ours.zoom(xp.asarray(x), 1.0, mode=mode), theirs.zoom(x, 1.0, mode=mode))


# --- lengths of gradients

LENGTHS = {
    "gaussian": lambda x, mode: ours.gaussian_gradient_magnitude(x, 1.0, mode=mode),
    "wide": lambda x, mode: ours.gaussian_gradient_magnitude(x, 2.5, mode=mode),
    "sobel": lambda x, mode: ours.generic_gradient_magnitude(x, ours.sobel, mode=mode),
    "prewitt": lambda x, mode: ours.generic_gradient_magnitude(x, ours.prewitt, mode=mode),
    "morphological": lambda x, mode: ours.morphological_gradient(x, 3, mode=mode),
}
each_length = pytest.mark.parametrize("f", LENGTHS.values(), ids=list(LENGTHS))


def _slopes(f: Any, x: Any) -> list[Any]:
    """Return the gradient, the gradient of its squares, and a derivative in a direction."""

    def total(x: Any) -> Any:
        return xp.sum(xp.real(f(x)))

    return [
        np.asarray(grad(total)(x)),
        np.asarray(grad(lambda x: xp.sum(xp.abs(grad(total)(x)) ** 2))(x)),
        np.asarray(jvp(f, (x,), (xp.ones_like(x),))[1]),
    ]


@each_mode
@each_length
def test_flat_images_have_the_gradient_zero(f: Any, mode: str) -> None:
    flat = xp.zeros((4, 5)) if "constant" in mode else xp.full((4, 5), 0.7)
    for x in (flat, xp.astype(flat, xp.float32), flat[0, :], flat.T):
        for slope in _slopes(lambda x: f(x, mode), x):
            assert not slope.any()
    if f is not LENGTHS["morphological"]:
        assert not np.asarray(vmap(grad(lambda x: xp.sum(f(x, mode))))(xp.stack([flat, flat]))).any()


@each_mode
@pytest.mark.parametrize("f", list(LENGTHS.values())[:4], ids=list(LENGTHS)[:4])
def test_images_that_are_flat_in_places(f: Any, mode: str) -> None:
    ramp = np.add.outer(np.arange(4.0) ** 2, np.sin(np.arange(5.0)))
    step = np.where(np.arange(12.0) < 6, 0.0, 1.0) * np.ones((3, 1))
    for x in (ramp, step, ramp[0]):
        for slope in _slopes(lambda x: f(x, mode), xp.asarray(x)):
            assert np.isfinite(slope).all()


@pytest.mark.parametrize("mode", ["reflect", "mirror", "wrap"])
def test_gradients_of_lengths(mode: str) -> None:
    x = xp.asarray(apart((4, 5)))
    for f in list(LENGTHS.values())[:4]:
        if mode != "mirror":  # by symmetry the length at the corners is 0
            check_grad(lambda x, f=f: f(x, mode), x, order=2, rtol=1e-5, atol=1e-5)
        check_grad(lambda x, f=f: f(x, mode)[1:-1, 1:-1], x, order=2, rtol=1e-5, atol=1e-5)


def test_lengths_of_complex_and_of_tiny_images() -> None:
    x = apart((4, 5)) + 1j * apart((4, 5), seed=1)
    same(ours.gaussian_gradient_magnitude(xp.asarray(x), 1.0), theirs.gaussian_gradient_magnitude(x, 1.0))
    flat = xp.full((4, 5), 1 + 1j)
    assert not _slopes(lambda x: ours.gaussian_gradient_magnitude(x, 1.0), flat)[0].any()
    # Squares of its parts are zero in float32.
    image = apart((4, 5)).astype(np.float32)
    tiny, usual = (
        _slopes(lambda x: ours.gaussian_gradient_magnitude(x, 1.0), xp.asarray(image * np.float32(factor)))[0]
        for factor in (2.0**-90, 1.0)
    )
    assert np.allclose(tiny, usual, rtol=1e-4, atol=1e-5)


# --- measurements

MEASUREMENTS = ["sum", "sum_labels", "mean", "variance", "standard_deviation", "minimum", "maximum", "median"]
LABELS: dict[str, Any] = {
    "none": lambda n: None,
    "one": lambda n: np.ones(n, dtype=int),
    "zero": lambda n: np.zeros(n, dtype=int),
    "few": lambda n: np.arange(n) % 3,
    "far": lambda n: np.arange(n) % 3 * 1000,
    "negative": lambda n: np.arange(n) % 3 * 2 - 2,
    "floats": lambda n: np.arange(n) % 2 * 1.5,
    "bytes": lambda n: (np.arange(n) % 4).astype(np.uint8),
}
INDICES = [None, 0, 1, 2, 7, -2, 1.5, np.int64(1), [1], [0, 1, 2], [1, 7], [7, 1, 2], [1, 1, 2], [-5, 0], []]


def expected_of(name: str, x: Any, labels: Any, index: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = np.asarray(getattr(theirs, name)(x, labels, index), dtype=float)
    if name == "median" and isinstance(index, list) and labels is not None:
        # For an absent label, SciPy returns an arbitrary element as the median.
        found[[not (labels == i).any() for i in index]] = np.nan
    return found


@pytest.mark.parametrize("made", LABELS.values(), ids=list(LABELS))
@pytest.mark.parametrize("shape", [(7,), (1,), (2, 3)], ids=str)
@pytest.mark.parametrize("name", MEASUREMENTS)
def test_measurements_of_labels_that_there_are_not(name: str, shape: tuple[int, ...], made: Any) -> None:
    x, count = apart(shape), int(np.prod(shape))
    labels = made(count)
    labels = None if labels is None else labels.reshape(shape)
    given = None if labels is None else xp.asarray(labels)
    for index in INDICES:
        try:
            expected = expected_of(name, x, labels, index)
        except ValueError:
            with pytest.raises(ValueError, match="no elements"):
                getattr(ours, name)(xp.asarray(x), given, index)
        else:
            same(getattr(ours, name)(xp.asarray(x), given, index), expected)


def test_the_median_of_a_label_that_there_is_not() -> None:
    x, labels = xp.asarray([3.0, 1.0, 2.0, 5.0]), xp.asarray([1, 1, 3, 3])
    assert np.isnan(float(ours.median(x, labels, 9))) and np.isnan(float(ours.median(x, labels, 2)))
    assert str(ours.median(x, labels, [1, 2, 3, 9]).tolist()) == "[2.0, nan, 3.5, nan]"
    assert np.isnan(float(ours.median(xp.zeros(0))))


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_measurements_of_no_elements(name: str) -> None:
    x, labels = xp.zeros((0, 3)), xp.zeros((0, 3), dtype=xp.int64)
    for given in (None, labels):
        try:
            expected = expected_of(
                name, np.zeros((0, 3)), None if given is None else np.zeros((0, 3), int), None
            )
        except ValueError:
            with pytest.raises(ValueError, match="no elements"):
                getattr(ours, name)(x, given)
        else:
            same(getattr(ours, name)(x, given), expected)


@pytest.mark.parametrize("index", [1, 7, [1, 7], [0, 1, 2]])
def test_centres_extrema_and_comprehensions(index: Any) -> None:
    x, labels = apart((2, 3)), np.arange(6).reshape(2, 3) % 3
    mine = xp.asarray(x), xp.asarray(labels), index
    with np.errstate(all="ignore"):
        expected = theirs.center_of_mass(x, labels, index)
    rows = ours.center_of_mass(*mine)
    found = [[float(c) for c in row] for row in (rows if isinstance(index, list) else [rows])]
    assert np.allclose(found, expected, equal_nan=True)
    if index == 7:
        with pytest.raises(ValueError, match="no elements"):
            ours.extrema(*mine)
    else:
        for one, other in zip(ours.extrema(*mine), theirs.extrema(x, labels, index), strict=True):
            assert np.array_equal(np.asarray(one), np.asarray(other))
    largest = ours.labeled_comprehension(*mine, xp.max, float, -1.0)
    same(largest, theirs.labeled_comprehension(x, labels, index, np.max, float, -1.0))


def test_labels_broadcast_both_ways() -> None:
    x, labels = apart((2, 3)), np.asarray([1, 2, 1])
    same(ours.mean(xp.asarray(x), xp.asarray(labels), [1, 2]), theirs.mean(x, labels, [1, 2]))
    same(ours.sum(xp.asarray(x[0]), xp.asarray([[1], [2]]), [1, 2]), theirs.sum(x[0], [[1], [2]], [1, 2]))


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_nans_are_scipys(name: str) -> None:
    x, labels = np.asarray([1.0, np.nan, 3.0, 2.0, 5.0]), np.asarray([1, 1, 1, 2, 2])
    for index in (None, 1, 2, [1, 2]):
        same(
            getattr(ours, name)(xp.asarray(x), xp.asarray(labels), index),
            expected_of(name, x, labels, index),
        )


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_gradients_of_measurements(name: str) -> None:
    f, labels = getattr(ours, name), xp.asarray([1, 1, 2, 2, 4, 4])
    x = xp.asarray(apart((6,)))
    for index in ([1, 2, 4], 2, None):
        check_grad(lambda x, index=index: f(x, labels, index), x, order=2)
    # A NaN in one region does not affect other regions.
    slope = grad(lambda x: xp.sum(f(x, labels, [1, 3, 4, 9])[xp.asarray([0, 2])]))(x)
    whole = grad(lambda x: xp.sum(f(x, labels, [1, 4])))(x)
    assert np.isfinite(np.asarray(slope)).all() and slope.tolist() == whole.tolist()
    assert np.isfinite(np.asarray(grad(lambda x: xp.sum(f(x, labels, [1, 2, 4])))(xp.ones(6)))).all()
