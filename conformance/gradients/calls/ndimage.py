"""Calls of scipy.ndimage."""

from __future__ import annotations

import numpy as np

from conformance.gradients.calls.parts import call, named, scipy_function
from conformance.gradients.operands import NUM, A, X, Y, apart, normal

PICTURE = apart(6, 7)
LABELS = np.asarray([[1, 1, 1, 1, 2, 2, 2, 2]] * 3)

CALLS = [
    *named(
        "ndimage",
        "gaussian_filter gaussian_filter1d gaussian_gradient_magnitude gaussian_laplace",
        X,
        sigma=1.0,
    ),
    *named("ndimage", "gaussian_filter", X, note="order=1", sigma=1.0, order=1, mode="wrap"),
    *named("ndimage", "gaussian_filter", X, note="constant", sigma=(1.0, 2.0), mode="constant", cval=1.0),
    *named("ndimage", "laplace prewitt sobel spline_filter spline_filter1d", X),
    *named("ndimage", "uniform_filter uniform_filter1d", X, size=3),
    *named("ndimage", "convolve correlate", X, Y[:2, :2]),
    *named("ndimage", "convolve correlate", X, Y[:3, :3], note="mirror", mode="mirror"),
    *named("ndimage", "convolve1d correlate1d", X, NUM),
    *named("ndimage", "affine_transform", normal(6, 6), np.eye(2) + 0.1, order=1),
    *named("ndimage", "affine_transform", normal(6, 6), note="cubic", matrix=np.eye(2) + 0.1),
    *named("ndimage", "map_coordinates", normal(6, 6), 2 * A[:2]),
    *named("ndimage", "map_coordinates", normal(6, 6), 2 * A[:2] + 0.013, note="linear", order=1),
    *named("ndimage", "shift", X, NUM[:2]),
    *named("ndimage", "rotate", X, angle=20.0),
    *named("ndimage", "zoom", X, zoom=1.5),
    *named("ndimage", "fourier_gaussian", X + 0j, sigma=1.0),
    *named("ndimage", "fourier_ellipsoid fourier_uniform", X + 0j, size=2.0),
    *named("ndimage", "fourier_shift", X + 0j, shift=1.3),
    *named(
        "ndimage",
        "maximum_filter maximum_filter1d median_filter minimum_filter minimum_filter1d",
        PICTURE,
        size=3,
    ),
    *named("ndimage", "percentile_filter", PICTURE, percentile=30, size=3),
    *named("ndimage", "rank_filter", PICTURE, rank=1, size=3),
    *named("ndimage", "black_tophat grey_closing grey_dilation grey_erosion grey_opening", PICTURE, size=3),
    *named("ndimage", "morphological_gradient morphological_laplace white_tophat", PICTURE, size=3),
    call("ndimage.generic_filter", lambda xp, f, x: f(x, np.mean, size=3), X),
    call("ndimage.generic_filter1d", lambda xp, f, x: f(x, _copied, filter_size=3), X),
    call("ndimage.vectorized_filter", lambda xp, f, x: f(x, xp.mean, size=3), X),
    call("ndimage.generic_laplace", lambda xp, f, x: f(x, _derivative), X),
    call("ndimage.generic_gradient_magnitude", lambda xp, f, x: f(x, _derivative), X),
    call("ndimage.geometric_transform", lambda xp, f, x: f(x, lambda at: (at[0] + 0.3, at[1] * 0.9)), X),
    *named(
        "ndimage",
        "maximum mean median minimum standard_deviation sum sum_labels variance",
        A,
        labels=LABELS,
        index=np.asarray([1, 2]),
    ),
    *named("ndimage", "center_of_mass extrema", A),
    call(
        "ndimage.labeled_comprehension",
        lambda xp, f, x: f(x, xp.asarray(LABELS), xp.asarray([1, 2]), np.mean, float, 0.0),
        A,
    ),
    *named("ndimage", "distance_transform_edt distance_transform_bf", X),
    call("ndimage.gaussian_filter output", lambda xp, f, x, out: f(x, 1.0, output=out), X, Y),
]


def _copied(given: object, result: object) -> None:
    result[:] = given[1:-1]  # type: ignore[index]


def _derivative(x: object, axis: int, output: object, mode: str, cval: float) -> object:
    return scipy_function("ndimage.correlate1d")(x, [-1, 0, 1], axis, output, mode, cval)


NOT_CALLED: dict[str, str] = {
    "returns truth values": (
        "ndimage.binary_closing ndimage.binary_dilation ndimage.binary_erosion ndimage.binary_fill_holes"
        " ndimage.binary_hit_or_miss ndimage.binary_opening ndimage.binary_propagation"
        " ndimage.iterate_structure"
    ),
    "returns integers or positions": (
        "ndimage.distance_transform_cdt ndimage.find_objects ndimage.histogram"
        " ndimage.label ndimage.maximum_position"
        " ndimage.minimum_position ndimage.value_indices ndimage.watershed_ift"
    ),
}
