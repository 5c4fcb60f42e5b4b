"""NumPy's names that the namespace lacks, and what to write instead: for errors and the page "From NumPy".

A row has a call with NumPy, the same call with stride0, and a remark. In calls, `a` and `b` are matrices, `v`
and `w` vectors, `s` a square matrix, `i` an integer vector, `c` a complex vector and `m` a mask of `a`; tests
run both calls and compare the results. If there is no call with stride0, the remark says what to type.
"""

from typing import Final

from stride0._tables.numpy_methods import Row, advice

__all__ = ["NAMES", "missing"]

_BY_NUMPY = "call np.{0} with np.asarray(x), which shares the memory"
_NO_TEXT = "use NumPy for text and records: stride0 has only numbers and bool"


def _renamed(**names: str) -> dict[str, Row]:
    return {old: Row(f"np.{old}(a)", f"xp.{new}(a)") for old, new in names.items()}


def _of_two(**names: str) -> dict[str, Row]:
    return {old: Row(f"np.{old}(a, b)", f"xp.{new}(a, b)") for old, new in names.items()}


def _dtypes(**names: str) -> dict[str, Row]:
    return {old: Row(f"np.{old}", f"xp.{new}") for old, new in names.items()}


def _theirs(*names: str, remark: str = "") -> dict[str, Row]:
    return {name: Row(f"np.{name}", remark=(remark or _BY_NUMPY).format(name)) for name in names}


_GENERATOR: Final = "xp.random.default_rng(1)"

