"""Calls as texts, evaluated with NumPy and with `stride0.numpy` as `np`.

`a` and `b` are matrices of 3 by 4, `s` is a square matrix, `h` a symmetric one, `v` and `w` are vectors of 4,
`i` is an integer vector, `c` a complex one, `m` a mask of `a`, `f` a vector of float32, `t` an array of 2 by
3 by 4, and `n` has a NaN.
"""

from __future__ import annotations

from typing import Any, Final

import numpy

RNG = numpy.random.default_rng(0)
_ROOT = RNG.standard_normal((3, 3))
SAMPLES: Final[dict[str, Any]] = {
    "a": RNG.uniform(0.2, 3, (3, 4)),
    "b": RNG.uniform(0.5, 2, (3, 4)),
    "s": _ROOT + 3 * numpy.eye(3),
    "h": _ROOT @ _ROOT.T + numpy.eye(3),
    "v": numpy.asarray([1.0, 2.0, 3.0, 4.0]),
    "w": numpy.asarray([0.5, 1.0, 2.5, -1.0]),
    "i": numpy.asarray([3, 1, 2, 1]),
    "c": numpy.asarray([1 + 2j, 3 - 1j]),
    "m": numpy.asarray([[True, False, True, False]] * 3),
    "f": numpy.asarray([1.5, 2.5, -3.5], dtype="float32"),
    "t": RNG.standard_normal((2, 3, 4)),
    "n": numpy.asarray([[1.0, numpy.nan, 3.0], [4.0, 5.0, 6.0]]),
}

