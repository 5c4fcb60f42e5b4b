"""Texts that docstrings of several functions share: each text once, with the functions that it belongs to.

A docstring in a chapter only has the text that is specific to its function. When it is read, `documented`
completes it by the entries below (parameters in the order of the signature), by the place in the standard,
and by examples.
"""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, Final

from stride0._tables.examples import EXAMPLES
from stride0._tables.standard import DRAFT, NEWEST, ROWS

# In numpydoc's order.
SECTIONS: Final = ("Parameters", "Returns", "Raises", "See Also", "Notes", "References", "Examples")

GROUPS: Final = {
    "REDUCTIONS": (
        "all any count_nonzero max mean median min nanmax nanmean nanmedian nanmin nanprod nanstd nansum "
        "nanvar prod quantile std sum var"
    ),
    "SUMS": "cumulative_prod cumulative_sum nancumprod nancumsum nanprod nansum prod sum linalg.trace",
    "LIKE": "empty_like full_like ones_like zeros_like",
    "SQUARE": (
        "linalg.cholesky linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.expm "
        "linalg.inv linalg.matrix_power linalg.slogdet"
    ),
    "SINGULAR": "linalg.matrix_rank linalg.pinv linalg.svd linalg.svdvals",
    "SOFTMAX": "special.log_softmax special.softmax",
    "FFT": "fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft",
    "FFTN": "fft.fftn fft.ifftn fft.rfftn fft.irfftn",
    "ANY": (
        "astype broadcast_to count_nonzero cumulative_prod cumulative_sum expand_dims flip mean moveaxis "
        "nancumprod nancumsum nanmean nanprod nanstd nansum nanvar pad permute_dims prod repeat reshape roll "
        "squeeze std sum tile unique_counts unique_inverse unique_values var fft.fftshift fft.ifftshift "
        "strided.as_strided strided.contiguous strided.is_contiguous strided.is_writable strided.offset "
        "strided.storage_nbytes strided.strides"
    ),
    "AXIS": (
        "argmax argmin argsort cumulative_prod cumulative_sum diff nanargmax nanargmin nancumprod nancumsum "
        "repeat roll sort take take_along_axis unstack fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft"
    ),
    # Functions that SciPy computes, of one or several operands, only real or also complex. Functions with
    # several results document them themselves.
    "SCIPY_REAL": "ellipe ellipk ellipkm1 gammasgn j0 j1 k0 k0e k1 k1e y0 y1 zetac",
    "SCIPY_COMPLEX": "dawsn erfi exp1 expi loggamma rgamma spence wrightomega",
    "SCIPY_TUPLES": "airy fresnel shichi sici",
    "SCIPY_REALS": (
        "bdtr bdtrc bdtri beta betainc betaincc betainccinv betaincinv betaln binom chdtr chdtrc chdtri "
        "eval_hermite eval_hermitenorm expn fdtr fdtrc "
        "fdtri gammainc gammaincc gammainccinv gammaincinv gdtr gdtrc kn lpmv nbdtr nbdtrc nbdtri owens_t "
        "pdtr pdtrc pdtri poch powm1 radian stdtr stdtrit yn"
    ),
    "SCIPY_COMPLEXES": (
        "eval_chebyt eval_chebyu eval_gegenbauer eval_genlaguerre eval_jacobi eval_laguerre eval_legendre "
        "hyp0f1 hyp1f1 hyp2f1 iv jv kv spherical_in spherical_jn spherical_kn spherical_yn yv"
    ),
}