NAMES: Final[dict[str, dict[str, Row]]] = {
    "": {
        # --- creation
        "array": Row("np.array([1.0, 2.0])", "xp.asarray([1.0, 2.0])", "asarray(x, copy=True) always copies"),
        **_renamed(copy="asarray", asanyarray="asarray", ascontiguousarray="strided.contiguous"),
        "copy": Row("np.copy(a)", "xp.asarray(a, copy=True)"),
        "asarray_chkfinite": Row("np.asarray_chkfinite(a)", "xp.asarray(a)", "then check all(isfinite(x))"),
        "asfortranarray": Row("np.asfortranarray(a)", "xp.strided.contiguous(a.T).T"),
        "ndarray": Row(
            "np.ndarray", "xp.Array", "only for isinstance; write zeros or asarray to create arrays"
        ),
        "identity": Row("np.identity(3)", "xp.eye(3)"),
        "tri": Row("np.tri(3, 4)", "xp.tril(xp.ones((3, 4)))"),
        "diagflat": Row("np.diagflat(v)", "xp.diag(v)"),
        "geomspace": Row(
            "np.geomspace(1.0, 8.0, 4)", "xp.logspace(0.0, 3.0, 4, base=2.0)", "pass the exponents"
        ),
        "indices": Row(
            "np.indices((2, 3))", "xp.stack(xp.meshgrid(xp.arange(2), xp.arange(3), indexing='ij'))"
        ),
        "mgrid": Row(
            "np.mgrid[0:2, 0:3]", "xp.stack(xp.meshgrid(xp.arange(2), xp.arange(3), indexing='ij'))"
        ),
        "ogrid": Row("np.ogrid[0:2, 0:3]", remark="write arange(2)[:, None] and arange(3), which broadcast"),
        "vander": Row("np.vander(v, 3)", "v[:, None] ** xp.arange(2, -1, -1)"),
        "fromfunction": Row(
            "np.fromfunction(lambda i, j: i + j, (2, 3))",
            "sum(xp.meshgrid(xp.arange(2.0), xp.arange(3.0), indexing='ij'))",
        ),
        "fromiter": Row("np.fromiter(range(3), float)", "xp.asarray(list(range(3)), dtype=xp.float64)"),
        "frombuffer": Row(
            "np.frombuffer(data)", remark="write asarray(memoryview(data).cast('d')), which shares the memory"
        ),
        **_theirs(
            "fromstring",
            "fromfile",
            "fromregex",
            "genfromtxt",
            "loadtxt",
            "load",
            "memmap",
            remark="write asarray(np.{0}(...)), which shares the memory",
        ),
        **_theirs(
            "save", "savetxt", "savez", "savez_compressed", remark="call np.{0}, which accepts stride0 arrays"
        ),
        # --- manipulation
        "concatenate": Row("np.concatenate((a, b), 1)", "xp.concat((a, b), axis=1)"),
        "append": Row(
            "np.append(v, w)", "xp.concat((v, w))", "each call copies; collect parts in a list first"
        ),
        "vstack": Row("np.vstack((a, b))", "xp.concat((a, b), axis=0)", "for vectors write stack((v, w))"),
        "row_stack": Row("np.vstack((a, b))", "xp.concat((a, b), axis=0)"),
        "hstack": Row("np.hstack((a, b))", "xp.concat((a, b), axis=1)", "for vectors write concat((v, w))"),
        "column_stack": Row("np.column_stack((v, w))", "xp.stack((v, w), axis=1)"),
        "dstack": Row("np.dstack((a, b))", "xp.stack((a, b), axis=2)"),
        "block": Row(
            "np.block([[a, b], [b, a]])", "xp.concat([xp.concat([a, b], axis=1), xp.concat([b, a], axis=1)])"
        ),
        **_theirs("bmat", "matrix", "asmatrix", remark="use arrays with two axes; @ multiplies them"),
        "split": Row("np.split(v, 2)", "[v[:2], v[2:]]", "slices are views"),
        **_theirs(
            "array_split", "hsplit", "vsplit", "dsplit", remark="write slices, which are views: x[:k], x[k:]"
        ),
        "transpose": Row(
            "np.transpose(a)", "xp.permute_dims(a, (1, 0))", "for a matrix write a.T, for a stack a.mT"
        ),
        "swapaxes": Row(
            "np.swapaxes(a, 0, 1)", "xp.permute_dims(a, (1, 0))", "to move one axis, call moveaxis"
        ),
        "rollaxis": Row("np.rollaxis(a, 1)", "xp.moveaxis(a, 1, 0)"),
        "ravel": Row("np.ravel(a)", "xp.reshape(a, (-1,))"),
        "resize": Row("np.resize(v, (8,))", "xp.tile(v, (2,))"),
        "fliplr": Row("np.fliplr(a)", "xp.flip(a, axis=1)"),
        "flipud": Row("np.flipud(a)", "xp.flip(a, axis=0)"),
        "rot90": Row("np.rot90(a)", "xp.flip(a.T, axis=0)"),
        "atleast_1d": Row("np.atleast_1d(v)", "xp.reshape(v, (-1,))", "for 0-d arrays write x[None]"),
        **_theirs("atleast_2d", remark="write x[None, :], or expand_dims(x, axis=...)"),
        **_theirs("atleast_3d", remark="write x[None, :, None] for a vector, x[:, :, None] for a matrix"),
        "delete": Row("np.delete(v, 1)", "v[xp.arange(v.size) != 1]"),
        "insert": Row("np.insert(v, 1, 5.0)", "xp.concat((v[:1], xp.asarray([5.0]), v[1:]))"),
        "trim_zeros": Row(
            "np.trim_zeros(v)", remark="write k = nonzero(v)[0], then v[int(k[0]) : int(k[-1]) + 1]"
        ),
        **_theirs("r_", "c_", remark="call concat or stack"),
        **_theirs("s_", "index_exp", remark="write slice(...), or a tuple of slices"),
        "broadcast": Row("np.broadcast(a, v).shape", "xp.broadcast_shapes(a.shape, v.shape)"),
        # --- elementwise
        **_renamed(absolute="abs", fabs="abs", conjugate="conj", rint="round", around="round", fix="trunc"),
        **_of_two(power="pow", true_divide="divide", mod="remainder"),
        "arccos": Row("np.arccos(a / 9)", "xp.acos(a / 9)"),
        "arcsin": Row("np.arcsin(a / 9)", "xp.asin(a / 9)"),
        "arctan": Row("np.arctan(a)", "xp.atan(a)"),
        "arctan2": Row("np.arctan2(a, b)", "xp.atan2(a, b)"),
        "arccosh": Row("np.arccosh(a + 1)", "xp.acosh(a + 1)"),
        "arcsinh": Row("np.arcsinh(a)", "xp.asinh(a)"),
        "arctanh": Row("np.arctanh(a / 9)", "xp.atanh(a / 9)"),
        "invert": Row("np.invert(i)", "xp.bitwise_invert(i)", "or ~i"),
        "bitwise_not": Row("np.bitwise_not(i)", "xp.bitwise_invert(i)", "or ~i"),
        "left_shift": Row("np.left_shift(i, 1)", "xp.bitwise_left_shift(i, 1)"),
        "right_shift": Row("np.right_shift(i, 1)", "xp.bitwise_right_shift(i, 1)"),
        "divmod": Row(
            "np.divmod(a, 2.0)", "(xp.floor_divide(a, 2.0), xp.remainder(a, 2.0))", "or divmod(a, 2)"
        ),
        "fmod": Row(
            "np.fmod(a, b)", "a - b * xp.trunc(a / b)", "remainder differs: it has the sign of the divisor"
        ),
        "fmax": Row("np.fmax(a, b)", "xp.where(xp.isnan(a), b, xp.where(xp.isnan(b), a, xp.maximum(a, b)))"),
        "fmin": Row("np.fmin(a, b)", "xp.where(xp.isnan(a), b, xp.where(xp.isnan(b), a, xp.minimum(a, b)))"),
        "float_power": Row("np.float_power(i, 2)", "xp.astype(i, xp.float64) ** 2"),
        "heaviside": Row("np.heaviside(v, 0.5)", "xp.where(v == 0, 0.5, xp.astype(v > 0, xp.float64))"),
        "angle": Row("np.angle(c)", "xp.atan2(xp.imag(c), xp.real(c))"),
        "modf": Row("np.modf(a)", "(a - xp.trunc(a), xp.trunc(a))"),
        "cbrt": Row("np.cbrt(a)", "xp.special.cbrt(a)"),
        "exp2": Row("np.exp2(a)", "xp.special.exp2(a)"),
        "sinc": Row("np.sinc(a)", "xp.special.sinc(a)"),
        "i0": Row("np.i0(a)", "xp.special.i0(a)"),
        "logaddexp2": Row("np.logaddexp2(a, b)", "xp.log2(xp.special.exp2(a) + xp.special.exp2(b))"),
        "deg2rad": Row("np.deg2rad(a)", "a * (xp.pi / 180)"),
        "radians": Row("np.radians(a)", "a * (xp.pi / 180)"),
        "rad2deg": Row("np.rad2deg(a)", "a * (180 / xp.pi)"),
        "degrees": Row("np.degrees(a)", "a * (180 / xp.pi)"),
        "isneginf": Row("np.isneginf(a)", "a == -xp.inf"),
        "isposinf": Row("np.isposinf(a)", "a == xp.inf"),
        "isreal": Row("np.isreal(c)", "xp.imag(c) == 0"),
        "iscomplex": Row("np.iscomplex(c)", "xp.imag(c) != 0"),
        "isrealobj": Row("np.isrealobj(a)", "not xp.isdtype(a.dtype, 'complex floating')"),
        "iscomplexobj": Row("np.iscomplexobj(a)", "xp.isdtype(a.dtype, 'complex floating')"),
        "real_if_close": Row("np.real_if_close(c)", remark="write real(x) if all(imag(x) == 0)"),
        "spacing": Row("np.spacing(a)", "xp.nextafter(a, xp.asarray(xp.inf)) - a"),
        **_theirs("gcd", "lcm", "frexp", "ldexp", "bitwise_count", "packbits", "unpackbits", "unwrap"),
        "select": Row("np.select([m], [a], 7.0)", "xp.where(m, a, 7.0)", "nest where for more conditions"),
        "piecewise": Row("np.piecewise(v, [v < 2], [1.0, 2.0])", "xp.where(v < 2, 1.0, 2.0)"),
        "choose": Row("np.choose(i % 2, [v, w])", "xp.where(i % 2 == 0, v, w)"),
        # --- reductions
        **_renamed(amax="max", amin="min"),
        "ptp": Row("np.ptp(a)", "xp.max(a) - xp.min(a)"),
        "average": Row("np.average(v, weights=w)", "xp.sum(v * w) / xp.sum(w)", "without weights call mean"),
        "cumsum": Row("np.cumsum(a, 0)", "xp.cumulative_sum(a, axis=0)"),
        "cumprod": Row("np.cumprod(a, 0)", "xp.cumulative_prod(a, axis=0)"),
        "ediff1d": Row("np.ediff1d(v)", "xp.diff(v)"),
        "gradient": Row(
            "np.gradient(v)[1:-1]",
            "(v[2:] - v[:-2]) / 2",
            "for the gradient of a function call autograd.grad",
        ),
        "trapezoid": Row("np.trapezoid(v)", "xp.sum((v[1:] + v[:-1]) / 2)"),
        "nanquantile": Row("np.nanquantile(v, 0.5)", "xp.quantile(v[~xp.isnan(v)], 0.5)"),
        "nanpercentile": Row("np.nanpercentile(v, 50)", "xp.percentile(v[~xp.isnan(v)], 50)"),
        "ndim": Row("np.ndim(a)", "a.ndim"),
        "shape": Row("np.shape(a)", "a.shape"),
        "size": Row("np.size(a)", "a.size"),
        # --- searching, sorting, sets
        "argwhere": Row("np.argwhere(m)", "xp.stack(xp.nonzero(m), axis=-1)"),
        "flatnonzero": Row("np.flatnonzero(m)", "xp.nonzero(xp.reshape(m, (-1,)))[0]"),
        "extract": Row("np.extract(m, a)", "a[m]"),
        "compress": Row("np.compress(v > 1, a, axis=1)", "a[:, v > 1]"),
        "digitize": Row("np.digitize(a, v)", "xp.searchsorted(v, a, side='right')"),
        "lexsort": Row("np.lexsort((v, i))", "xp.take(k := xp.argsort(v), xp.argsort(xp.take(i, k)))"),
        "sort_complex": Row(
            "np.sort_complex(c)", remark="call np.sort_complex: the standard does not order complex numbers"
        ),
        "unique": Row("np.unique(i)", "xp.unique_values(i)", "for counts and indices call unique_all"),
        "union1d": Row("np.union1d(i, i + 1)", "xp.unique_values(xp.concat((i, i + 1)))"),
        "intersect1d": Row("np.intersect1d(i, i + 1)", "(u := xp.unique_values(i))[xp.isin(u, i + 1)]"),
        "setdiff1d": Row("np.setdiff1d(i, i + 1)", "(u := xp.unique_values(i))[~xp.isin(u, i + 1)]"),
        "setxor1d": Row(
            "np.setxor1d(i, i + 1)",
            "(u := xp.unique_values(xp.concat((i, i + 1))))[xp.isin(u, i) != xp.isin(u, i + 1)]",
        ),
        "histogram2d": Row("np.histogram2d(v, w)", remark=_BY_NUMPY.format("histogram2d")),
        **_theirs("histogramdd", "histogram_bin_edges"),
        # --- writes
        "copyto": Row("np.copyto(a, b)", remark="write a[...] = b"),
        "put": Row("np.put(v, i, 0)", remark="write v[i] = 0, or at(v)[i].set(0) for a changed copy"),
        "putmask": Row("np.putmask(a, m, 0)", remark="write a[m] = 0, or where(m, 0, a)"),
        "place": Row("np.place(a, m, 0)", remark="write a[m] = 0, or where(m, 0, a)"),
        "fill_diagonal": Row("np.fill_diagonal(s, 0)", remark="write where(eye(n, dtype=bool), 0, s)"),
        **_theirs(
            "tril_indices",
            "triu_indices",
            "tril_indices_from",
            "triu_indices_from",
            remark="write nonzero(tril(ones((n, n)))), or the same with triu",
        ),
        **_theirs("diag_indices", "diag_indices_from", remark="index with arange(n) along both axes"),
        **_theirs("mask_indices", "ravel_multi_index", "unravel_index"),
        "ix_": Row("a[np.ix_(i[:2] % 3, i[:2])]", "a[(i[:2] % 3)[:, None], i[:2]]"),
        # --- products
        "dot": Row("np.dot(v, w)", "xp.vecdot(v, w)", "for matrices write a @ b"),
        "inner": Row("np.inner(v, w)", "xp.vecdot(v, w)", "for more axes call tensordot"),
        "vdot": Row("np.vdot(c, c)", "xp.vecdot(c, c)", "both conjugate the first argument"),
        "outer": Row("np.outer(v, w)", "xp.linalg.outer(v, w)"),
        "cross": Row("np.cross(s, s + 1)", "xp.linalg.cross(s, s + 1)"),
        "diagonal": Row("np.diagonal(s)", "xp.linalg.diagonal(s)"),
        "trace": Row("np.trace(s)", "xp.linalg.trace(s)"),
        "matvec": Row("np.matvec(a, v)", "a @ v"),
        "vecmat": Row("np.vecmat(v, a.T)", "v @ a.T"),
        "convolve": Row(
            "np.convolve(v, w)", "xp.autograd.scipy.signal.convolve(v, w)", "or call scipy.signal.convolve"
        ),
        "correlate": Row("np.correlate(v, w, 'full')", "xp.autograd.scipy.signal.correlate(v, w)"),
        # --- facts
        "array_equal": Row(
            "np.array_equal(a, b)", "bool(xp.all(a == b))", "compare a.shape and b.shape first"
        ),
        "array_equiv": Row("np.array_equiv(a, b)", "bool(xp.all(a == b))"),
        "dtype": Row("np.dtype('float64')", "xp.float64", "dtypes are attributes of the namespace"),
        "issubdtype": Row("np.issubdtype(a.dtype, np.floating)", "xp.isdtype(a.dtype, 'real floating')"),
        "promote_types": Row("np.promote_types('f4', 'f8')", "xp.result_type(xp.float32, xp.float64)"),
        "min_scalar_type": Row(
            "np.min_scalar_type(3)", remark="call result_type, with an array for each number"
        ),
        "isscalar": Row("np.isscalar(3)", "isinstance(3, (bool, int, float, complex))"),
        "shares_memory": Row(
            "np.shares_memory(a, a)",
            "xp.strided.shares_storage(a, a)",
            "it compares the memory blocks, not the elements",
        ),
        "may_share_memory": Row("np.may_share_memory(a, a)", "xp.strided.shares_storage(a, a)"),
        "isfortran": Row(
            "np.isfortran(a)", "xp.strided.is_contiguous(a.T) and not xp.strided.is_contiguous(a)"
        ),
        "ndenumerate": Row(
            "np.ndenumerate(a)",
            remark="write enumerate(reshape(a, (-1,))); functions of whole arrays are faster",
        ),
        **_theirs(
            "ndindex",
            "nditer",
            "nested_iters",
            "flatiter",
            remark="call functions of whole arrays, or autograd.vmap",
        ),
        "vectorize": Row(
            "np.vectorize(abs)(v)",
            "xp.autograd.vmap(xp.abs)(v)",
            "vmap calls the function once for all examples",
        ),
        **_theirs(
            "apply_along_axis",
            "apply_over_axes",
            remark="call autograd.vmap, which calls the function once for all slices",
        ),
        **_theirs(
            "frompyfunc", "ufunc", remark="write a function of arrays; NumPy's ufuncs accept stride0 arrays"
        ),
        **_theirs(
            "errstate",
            "seterr",
            "geterr",
            "seterrcall",
            "geterrcall",
            remark="leave it out: no function warns of NaN, infinities or overflow",
        ),
        **_theirs(
            "set_printoptions",
            "get_printoptions",
            "printoptions",
            remark="call np.{0}: it applies to stride0 arrays, too",
        ),
        "array2string": Row("np.array2string(v)", remark="write str(x)"),
        "array_repr": Row("np.array_repr(v)", remark="write repr(x)"),
        "array_str": Row("np.array_str(v)", remark="write str(x); its text has commas"),
        "bool_": Row("np.bool_", "xp.bool"),
        "False_": Row("np.False_", "xp.asarray(False)"),
        "True_": Row("np.True_", "xp.asarray(True)"),
        "Inf": Row("np.inf", "xp.inf"),
        "NaN": Row("np.nan", "xp.nan"),
        "PINF": Row("np.inf", "xp.inf"),
        "NINF": Row("-np.inf", "-xp.inf"),
        "euler_gamma": Row("np.euler_gamma", "-float(xp.special.digamma(1.0))"),
        **_dtypes(
            byte="int8",
            ubyte="uint8",
            short="int16",
            ushort="uint16",
            intc="int32",
            uintc="uint32",
            int_="int64",
            intp="int64",
            long="int64",
            longlong="int64",
            uint="uint64",
            uintp="uint64",
            ulong="uint64",
            ulonglong="uint64",
            half="float16",
            single="float32",
            double="float64",
            csingle="complex64",
            cdouble="complex128",
        ),
        # --- names that NumPy has removed
        "float_": Row("np.float64", "xp.float64"),
        "float": Row("np.float64", "xp.float64"),
        "int": Row("np.int64", "xp.int64"),
        "int0": Row("np.int64", "xp.int64"),
        "uint0": Row("np.uint64", "xp.uint64"),
        "bool8": Row("np.bool_", "xp.bool"),
        "complex": Row("np.complex128", "xp.complex128"),
        "complex_": Row("np.complex128", "xp.complex128"),
        "cfloat": Row("np.complex128", "xp.complex128"),
        "singlecomplex": Row("np.complex64", "xp.complex64"),
        "infty": Row("np.inf", "xp.inf"),
        "Infinity": Row("np.inf", "xp.inf"),
        "PZERO": Row("0.0", "0.0"),
        "NZERO": Row("-0.0", "-0.0"),
        "alltrue": Row("np.all(m)", "xp.all(m)"),
        "sometrue": Row("np.any(m)", "xp.any(m)"),
        "product": Row("np.prod(a)", "xp.prod(a)"),
        "cumproduct": Row("np.cumprod(a, 0)", "xp.cumulative_prod(a, axis=0)"),
        "round_": Row("np.round(a)", "xp.round(a)"),
        "msort": Row("np.sort(a, axis=0)", "xp.sort(a, axis=0)"),
        "in1d": Row("np.isin(i, i + 1)", "xp.isin(i, i + 1)"),
        "trapz": Row("np.trapezoid(v)", "xp.sum((v[1:] + v[:-1]) / 2)"),
        "asfarray": Row("np.asarray(i, dtype=float)", "xp.astype(i, xp.float64)"),
        "asscalar": Row("v[0].item()", "v[0].item()"),
        "alen": Row("len(v)", "v.shape[0]"),
        "mat": Row("np.mat", remark="use arrays with two axes; @ multiplies them"),
        "find_common_type": Row("np.result_type('f4', 'f8')", "xp.result_type(xp.float32, xp.float64)"),
        **_theirs("object", "str", "string_", "unicode_", remark=_NO_TEXT),
        **_theirs(
            "longdouble",
            "clongdouble",
            "float128",
            "complex256",
            remark="use float64 or complex128, the widest dtypes",
        ),
        **_theirs(
            "object_",
            "str_",
            "bytes_",
            "void",
            "datetime64",
            "timedelta64",
            "char",
            "strings",
            "rec",
            "recarray",
            remark=_NO_TEXT,
        ),
        **_theirs(
            "generic",
            "number",
            "integer",
            "signedinteger",
            "unsignedinteger",
            remark="write isdtype(x.dtype, 'integral'), or another kind",
        ),
        **_theirs("inexact", remark="write isdtype(x.dtype, ('real floating', 'complex floating'))"),
        **_theirs("floating", remark="write isdtype(x.dtype, 'real floating')"),
        **_theirs("complexfloating", remark="write isdtype(x.dtype, 'complex floating')"),
        "ma": Row(
            "np.ma", remark="use a mask with where, or NaN with functions that skip it, such as nansum"
        ),
        **_theirs(
            "polyfit",
            "polyval",
            "poly1d",
            "roots",
            "polynomial",
            "poly",
            "polyadd",
            "polyder",
            "polyint",
            "polymul",
        ),
        **_theirs(
            "bartlett",
            "blackman",
            "hamming",
            "hanning",
            "kaiser",
            remark="call np.{0}, or scipy.signal.windows",
        ),
    },
    "linalg": {
        "norm": Row("np.linalg.norm(v)", "xp.linalg.vector_norm(v)", "for matrices call matrix_norm"),
        "cond": Row("np.linalg.cond(s)", "(d := xp.linalg.svdvals(s))[0] / d[-1]"),
        "multi_dot": Row("np.linalg.multi_dot([a, a.T, a])", "a @ a.T @ a", "einsum chooses the best order"),
        "dot": Row("np.dot(v, w)", "xp.vecdot(v, w)"),
        "tensorinv": Row("np.linalg.tensorinv", remark="reshape to a matrix, then call inv"),
        "tensorsolve": Row("np.linalg.tensorsolve", remark="reshape to a matrix, then call solve"),
    },
    "fft": {
        "fft2": Row("np.fft.fft2(a)", "xp.fft.fftn(a, axes=(-2, -1))"),
        "ifft2": Row("np.fft.ifft2(a)", "xp.fft.ifftn(a, axes=(-2, -1))"),
        "rfft2": Row("np.fft.rfft2(a)", "xp.fft.rfftn(a, axes=(-2, -1))"),
        "irfft2": Row("np.fft.irfft2(a)", "xp.fft.irfftn(a, axes=(-2, -1))"),
    },
    "random": {
        "seed": Row("np.random.seed(1)", remark="write rng = default_rng(1), and call its methods"),
        "rand": Row("np.random.default_rng(1).random((2, 3))", f"{_GENERATOR}.random((2, 3))"),
        "randn": Row("np.random.default_rng(1).standard_normal(3)", f"{_GENERATOR}.standard_normal(3)"),
        "randint": Row("np.random.default_rng(1).integers(0, 9, 3)", f"{_GENERATOR}.integers(0, 9, 3)"),
        **{
            name: Row("np.random.default_rng(1).random(3)", f"{_GENERATOR}.random(3)")
            for name in ("random", "random_sample", "ranf", "sample")
        },
        **{
            name: Row(f"np.random.default_rng(1).{call}", f"{_GENERATOR}.{call}")
            for name, call in {
                "normal": "normal(0, 1, 3)",
                "uniform": "uniform(0, 1, 3)",
                "choice": "choice(5, 3)",
                "permutation": "permutation(5)",
                "exponential": "exponential(1.0, 3)",
                "poisson": "poisson(2.0, 3)",
                "binomial": "binomial(5, 0.5, 3)",
                "gamma": "gamma(2.0, 1.0, 3)",
                "beta": "beta(1.0, 2.0, 3)",
                "standard_normal": "standard_normal(3)",
            }.items()
        },
        "shuffle": Row("np.random.shuffle(v)", remark="write default_rng(seed).shuffle(x)"),
        "RandomState": Row(
            "np.random.RandomState(1)",
            remark="write default_rng(seed), which draws other numbers for the same seed",
        ),
        "get_state": Row("np.random.get_state()", remark="write default_rng(seed).bit_generator.state"),
    },
}


def missing(module: str, name: str) -> AttributeError:
    """Return the error for a name that a module lacks; for a NumPy name it says what to write instead."""
    row = NAMES.get(module.partition(".")[2], {}).get(name)
    more = f". {advice(row)}" if row else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{more}")