CALLS: Final = """
np.nanquantile(n, 0.5) | np.nanquantile(n, [0.1, 0.9], axis=1) | np.nanquantile(n, 0.3, axis=0, keepdims=True)
np.nanpercentile(n, 30, axis=(0, 1)) | np.nanpercentile(i, 50)
np.nanquantile(n, 0.5, axis=1, method='nearest') | np.nanquantile(np.where(m, np.nan, a), [[0.2], [0.7]], axis=1)
np.nanquantile(np.where(t > 0, t, np.nan), 0.25, axis=(0, 2)) | np.nanquantile(f, 2.0) | np.nanquantile(v, 0.5, 1)
np.nanpercentile(f, [20, 80]) | np.nanquantile(v, 0.5, out=np.zeros(()), keepdims=False) | np.nanquantile(c, 0.5)
np.unwrap([0, 3, 7, 1.5]) | np.unwrap(a * 4, axis=0) | np.unwrap([0, 2, 5, 1], period=4) | np.unwrap(f * 3)
np.unwrap(v * 3, discont=4) | np.unwrap(i, period=3) | np.unwrap([0, 75, 150, 225, 300, 430], period=360)
np.diff(v, 0, append=0) | np.diff(a, 0, 0, [9]) | np.unwrap(a, axis=5) | np.unwrap([1.0, 1 + np.pi, 1.0, 1 - np.pi])
np.piecewise(v, [v < 2, v >= 3], [-1, lambda x: x * 2]) | np.piecewise(w, [w < 0, w > 2], [1, 2, np.exp])
np.piecewise(v, v > 2, [lambda x, k: x * k], 3) | np.piecewise(i, [i > 1], [0.7, 5]) | np.piecewise(v, [v > 1], [])
np.piecewise(np.array(2.0), np.array(2.0) > 1, [7, 8]) | np.piecewise(a, [a > 2, a < 1], [lambda x: x[:] + 1, 0, 9])
np.piecewise(v, [[True, False, True, False]], [1.5, 2.5])
np.apply_along_axis(lambda x: x.sum(), 0, a) | np.apply_along_axis(lambda x: x[:2], 1, t)
np.apply_along_axis(lambda x: x[:, None] * x, 0, a) | np.apply_along_axis(lambda x, k: x * k, -1, a, 2)
np.apply_along_axis(np.sort, 3, a) | list(np.ndindex(2, 3)) | list(np.ndenumerate(i)) | list(np.ndindex((2,)))
np.vectorize(lambda x, y: x - y if x > y else x + y)(v, 2) | np.vectorize(lambda x: (x, x * 2))(i)
np.vectorize(lambda x: x + 1, otypes=[float])(i) | np.vectorize(lambda x: x, otypes='d')(np.zeros((0, 2)))
np.vectorize(lambda x: x)([]) | np.vectorize(lambda x, p: x * p[0], excluded=['p'])(v, p=[3, 4])
np.vectorize(lambda x, p: x * p[0], excluded={1})(v, [3, 4]) | np.vectorize(lambda x: 1 if x < 2 else 2.5)(v)
np.vectorize(lambda x, y: x * y)(a, v[:, None][:3]) | np.vectorize(abs)(-3.5) | np.vectorize(lambda x, y=2: x * y)(v)
np.histogramdd([v, w], bins=2)[0] | np.histogramdd(a[:, :2], (2, [0, 1, 4]))[0] | np.histogramdd(a, 2)[1]
np.histogramdd([v, w], 2, [(0, 4), (0, 1)])[0] | np.histogramdd([v, w], [2, 3], density=True)[0]
np.histogramdd([v, w], 2, weights=[1, 2, 3, 4]) | np.histogramdd([v, w, v], (1, 2)) | np.histogramdd(v, 3)[0]
np.histogram2d(v, w, 3)[0] | np.histogram2d(v, w, [0, 2, 5]) | np.histogram2d(v, w, [2, 3], density=True)
np.histogram2d(v, w[:2]) | np.histogram2d(v, w, [[0, 2, 5], 2])[2]
np.polyadd([1, 2], [9, 5, 4]) | np.polysub([2, 10, -2], [3, 10.5]) | np.polydiv([3, 5, 2], [2, 1]) | np.polydiv([1], [2, 1])
np.polyint([3, 2, 1]) | np.polyint([3, 2.0], 2, [5, 6]) | np.polyint([1], -1) | np.polyint(v, 2, 7) | np.polyint([1, 2], 3, [1, 2])
np.polyder([3, 2, 1], 2) | np.polyder([3, 2, 1], -1) | np.poly([2, -1, 0]) | np.poly(s) | np.poly([]) | np.poly([1j, -1j])
np.poly([1j, 2]) | np.poly(a) | np.sort(np.roots([1, -6, 11, -6])) | np.roots([0, 2, 4, 0, 0]) | np.roots([0, 0]) | np.roots([3])
np.roots(a) | np.roots([1, 0, 1]) | np.poly1d([0, 1, 2]).c | np.poly1d([1, 2, 3])(v) | np.poly1d([2, 3], True).coeffs
str(np.poly1d([1, 2.5, 3])) | repr(np.poly1d(v)) | (np.poly1d([1, 2]) * np.poly1d([1, 3])).c | (np.poly1d([1, 2]) ** 3).c
(np.poly1d([1, 2]) + 5).c | (5 - np.poly1d([1, 2])).c | (-np.poly1d([1, 2])).c | (np.poly1d([1, 2]) / 2).c | len(np.poly1d(v))
[p.c for p in np.poly1d([3, 5, 2]) / np.poly1d([2, 1])] | np.poly1d([1, 2]) == np.poly1d([0, 1, 2]) | np.poly1d(a)
np.poly1d([3, 2, 1]).deriv().c | np.poly1d([3, 2, 1]).integ(1, 4).c | np.poly1d([1, 2])[1] | np.poly1d([1, 2])[7]
np.poly1d([1, -3, 2]).r | np.poly1d([1, 2]).o | np.poly1d([1, 2], variable='z').variable | np.poly1d([1, 2]) ** -1
np.poly1d([1, 2])(np.poly1d([1, 1])).c | np.asarray(np.poly1d(v)) | np.polyval(np.poly1d([1, 2]), 3.0) | np.poly1d([0, 0]).c
np.linalg.diagonal(t) | np.linalg.diagonal(t, offset=1) | np.linalg.trace(t) | np.linalg.outer(v, w)
np.linalg.outer(a, v) | np.linalg.matrix_transpose(t) | np.linalg.cond(a * 0 + 1) | np.linalg.multi_dot([a])
np.linalg.cond(s * 0, 1) | np.linalg.cond(np.stack([s, s * 0]), 'fro') | np.linalg.cond(np.stack([s, s * 0]))
np.linalg.cond(np.zeros((0, 0))) | np.linalg.pinv(a, 1e-15, rtol=1e-15)
np.linalg.matrix_rank(a, 1e-9, rtol=1e-9) | np.gradient(v, np.array([9, 4, 2, 1], 'uint8'))
np.gradient(v[:3], np.array([-120, 0, 120], 'int8')) | np.gradient(v, np.array([9, 4, 2, 1], 'uint64'))
np.select([i, v > 1], [v, w]) | np.ix_(a) | np.ix_([], i) | np.setdiff1d([3, 2, 1], [2], assume_unique=True)
np.setdiff1d([[3, 2], [1, 3]], [2]) | np.setxor1d([1, 2, 3], [3, 2, 4.5]) | np.isin(i, [1, 2], kind='sort')
np.histogram(v, weights=i)[0] | np.histogram(v, weights=v)[0] | np.histogram(v, weights=i, density=True)[0]
np.histogram(np.ones(1, 'f2'), 1, (np.float32(1.0000001), np.float32(2))) | np.histogram_bin_edges(v, 3)
np.linspace(0, np.full(2, 7e-45, 'f4'), 7, endpoint=False)
np.vsplit(v, 2) | np.hsplit(np.array(1), 1) | np.dsplit(a, 2) | np.percentile(f, np.float64(50)) | np.sum(-v)
np.percentile(f, [50]) | np.percentile(f, 50) | np.quantile(f, np.array([0.5]), method='nearest')
np.quantile(f, np.float64(0.5), method='midpoint') | np.quantile(f, np.float32(0.3)) | np.nancumsum(n, 1)
np.nancumprod(n) | np.nancumsum(np.array([np.inf, np.nan, 1])) | np.pad(a, 2, 'mean') | np.pad(i, 2, 'mean')
np.pad(i, (1, 2), 'maximum', stat_length=2) | np.pad(a, ((0, 1), (2, 0)), 'minimum') | np.pad(i, 1, 'median')
np.pad(v, 3, 'linear_ramp', end_values=(-2, 9)) | np.pad(i, 3, 'linear_ramp', end_values=7)
np.pad(np.array([5, 2], 'u1'), 4, 'linear_ramp') | np.pad(v, -1, 'mean') | np.pad(v, 1.5, 'mean')
np.pad(v, 1, 'maximum', stat_length=0) | np.pad(t, ((1, 0), (0, 2), (1, 1)), 'mean', stat_length=1)
np.trim_zeros(i % 3) | np.trim_zeros(i % 3, 'f') | np.trim_zeros(i % 3, 'b') | np.trim_zeros(i > 2, 'b')
np.trim_zeros(i * 0) | np.trim_zeros(np.pad(a, 1)) | np.trim_zeros(np.eye(3)[1:], axis=0)
np.unique([[2, 1], [1, 3], [2, 1]], axis=0) | np.unique(m, axis=1, return_counts=True) | np.bincount([])
np.unique([[2, 1], [1, 3], [2, 1]], True, True, axis=0) | np.ediff1d(v, to_end=[7, 8], to_begin=-1)
np.ediff1d(i, to_end=1.5) | np.hanning(5) | np.hanning(1) | np.hanning(0) | np.hamming(4) | np.blackman(6)
np.bartlett(5) | np.kaiser(5, 14) | np.kaiser(1, 2) | np.kaiser(4, 0) | np.i0([0, 1, 20])
np.spacing([1.0, -1.0, 0.0, np.inf, np.nan]) | np.spacing(f) | np.isneginf(w, np.zeros(4, bool))
np.tril_indices_from(a) | np.triu_indices_from(a, 1) | np.iscomplexobj(c) | np.isrealobj([1])
np.asfortranarray(a) | np.may_share_memory(a, a[1:]) | np.isrealobj(c) | np.bincount([], minlength=2)
np.typecodes['AllInteger'] | np.sign(np.array([complex(np.inf, 2), complex(-np.inf, 0), complex(3, -np.inf)]))
np.sign(np.array([complex(np.inf, np.inf), complex(np.nan, 1), 0, 3 - 4j]))
np.unique([1, np.nan, 0, np.nan])
np.unique(np.array([np.nan, 2.0, np.nan, 1.0, np.nan]), True, True, True)
np.unique([np.nan, 1], equal_nan=False)
np.unique([np.nan, 1, np.nan], True, True, True, equal_nan=False) | np.nanmean(n, dtype=int)
np.nanvar(n, dtype=int)
np.nanstd(n, dtype='f4') | np.std(v, ddof=1, correction=1) | np.std(v, correction=1)
np.einsum(a, np.array([0, 1]), [1]) | np.ix_(np.zeros(0, 'f4')) | np.hanning(np.uint8(10))
np.kaiser(np.int8(9), 2)
np.spacing(np.array([-0.0, -1.0, 2.0], 'f2')) | np.spacing(-0.0) | np.isposinf(c) | np.trim_zeros(i, 'q')
np.isneginf(np.array([-np.inf, np.nan, np.inf])) | np.block(a) | np.block((a, a)) | np.block([v, [w]])
np.delete(v, []) | np.delete(v, np.array([1.0])) | np.meshgrid(v, w, indexing='ji') | np.gradient(a, v)
np.concatenate((v, w), out=np.zeros((2, 8))) | np.concatenate((v, v), out=np.zeros(8)) | np.take(a, 1, axis=1)
np.sum(a, axis=0, out=np.zeros((2, 4))) | np.add(v, 1, out=np.zeros((2, 4)))
np.add(v, 1, out=np.zeros((4, 1)))
np.add(a, 1, out=np.zeros(4)) | np.pad(np.ones((2, 0)), 1, 'mean') | np.pad(np.ones((2, 0)), 1, 'linear_ramp')
np.array([1, 2, 3]) | np.array([1, 2.5]) | np.array([[1, 2], [3, 4]], dtype=float) | np.array([True, False])
np.array([1, 2], 'f4') | np.array(3) | np.array([1 + 2j, 3]) | np.array(v, copy=True) | np.array([v, w])
np.array([1, 2], ndmin=3) | np.array([]) | np.array([[1, 2], [3]]) | np.array(range(4)) | np.asarray((1, 2))
np.asarray(v, dtype=np.float32) | np.asarray([1.9, -1.9], dtype=int) | np.array([1, 2], dtype='int32')
np.array([1, 2], dtype=np.uint8) | np.ascontiguousarray(a.T) | np.copy(a) | np.zeros(3)
np.zeros((2, 3), int) | np.zeros([2, 3]) | np.ones((2,), dtype=bool) | np.full((2, 2), 7) | np.full(3, 1.5)
np.full((2, 3), [1, 2, 3]) | np.full(3, 2.5, dtype=int) | np.zeros_like(i) | np.ones_like(a, dtype=int)
np.full_like(i, 2.7) | np.arange(f[0], f[0] + 3) | np.linspace(f, f + 1, 3)
np.linspace(np.uint8(9), np.uint8(3), 4) | np.hypot(m, 1) | np.hypot(np.int8(3) * np.ones(2, np.int8), 1)
np.heaviside(np.ones(2, np.int8), 0.5) | np.angle(m) | np.max(m, where=m, initial=0)
np.average(f, returned=True) | np.sinc(m) | np.setdiff1d(i, [1, 7]) | np.intersect1d(i, [1.0, 2.5])
np.union1d(i, [0.5]) | np.reshape(v, np.array([2, 2])) | np.zeros_like([1, 2])
np.ones_like(v, shape=(2, 2)) | np.empty((2, 0)) | np.empty_like(a).shape | np.eye(3)
np.eye(3, 4, 1, dtype=int) | np.identity(3) | np.tri(3, 4, 1) | np.arange(5) | np.arange(1, 6, 2)
np.arange(0.0, 1.0, 0.25) | np.arange(3, dtype=float) | np.arange(5, 0, -1) | np.arange(2, 5, dtype='f4')
np.arange(np.int64(3)) | np.linspace(0, 1) | np.linspace(0, 1, 5) | np.linspace(0, 10, 4, endpoint=False)
np.linspace(0, 1, 5, retstep=True) | np.linspace(1, 10, 4, dtype=int) | np.linspace(v, w, 3)
np.linspace([0, 1], [2, 3], 3, axis=1) | np.linspace(2, 3, 1) | np.logspace(0, 2, 3)
np.logspace(0, 3, 4, base=2) | np.geomspace(1, 8, 4) | np.meshgrid(v, w) | np.meshgrid(v, i)
np.meshgrid(v, w, indexing='ij') | np.meshgrid(v, i, sparse=True) | np.indices((2, 3))
np.indices((2, 3), sparse=True) | np.fromfunction(lambda p, q: p + q, (2, 3)) | np.fromiter(range(3), float)
np.mgrid[0:2, 0:3] | np.mgrid[0:1:3j] | np.mgrid[0:1:3j, 0:2] | np.ogrid[0:2, 0:3] | np.r_[1, 2:5, v]
np.c_[v, w] | np.s_[1:2, ...] | np.diag(v) | np.diag(s) | np.diag(s, 1) | np.diag([1, 2], -1)
np.diagflat([[1, 2]]) | np.vander([1, 2, 3], 3) | np.vander(v, increasing=True) | np.tril(a) | np.triu(a, 1)
np.add(v, w) | np.add(v, 1) | np.add([1, 2], [3, 4]) | np.add(1, 2) | np.subtract(i, 1.5)
np.multiply(a, v) | np.divide(i, 2) | np.true_divide(i, i) | np.floor_divide(i, 2) | np.mod(-i, 3)
np.remainder(w, 2) | np.fmod(-i, 3) | np.fmod(-v, 2.5) | np.fmod(i, -2) | np.power(v, 2) | np.power(2, i)
np.power(i, -1) | np.pow(v, 0.5) | np.float_power(i, 2) | np.maximum(v, 2) | np.minimum(a, b)
np.fmax(n, 2) | np.fmin(n, [1, 2, np.nan]) | np.arctan2(v, w) | np.hypot(i, 4) | np.hypot(3, 4)
np.logaddexp(v, w) | np.logaddexp2(v, w) | np.copysign(v, w) | np.nextafter(v, 0) | np.heaviside(w, 0.5)
np.sqrt(i) | np.sqrt([4, 9]) | np.sqrt(4) | np.sqrt(2.0) | np.exp(f) | np.log(v) | np.arcsin(v / 9)
np.arccos(v / 9) | np.arctan(v) | np.arcsinh(v) | np.arccosh(v) | np.arctanh(v / 9) | np.sin(1) | np.cos(i)
np.tan(f) | np.abs(w) | np.absolute(-3) | np.fabs(-i) | np.sign(w) | np.square(i) | np.conj(c)
np.conjugate(c) | np.real(c) | np.imag(c) | np.imag(v) | np.angle(c) | np.angle(c, deg=True) | np.floor(w)
np.ceil(w) | np.trunc(w) | np.rint(w) | np.round(w) | np.round(a, 2) | np.around(i, 1)
np.round(1234.5678, -2) | np.deg2rad([0, 90]) | np.degrees(v) | np.radians(f) | np.rad2deg(v) | np.cbrt(v)
np.exp2(v) | np.sinc(w) | np.signbit(w) | np.signbit(i) | np.isnan(n) | np.isfinite(i) | np.isinf(n)
np.isneginf(w) | np.isposinf(w) | np.isreal(c) | np.iscomplex(c) | np.logical_and(v > 1, w)
np.logical_not(i) | np.logical_or(m, 0) | np.invert(i) | np.bitwise_and(i, 1) | np.left_shift(i, 2)
np.divmod(i, 2) | np.modf(w) | np.modf(-2.5) | np.clip(a, 1, 2) | np.clip(i, None, 2) | np.clip(i, 1.5, 2)
np.clip(v, w, 3) | np.clip(a, min=1) | np.nan_to_num(n) | np.nan_to_num(n, nan=2.0) | np.isclose(v, w)
np.allclose(v, v + 1e-9) | np.equal(i, 1) | np.greater(v, w) | np.not_equal(1, 2)
np.add(v, w, out=np.zeros(4)) | np.add(v, 1, out=np.zeros(4), where=v > 2) | np.add(i, i, out=np.zeros(4))
np.add(v, w, dtype='f4') | np.add(v, v, np.zeros(4, int)) | np.add(v, v, out=np.zeros(3)) | np.add.reduce(a)
np.add.reduce(a, axis=1) | np.maximum.reduce(v) | np.add.accumulate(i) | np.multiply.outer(v, i)
np.subtract.outer([1, 2], [3, 4]) | np.multiply.reduce(a, axis=None) | np.logical_and.reduce(m) | np.sum(a)
np.sum(a, 0) | np.sum(a, axis=(0, 1)) | np.sum([1, 2, 3]) | np.sum(i) | np.sum(m) | np.sum(m, axis=1)
np.sum(f) | np.sum(a, axis=1, keepdims=True) | np.sum(i, dtype=float) | np.sum(a, where=m)
np.sum(a, initial=5) | np.sum(a, axis=5) | np.sum(a, 0, None, np.zeros(4)) | np.prod(i) | np.prod(a, 1)
np.max(a) | np.amax(a, 0) | np.min(a, axis=(0, 1)) | np.amin(i) | np.max([]) | np.max(a, initial=9)
np.max(a, axis=1, keepdims=True) | np.max(a, where=m, initial=0) | np.ptp(a, axis=0) | np.mean(a)
np.mean(i) | np.mean(a, 0) | np.mean(f) | np.mean(a, where=m) | np.mean([1, 2, 4]) | np.var(a)
np.std(a, 0) | np.std(a, ddof=1) | np.var(i, axis=0) | np.std(f) | np.var(a, axis=1, ddof=1, keepdims=True)
np.argmax(a) | np.argmax(a, 0) | np.argmin(a, axis=1) | np.argmax(a, axis=1, keepdims=True) | np.all(m)
np.all(v > 0, axis=0) | np.any(a > 2, 1) | np.any([0, 0]) | np.all(i) | np.count_nonzero(m)
np.count_nonzero(m, axis=0) | np.cumsum(a) | np.cumsum(a, 1) | np.cumsum(m) | np.cumprod(i)
np.cumprod(a, axis=0) | np.average(v) | np.average(v, weights=w) | np.average(a, axis=1, weights=v)
np.average(a, axis=0) | np.average(v, weights=w, returned=True) | np.average([1, 2, 3], weights=[1, 0, 1])
np.average(v, weights=[0, 0, 0, 0]) | np.median(a) | np.median(a, axis=0) | np.median(i)
np.percentile(a, 50) | np.percentile(a, [25, 75]) | np.percentile(a, 30, axis=1)
np.quantile(v, [0.1, 0.9]) | np.quantile(a, 0.5, axis=0) | np.nansum(n) | np.nanmean(n, axis=0)
np.nanmax(n) | np.nanmin(n, axis=1) | np.nanstd(n) | np.nanvar(n, axis=0) | np.nanmedian(n) | np.nanprod(n)
np.nanargmax(n) | np.cov(a) | np.cov(v, w) | np.cov(a, rowvar=False) | np.corrcoef(a) | np.cov(i)
np.sort(w) | np.sort(a, axis=0) | np.sort(a, axis=None) | np.argsort(w) | np.argsort(i)
np.argsort(a, axis=0) | np.lexsort((v, i)) | np.sort([3, 1, 2]) | np.partition(v, 2)[2]
np.searchsorted(v, 2.5) | np.searchsorted(v, [0, 2, 9]) | np.searchsorted(v, 2, side='right')
np.digitize(w, [0, 1, 2]) | np.digitize([1, 2], [1, 2], right=True) | np.digitize(w, [2, 1, 0])
np.histogram(w) | np.histogram(a, bins=4) | np.histogram(a, bins=[0, 1, 3])
np.histogram(a, 3, (0, 3), True) | np.histogram(v, weights=w, bins=2) | np.bincount(i)
np.bincount(i, minlength=6) | np.bincount(i, weights=v) | np.bincount([0, 1, 1]) | np.reshape(a, (2, 6))
np.reshape(a, -1) | np.reshape(a, (4, 3), order='F') | np.reshape(v, (3, 3)) | np.ravel(a)
np.ravel(a, order='F') | np.transpose(a) | np.transpose(t, (1, 0, 2)) | np.transpose(t, (-1, 0, 1))
np.swapaxes(t, 0, 2) | np.moveaxis(t, 0, -1) | np.moveaxis(t, [0, 1], [1, 2]) | np.rollaxis(t, 2)
np.rollaxis(t, 0, 3) | np.squeeze(t[:1]) | np.squeeze(t[:1], axis=0) | np.squeeze(a, axis=0)
np.expand_dims(v, 0) | np.expand_dims(v, (0, 2)) | np.atleast_1d(3) | np.atleast_1d(v) | np.atleast_2d(v)
np.atleast_2d(3) | np.atleast_3d(v) | np.atleast_3d(a) | np.atleast_2d(v, a) | np.atleast_1d([1, 2])
np.concatenate((a, b)) | np.concatenate((a, b), axis=1) | np.concatenate([v, i])
np.concatenate((a, b), axis=None) | np.concatenate([[1, 2], [3]]) | np.concatenate((v, a))
np.concatenate((v, w), out=np.zeros(8)) | np.concatenate([v, i], dtype='f4') | np.concatenate([3, 4])
np.stack((v, w)) | np.stack([v, w], axis=1) | np.stack([1, 2]) | np.vstack((v, w)) | np.vstack((a, v))
np.hstack((v, w)) | np.hstack((a, b)) | np.hstack([1, 2, [3]]) | np.dstack((v, w)) | np.dstack((a, b))
np.column_stack((v, w)) | np.column_stack((a, [1, 2, 3])) | np.block([[a, b], [b, a]]) | np.block([v, 3])
np.append(v, 5) | np.append(a, b, axis=0) | np.append(a, [[1, 2, 3, 4]], axis=0) | np.split(v, 2)
np.split(v, 3) | np.split(v, [1, 3]) | np.array_split(v, 3) | np.hsplit(a, 2) | np.vsplit(a, 3)
np.array_split(a, [1], axis=1) | np.tile(v, 2) | np.tile(a, (2, 1)) | np.tile([1, 2], (2, 2))
np.repeat(v, 2) | np.repeat(a, 2, axis=1) | np.repeat(i, [1, 2, 0, 1]) | np.repeat(3, 4) | np.roll(v, 1)
np.roll(a, 1, axis=0) | np.roll(a, (1, 2), axis=(0, 1)) | np.roll(a, 3) | np.flip(a) | np.flip(a, 0)
np.fliplr(a) | np.flipud(a) | np.rot90(a) | np.rot90(a, 2) | np.rot90(a, -1) | np.broadcast_to(v, (2, 4))
np.broadcast_to(3, (2, 2)) | np.broadcast_arrays(v, a) | np.broadcast_shapes((3, 1), (4,))
np.resize(v, (2, 3)) | np.pad(v, 1) | np.pad(v, (1, 2), 'edge') | np.pad(a, 1, mode='reflect')
np.pad(a, ((1, 0), (2, 1)), 'wrap') | np.pad(v, 2, mode='symmetric') | np.pad(v, 1, constant_values=9)
np.delete(v, 1) | np.delete(a, [0, 2], axis=1) | np.delete(v, slice(1, 3)) | np.insert(v, 1, 9)
np.insert(a, 1, 7, axis=1) | np.insert(a, 0, [1, 2, 3], axis=1) | np.insert(v, 4, 9) | np.unique(i)
np.unique([3, 1, 3], return_counts=True) | np.unique(i, return_index=True, return_inverse=True)
np.where(v > 2) | np.where(v > 2, v, 0) | np.where([True, False], 1, 2) | np.where(m, a, b)
np.where(i, i, -1) | np.where(v > 2, v) | np.nonzero(m) | np.flatnonzero(v > 1) | np.argwhere(m)
np.take(v, [0, 2]) | np.take(a, 1, axis=1) | np.take(v, [5], mode='clip') | np.take(v, [5])
np.take(a, [[0, 1]], axis=0) | np.take_along_axis(a, np.argsort(a, axis=1), axis=1)
np.compress([True, False, True], a, axis=0) | np.extract(m, a) | np.choose([0, 1], [[1, 2], [3, 4]])
np.choose([0, 2], [[1, 2], [3, 4]]) | np.select([v < 2, v < 3], [v, 10 * v], -1) | np.diag_indices(3)
np.tril_indices(3) | np.triu_indices(3, 1) | np.ix_([0, 1], [2, 3]) | np.unravel_index(5, (2, 3))
np.ravel_multi_index((1, 2), (2, 3)) | np.isin(i, [1, 2]) | np.matmul(a, v) | np.matmul(s, s) | np.dot(v, w)
np.dot(a, v) | np.dot(s, s) | np.dot(2, v) | np.dot(t, v) | np.dot(t, np.transpose(t, (0, 2, 1)))
np.dot(i, i) | np.vdot(c, c) | np.vdot(a, b) | np.inner(v, w) | np.inner(a, b) | np.outer(v, w)
np.outer(a, [1, 2]) | np.tensordot(a, b) | np.tensordot(a, b, axes=([1], [1])) | np.tensordot(a, v, 1)
np.einsum('ij,kj->ik', a, b) | np.einsum('ii', s) | np.einsum('ij->j', a, out=np.zeros(4))
np.einsum('i,i', [1, 2], [3, 4]) | np.kron(v, w) | np.kron([[1, 2]], [[1], [2]]) | np.trace(s)
np.trace(a, 1) | np.trace(t) | np.trace([[1, 2], [3, 4]]) | np.diagonal(s)
np.diagonal(t, axis1=1, axis2=2) | np.cross([1, 2, 3], [4, 5, 6]) | np.cross(s, s[0])
np.convolve(v, [1, 2]) | np.convolve(v, w, 'same') | np.convolve([1, 2], v, 'valid') | np.convolve(i, i)
np.correlate(v, [1, 2]) | np.correlate(v, w, 'full') | np.correlate(v, [1, 2, 3], 'same')
np.correlate([1, 2], v, 'same') | np.correlate(c, c, 'full') | np.diff(v) | np.diff(a, axis=0)
np.diff(a, n=2) | np.diff([1, 4, 9]) | np.diff(v, prepend=0) | np.ediff1d(a) | np.gradient(v)
np.gradient(v, 2.0) | np.gradient(v, [0, 1, 3, 4]) | np.gradient(a) | np.gradient(a, axis=1)
np.gradient(v, edge_order=2) | np.gradient(i) | np.gradient(f) | np.trapezoid(v) | np.trapezoid(v, dx=0.5)
np.trapezoid(a, v, axis=1) | np.trapezoid([1, 2, 3]) | np.interp(2.5, v, w) | np.interp([0, 1.5], v, w)
np.interp([1, 2], [0, 3], [0, 6]) | np.polyval([1, 2, 3], v) | np.polyval([1, 2], 3) | np.polyfit(v, w, 1)
np.polyfit(v, w, 2) | np.polyder([3, 2, 1]) | np.shape(a) | np.ndim([1]) | np.size(a, 0) | np.isscalar(3)
np.issubdtype(a.dtype, np.floating) | np.issubdtype(i.dtype, np.floating) | np.float32(1.5) * v
np.int64(3) + i | np.array_equal(v, v) | np.array_equal(v, a) | np.array_equiv(v, a)
np.can_cast('i4', 'f8') | np.shares_memory(a, a[1:]) | np.pi | np.euler_gamma | np.linalg.norm(v)
np.linalg.norm(a) | np.linalg.norm(a, axis=1) | np.linalg.norm(a, 1) | np.linalg.norm(v, np.inf)
np.linalg.norm(a, 'nuc') | np.linalg.norm(i) | np.linalg.norm(a, axis=0, keepdims=True)
np.linalg.norm(t, axis=(1, 2)) | np.linalg.norm(f) | np.linalg.det(s) | np.linalg.inv(s)
np.linalg.inv([[1, 2], [3, 4]]) | np.linalg.inv([[1, 2], [2, 4]]) | np.linalg.solve(s, [1, 2, 3])
np.linalg.solve(s, s) | np.linalg.eigvalsh(h) | np.linalg.eigh(h)[0] | np.linalg.eigh(s, UPLO='U')[0]
np.linalg.eigvals([[0, 1], [-1, 0]]) | np.linalg.eig([[0, 2], [-2, 0]])[0]
np.linalg.svd(a, compute_uv=False) | np.linalg.svd(a)[1] | np.linalg.svd(a, full_matrices=False)[0].shape
np.linalg.svd(a)[2].shape | np.linalg.cholesky(h) | np.linalg.pinv(a) | np.linalg.matrix_rank(a)
np.linalg.matrix_rank(v) | np.linalg.matrix_rank(s, tol=3.0) | np.linalg.lstsq(a.T, v, rcond=None)[0]
np.linalg.lstsq(a.T, v)[1] | np.linalg.matrix_power(s, 3) | np.linalg.matrix_power([[1, 1], [1, 0]], 5)
np.linalg.multi_dot([a, a.T, a]) | np.linalg.cond(s) | np.linalg.cond(s, 1) | np.linalg.slogdet(s)
np.linalg.qr(s, 'r').shape | np.fft.fft(v) | np.fft.fft(i) | np.fft.fft(v, 6) | np.fft.fft(a, axis=0)
np.fft.ifft(c) | np.fft.rfft(v) | np.fft.irfft(c) | np.fft.fft2(a) | np.fft.ifft2(a) | np.fft.rfft2(a)
np.fft.fftn(t) | np.fft.fft(v, norm='ortho') | np.fft.fftfreq(5) | np.fft.fftfreq(5, 0.1)
np.fft.rfftfreq(4) | np.fft.fftshift(a) | np.fft.ifftshift(v) | np.fft.fftshift(a, axes=1) | np.fft.fft(f)
np.fft.irfft(c, 5) | np.fft.hfft(c) | np.fft.ihfft(v) | np.fft.rfftn(t, axes=(0, 1))
np.max([1, 2], initial=2.5)
"""


def calls() -> list[str]:
    """Return the calls, one by one."""
    return [call.strip() for line in CALLS.strip().splitlines() for call in line.split(" | ")]