# Names of functions and groups, then the line of the entry, if the section has entries; the text follows
# below.
SHARED: Final = {
    "Parameters": """
ANY LIKE | x : Array
    Array of any shape and dtype.
all any | x : Array
    Array of any dtype. Numbers are true unless they are 0; NaN is true.
argmax argmin max min nanargmax nanargmin nanmax nanmin | x : Array
    Array of bool or a real dtype.
median nanmedian | x : Array
    Array of bool or a real dtype. Integers and bool count as float64.
argsort sort | x : Array
    Array with at least one axis, of bool or a real dtype.
diff nonzero take take_along_axis unstack | x : Array
    Array with at least one axis, of any dtype.
tril triu matrix_transpose linalg.diagonal linalg.trace | x : Array
    Shape ``(..., M, N)``, of any dtype.
linalg.det linalg.eig linalg.eigvals linalg.inv linalg.slogdet | x : Array
    Shape ``(..., M, M)``, of a floating-point dtype; integers and bool become float64.
linalg.eigh linalg.eigvalsh | x : Array
    Shape ``(..., M, M)``, of a floating-point dtype; integers and bool become float64. Only the lower
    triangle is read.
strided.shares_storage | x, y : Array
    Arrays of any shapes and dtypes.
SCIPY_REAL | {parameters} : Array or Python scalar
    Operand of a real dtype and any shape. Integers and bool count as float64.
SCIPY_COMPLEX SCIPY_TUPLES | {parameters} : Array or Python scalar
    Operand of a real or complex dtype and any shape. Integers and bool count as float64.
SCIPY_REALS | {parameters} : Array or Python scalar
    Operands of real dtypes; their shapes broadcast. Integers and bool count as float64.
SCIPY_COMPLEXES | {parameters} : Array or Python scalar
    Operands of real dtypes, the last one also complex; their shapes broadcast. Integers and bool count as
    float64.
SINGULAR linalg.matrix_norm linalg.qr | x : Array
    Shape ``(..., M, N)``, of a floating-point dtype; integers and bool become float64.
SOFTMAX | x : Array or Python scalar
    Operand of a real dtype.
fft.fft fft.ifft fft.irfft fft.hfft | x : Array
    Array with at least one axis, of a complex dtype; other dtypes are cast to complex.
fft.fftn fft.ifftn fft.irfftn | x : Array
    Array of a complex dtype; other dtypes are cast to complex.
fft.rfft fft.ihfft | x : Array
    Array with at least one axis, of a real floating-point dtype; integers and bool become float64.
fft.fft fft.ifft fft.rfft fft.ihfft | n : int, optional
    Length of the transform: `x` is truncated or padded with zeros to this length. By default the length of
    `x`.
fft.irfft fft.hfft | n : int, optional
    Length of the result along `axis`. It uses ``n // 2 + 1`` elements of `x`, which is truncated or padded
    with zeros. By default ``2 * (m - 1)`` for m elements; an odd length must be given.
FFT | axis : int
    The axis to transform.
fft.fftn fft.ifftn fft.rfftn | s : sequence of int, optional
    Length of the transform for each axis: `x` is truncated or padded with zeros to this length. -1 means all
    elements. Needs `axes`.
fft.fftn fft.ifftn | axes : sequence of int, optional
    The axes to transform, each once; by default all.
fft.rfftn fft.irfftn | axes : sequence of int, optional
    The axes to transform, each once; by default all. The last of them is halved.
fft.fft fft.rfft fft.hfft | norm : {"backward", "ortho", "forward"}
    The factor of the result: 1, ``1 / sqrt(n)`` or ``1 / n``, in this order.
fft.fftn fft.rfftn | norm : {"backward", "ortho", "forward"}
    The factor of the result: 1, ``1 / sqrt(n)`` or ``1 / n``, in this order. n is the product of the lengths.
fft.ifft fft.irfft fft.ihfft | norm : {"backward", "ortho", "forward"}
    The factor of the result: ``1 / n``, ``1 / sqrt(n)`` or 1, in this order.
fft.ifftn fft.irfftn | norm : {"backward", "ortho", "forward"}
    The factor of the result: ``1 / n``, ``1 / sqrt(n)`` or 1, in this order. n is the product of the lengths.
fft.fftfreq fft.rfftfreq | n : int
    Length of the transform, at least 1.
fft.fftfreq fft.rfftfreq | d : float
    Distance between samples.
fft.fftshift fft.ifftshift | axes : int or sequence of int, optional
    The axes to shift, each once; by default all.
REDUCTIONS | axis : int or tuple of int, optional
    The axes to reduce; by default all.
REDUCTIONS | keepdims : bool
    Whether to keep the reduced axes, with size 1.
SOFTMAX | axis : int or tuple of int, optional
    The axes to sum over; by default all.
argmax argmin nanargmax nanargmin | axis : int, optional
    The axis to search along; by default `x` is searched as if flattened in C order.
nancumprod nancumsum | axis : int, optional
    The axis; by default `x` is flattened first, in C order.
argmax argmin nanargmax nanargmin | keepdims : bool
    Whether to keep the searched axes, with size 1.
argsort sort | axis : int
    The axis to sort along.
argsort sort | descending : bool
    Whether the largest element comes first.
vecdot linalg.cross | axis : int
    The axis of the vectors, counted from the last axis of both arrays: from -N to -1, where N is the smaller
    number of axes.
cumulative_prod cumulative_sum | axis : int, optional
    The axis; optional if there is only one.
nanmean | dtype : DType, optional
    Floating-point dtype to which elements are cast first.
nanstd nanvar | dtype : DType, optional
    Floating-point dtype of the computation.
SUMS | dtype : DType, optional
    Dtype of the result, to which elements are cast first. By default the dtype of `x`; int64 or uint64 for
    smaller integers, int64 for bool.
std var | correction : int or float
    The sum of squares is divided by the number of elements minus `correction`: 0 for a population, 1 for a
    sample.
nanstd nanvar | ddof : float
    NumPy's name of the correction in `var`: the sum of squares is divided by the number of elements minus
    `ddof`.
linalg.diagonal linalg.trace | offset : int
    The diagonal: 0 is the main diagonal, positive numbers lie above it, negative numbers below.
linalg.matrix_rank linalg.pinv | rtol : float or Array, optional
    Singular values up to ``rtol`` times the largest one count as zero. An array must be of a real
    floating-point dtype; it broadcasts against the leading axes of `x`. By default ``max(M, N)`` times the
    machine epsilon.
empty full ones zeros | shape : int or tuple of int
    Shape of the result.
LIKE | shape : int or tuple of int, optional
    Shape of the result, by default the shape of `x`. Not in the standard; NumPy has it.
full full_like | fill_value : bool, int, float, complex or Array
    The value: a number, or a 0-d array.
empty eye ones zeros | dtype : DType, optional
    By default float64.
LIKE | dtype : DType, optional
    By default the dtype of `x`.
fft.fftfreq fft.rfftfreq | dtype : DType, optional
    A real floating-point dtype; by default float64.
linspace logspace | num : int
    The number of elements.
arange empty eye full linspace logspace ones zeros fft.fftfreq fft.rfftfreq LIKE | device : Device, optional
    The device of the result; by default the CPU.
""",
    "Returns": """
empty full ones zeros LIKE | Array
    New array, in C order.
tril triu roll sort fft.fftshift fft.ifftshift linalg.inv | Array
    New array of the shape and dtype of `x`.
repeat tile pad | Array
    New array of the dtype of `x`.
max min | Array
    New array of the dtype of `x`. NaN if a reduced element is NaN.
std var | Array
    New array of the dtype of `x`; float64 for integers and bool, the dtype of components for complex
    dtypes. NaN if there are no more elements than `correction`.
nanargmax nanargmin | Array
    New int64 array.
nanmax nanmin | Array
    New array of the dtype of `x`.
nanmean | Array
    New array of `dtype`; by default the dtype of `x`, or float64 for integers and bool.
nanprod nansum | Array
    New array.
nancumprod nancumsum | Array
    New array of the shape of `x`; one-dimensional if `axis` is None.
nanstd nanvar | Array
    New array; NaN if there are no more elements than `ddof`.
strided.offset | int
    0 if the first element is the first of the storage, whatever the strides.
strided.storage_nbytes | int
    The same for all views of one storage.
strided.shares_storage | bool
    True even if the arrays have no element in common.
strided.strides | tuple of int
    Negative along a reversed axis, 0 along a broadcast axis.
SCIPY_REAL SCIPY_COMPLEXES SCIPY_REALS special.polygamma special.zeta | Array
    New array of the promoted floating-point dtype of the operands.
SCIPY_COMPLEX | Array
    New array of the floating-point dtype of the operand.
cumulative_prod cumulative_sum | Array
    New array of the shape of `x`; with `include_initial`, longer by 1 along `axis`.
moveaxis permute_dims squeeze | Array
    View of `x`.
fft.fft fft.ifft fft.fftn fft.ifftn | Array
    New complex array of the precision of `x`.
fft.rfft fft.ihfft | Array
    New complex array of the precision of `x`, with size ``n // 2 + 1`` along `axis`.
fft.irfft fft.irfftn fft.hfft | Array
    New real array of the precision of `x`.
SOFTMAX | Array
    New array of the shape and floating-point dtype of `x`; float64 for integers.
""",
    "Raises": """
AXIS | AxisError
    If the axis does not exist.
flip moveaxis squeeze tensordot linalg.vector_norm fft.fftshift fft.ifftshift REDUCTIONS FFTN | AxisError
    If an axis does not exist, or is named twice.
SOFTMAX | AxisError
    If an axis does not exist, or is named twice.
vecdot linalg.cross | AxisError
    If an array does not have the axis, or if `axis` is not negative.
argmax argmin argsort max median min nanargmax nanargmin nanmax nanmedian nanmin sort SOFTMAX | DTypeError
    If `x` is complex.
take take_along_axis | DTypeError
    If the indices are not integers.
SCIPY_REAL SCIPY_REALS | DTypeError
    If a dtype is complex.
finfo iinfo | DTypeError
    If the dtype is of another kind.
mean nancumprod nancumsum nanprod nansum prod sum linalg.trace | CastError
    If `x` is complex and `dtype` is real.
full full_like | RangeError
    If the dtype cannot hold the value.
full full_like | CastError
    If the value is complex and the dtype is real.
cumulative_prod cumulative_sum | ArgumentValueError
    If `axis` is not given and there are several axes.
nanargmax nanargmin | ArgumentValueError
    If there are no elements except NaN to choose from.
concat stack | ArgumentValueError
    If `arrays` is empty.
repeat tile | ArgumentValueError
    If a number of repetitions is negative.
linspace logspace | ArgumentValueError
    If `num` is negative.
fft.fftfreq fft.rfftfreq | ArgumentValueError
    If `n` is less than 1, or `d` is 0.
FFTN | ArgumentValueError
    If `s` and `axes` do not match, or if `s` is given without `axes`.
argmax argmin max min nanargmax nanargmin nanmax nanmin | ShapeError
    If there are no elements to choose from.
tril triu matrix_transpose linalg.diagonal linalg.qr linalg.trace SINGULAR | ShapeError
    If `x` has fewer than two axes.
SQUARE | ShapeError
    If `x` has fewer than two axes, or its matrices are not square.
empty eye full ones zeros LIKE | ShapeError
    If a size is negative.
FFT FFTN | ShapeError
    If the transform would have no elements.
broadcast_arrays broadcast_shapes isclose take_along_axis | BroadcastError
    If the shapes do not broadcast.
SCIPY_COMPLEXES SCIPY_REALS special.polygamma special.zeta | BroadcastError
    If the shapes do not broadcast.
matmul linalg.solve | BroadcastError
    If the leading axes do not broadcast.
vecdot linalg.cross | BroadcastError
    If the other axes do not broadcast.
take take_along_axis | OutOfBoundsError
    If an index lies outside the axis.
SINGULAR | LinAlgError
    If a matrix contains NaN or infinity.
linalg.eigh linalg.eigvalsh | LinAlgError
    If the iteration does not converge.
linalg.eig linalg.eigvals | LinAlgError
    If a matrix contains NaN or infinity, or if the iteration does not converge.
linalg.inv linalg.solve | LinAlgError
    If a matrix is singular.
SCIPY_COMPLEX SCIPY_COMPLEXES SCIPY_REAL SCIPY_REALS SCIPY_TUPLES special.polygamma special.zeta | ImportError
    If SciPy cannot be imported.
""",
    "Notes": """
cumulative_prod cumulative_sum |
    A 0-d array counts as an array with one axis of size 1.
unique_all unique_counts unique_inverse unique_values |
    The values are sorted, complex values by real part first. Each NaN is a distinct value; -0.0 and 0.0 are
    equal.
argsort sort |
    NaN counts as larger than any number: it comes last in ascending and first in descending order.
""",
}


def members(group: str) -> list[str]:
    """Return the names of the functions of a group."""
    prefix = "special." if group.startswith("SCIPY") else ""
    return [prefix + name for name in GROUPS[group].split()]


def shared(section: str, name: str) -> list[str]:
    """Return the shared entries of a section in the docstring of a function."""
    found = []
    for entry in re.split(r"\n(?=\S)", SHARED.get(section, "").strip()):
        functions, _, text = entry.partition("|")
        names = functions.split()
        if name in names or any(name in members(group) for group in GROUPS.keys() & names):
            found.append(inspect.cleandoc(text) if section == "Notes" else text[1:])
    return found


@functools.cache  # programs read the docstrings of a namespace again and again
def documented(name: str, function: Callable[..., Any]) -> str | None:
    """Return the docstring of a function with shared entries, its place in the standard, and examples."""
    if function.__doc__ is None:
        return None
    heading = re.compile(r"\n*^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
    text, *parts = heading.split(inspect.cleandoc(function.__doc__))
    own = {title: re.split(r"\n(?=\S)", body) for title, body in zip(parts[::2], parts[1::2], strict=True)}
    for section in dict.fromkeys([*SECTIONS, *own]):
        added = shared(section, name)
        entries = own.get(section, []) + added
        if section == "Parameters" and added:
            order = list(inspect.signature(function).parameters)
            entries = [entry.replace("{parameters}", ", ".join(order)) for entry in entries]
            entries.sort(key=lambda entry: order.index(re.findall(r"\w+", entry)[0]))
        if section == "References" and name in ROWS and not entries:
            row, short = ROWS[name], name.rpartition(".")[2]
            where = f'"{row.chapter}", ``{short}``'
            entries = [f"Array API standard {NEWEST}, {where} (since {row.since})."]
            if row.since == DRAFT:
                entries = [f"Draft of the Array API standard that follows {NEWEST}, {where}."]
        if section == "Examples" and name in EXAMPLES:
            entries = [EXAMPLES[name]]
        if entries:
            text += "\n".join(["\n", section, "-" * len(section), *entries])
    return text + "\n"
