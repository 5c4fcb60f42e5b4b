"""Examples of products, decompositions and Fourier transforms. See `__init__`.

What LAPACK computes is rounded, or compared: its last digits differ from machine to machine.
"""

from typing import Final

TEXT: Final = """
=== products
--- matmul
>>> x = xp.asarray([[1, 2], [3, 4]])
>>> x @ xp.asarray([10, 1])
Array([12, 34], dtype=int64)

Leading axes broadcast, without copies of the matrices:

>>> xp.matmul(xp.ones((5, 1, 2, 3)), xp.ones((4, 3, 2))).shape
(5, 4, 2, 2)
>>> xp.matmul(xp.ones((2, 3)), xp.ones((2, 3)))
Traceback (most recent call last):
    ...
stride0.ShapeError: matmul: the inner sizes differ: 3 in x1 and 2 in x2
...
--- matrix_transpose
>>> x = xp.ones((5, 2, 3))
>>> y = xp.matrix_transpose(x)
>>> y.shape, xp.strided.strides(y), xp.strided.shares_storage(x, y)
((5, 3, 2), (6, 1, 3), True)
--- tensordot
>>> x, y = xp.ones((2, 3, 4)), xp.ones((3, 4, 5))
>>> xp.tensordot(x, y).shape
(2, 5)
>>> xp.tensordot(x, y, axes=([1], [0])).shape
(2, 4, 4, 5)
>>> xp.tensordot(xp.asarray([1, 2]), xp.asarray([1, 10]), axes=0)
Array([[ 1, 10],
       [ 2, 20]], dtype=int64)
--- vecdot
>>> x = xp.asarray([[1, 2], [3, 4], [5, 6]])
>>> xp.vecdot(x, xp.asarray([1, 10]))
Array([21, 43, 65], dtype=int64)
>>> xp.vecdot(xp.asarray([1j, 1]), xp.asarray([1j, 1]))
Array(2.+0.j, dtype=complex128)
--- einsum
>>> x = xp.reshape(xp.arange(6), (2, 3))
>>> xp.einsum("ij,kj->ik", x, x)
Array([[ 5, 14],
       [14, 50]], dtype=int64)
>>> xp.einsum("ij->j", x)
Array([3, 5, 7], dtype=int64)
>>> y = xp.einsum("ij->ji", x)
>>> xp.strided.shares_storage(x, y)
True
--- einsum_path
>>> x, y = xp.ones((100, 100)), xp.ones(100)
>>> path, report = xp.einsum_path("ij,jk,k->i", x, x, y)
>>> path
['einsum_path', (1, 2), (0, 1)]
>>> xp.einsum("ij,jk,k->i", x, x, y, optimize=path).shape
(100,)
--- linalg.cross
>>> xp.linalg.cross(xp.asarray([1, 0, 0]), xp.asarray([[0, 1, 0], [0, 0, 1]]))
Array([[ 0,  0,  1],
       [ 0, -1,  0]], dtype=int64)
--- linalg.outer
>>> xp.linalg.outer(xp.asarray([1, 2]), xp.asarray([1, 10, 100]))
Array([[  1,  10, 100],
       [  2,  20, 200]], dtype=int64)

=== matrices
--- linalg.cholesky
>>> x = xp.asarray([[4.0, 2.0], [2.0, 5.0]])
>>> xp.linalg.cholesky(x)
Array([[2., 0.],
       [1., 2.]], dtype=float64)
>>> xp.linalg.cholesky(-x)
Traceback (most recent call last):
    ...
stride0.linalg.LinAlgError: cholesky: the matrix is not positive definite
...
--- linalg.det
>>> x = xp.asarray([[[1.0, 2.0], [3.0, 4.0]], [[2.0, 0.0], [0.0, 3.0]]])
>>> xp.round(xp.linalg.det(x))
Array([-2.,  6.], dtype=float64)
>>> xp.linalg.det(xp.ones((2, 3)))
Traceback (most recent call last):
    ...
stride0.ShapeError: det: x must be square, and its matrices are 2 by 3
...
--- linalg.diagonal
>>> x = xp.reshape(xp.arange(6), (2, 3))
>>> xp.linalg.diagonal(x, offset=1)
Array([1, 5], dtype=int64)
>>> xp.linalg.diagonal(x)[...] = 9
>>> x
Array([[9, 1, 2],
       [3, 9, 5]], dtype=int64)
--- linalg.eig
>>> x = xp.asarray([[0.0, -1.0], [1.0, 0.0]])
>>> values, vectors = xp.linalg.eig(x)
>>> xp.allclose(xp.sort(xp.imag(values)), xp.asarray([-1.0, 1.0]))
True
>>> xp.allclose(xp.astype(x, xp.complex128) @ vectors, vectors * values)
True
--- linalg.eigh
>>> x = xp.asarray([[2.0, 1.0], [1.0, 2.0]])
>>> values, vectors = xp.linalg.eigh(x)
>>> xp.round(values)
Array([1., 3.], dtype=float64)
>>> xp.allclose((vectors * values) @ vectors.T, x)
True
--- linalg.eigvals
>>> values = xp.linalg.eigvals(xp.asarray([[0.0, -2.0], [2.0, 0.0]]))
>>> values.dtype, xp.round(xp.abs(values))
(stride0.complex128, Array([2., 2.], dtype=float64))
--- linalg.eigvalsh
>>> xp.round(xp.linalg.eigvalsh(xp.asarray([[2.0, 99.0], [1.0, 2.0]])))
Array([1., 3.], dtype=float64)
--- linalg.expm
>>> x = xp.asarray([[0.0, 1.0], [0.0, 0.0]])
>>> xp.allclose(xp.linalg.expm(x), xp.eye(2) + x)
True
>>> xp.round(xp.linalg.expm(xp.asarray([[0.0, 3.0], [1.0, 0.0]])))
Array([[3., 5.],
       [2., 3.]], dtype=float64)
--- linalg.inv
>>> x = xp.asarray([[2.0, 0.0], [1.0, 4.0]])
>>> xp.allclose(xp.linalg.inv(x) @ x, xp.eye(2))
True
>>> xp.linalg.inv(xp.ones((2, 2)))
Traceback (most recent call last):
    ...
stride0.linalg.LinAlgError: inv: the matrix is singular
...
--- linalg.lstsq
>>> a = xp.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
>>> found = xp.linalg.lstsq(a, xp.asarray([1.0, 3.0, 5.0]))
>>> xp.round(found.solution), found.rank
(Array([1., 2.], dtype=float64), Array(2, dtype=int64))
--- linalg.matrix_norm
>>> x = xp.asarray([[3.0, 0.0], [0.0, -4.0]])
>>> xp.round(xp.linalg.matrix_norm(x)), xp.linalg.matrix_norm(x, ord=1)
(Array(5., dtype=float64), Array(4., dtype=float64))
>>> xp.linalg.matrix_norm(xp.ones((5, 2, 2)), ord=xp.inf).shape
(5,)
--- linalg.matrix_power
>>> x = xp.asarray([[1, 1], [1, 0]])
>>> xp.linalg.matrix_power(x, 10)
Array([[89, 55],
       [55, 34]], dtype=int64)
>>> xp.linalg.matrix_power(x, -1).dtype
stride0.float64
>>> xp.linalg.matrix_power(xp.ones((2, 2)), -1)
Traceback (most recent call last):
    ...
stride0.linalg.LinAlgError: matrix_power: the matrix is singular
...
--- linalg.matrix_rank
>>> xp.linalg.matrix_rank(xp.asarray([[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]]]))
Array([1, 2], dtype=int64)
--- linalg.pinv
>>> x = xp.asarray([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
>>> xp.linalg.pinv(x).shape
(2, 3)
>>> xp.allclose(x @ xp.linalg.pinv(x) @ x, x)
True
--- linalg.qr
>>> x = xp.reshape(xp.arange(6.0), (3, 2))
>>> q, r = xp.linalg.qr(x)
>>> q.shape, r.shape, xp.allclose(q @ r, x)
((3, 2), (2, 2), True)
>>> xp.linalg.qr(x, mode="complete").Q.shape
(3, 3)
--- linalg.slogdet
>>> x = xp.eye(400) * -0.1
>>> sign, logarithm = xp.linalg.slogdet(x)
>>> sign, xp.round(logarithm / xp.log(xp.asarray(0.1)))
(Array(1., dtype=float64), Array(400., dtype=float64))
>>> xp.linalg.det(x)
Array(0., dtype=float64)
--- linalg.solve
>>> a = xp.asarray([[2.0, 0.0], [1.0, 4.0]])
>>> xp.round(xp.linalg.solve(a, xp.asarray([2.0, 9.0])))
Array([1., 2.], dtype=float64)

A vector is a single right-hand side of all systems; otherwise right-hand sides are columns:

>>> xp.linalg.solve(xp.stack([a, a, a]), xp.ones(2)).shape
(3, 2)
>>> xp.linalg.solve(a, xp.ones((2, 5))).shape
(2, 5)
--- linalg.solve_triangular
>>> a = xp.asarray([[2.0, 99.0], [1.0, 4.0]])
>>> xp.linalg.solve_triangular(a, xp.asarray([2.0, 9.0]))
Array([1., 2.], dtype=float64)
--- linalg.svd
>>> x = xp.reshape(xp.arange(6.0), (3, 2))
>>> u, s, vh = xp.linalg.svd(x, full_matrices=False)
>>> u.shape, s.shape, vh.shape
((3, 2), (2,), (2, 2))
>>> xp.allclose((u * s) @ vh, x)
True
--- linalg.svdvals
>>> xp.round(xp.linalg.svdvals(xp.asarray([[0.0, 3.0], [-4.0, 0.0]])))
Array([4., 3.], dtype=float64)
--- linalg.trace
>>> x = xp.reshape(xp.arange(8), (2, 2, 2))
>>> xp.linalg.trace(x)
Array([ 3, 11], dtype=int64)
>>> xp.linalg.trace(x, offset=1)
Array([1, 5], dtype=int64)
--- linalg.vector_norm
>>> x = xp.asarray([[3.0, 4.0], [0.0, -2.0]])
>>> xp.linalg.vector_norm(x, axis=1)
Array([5., 2.], dtype=float64)
>>> xp.linalg.vector_norm(x, ord=1), xp.linalg.vector_norm(x, ord=0)
(Array(9., dtype=float64), Array(3., dtype=float64))

=== Fourier transforms
--- fft.fft
>>> x = xp.asarray([1.0, 0.0, -1.0, 0.0])
>>> y = xp.fft.fft(x)
>>> xp.real(y), y.dtype
(Array([0., 2., 0., 2.], dtype=float64), stride0.complex128)
>>> xp.fft.fft(x, n=8).shape
(8,)
--- fft.ifft
>>> x = xp.asarray([1.0, 2.0, 3.0])
>>> xp.allclose(xp.fft.ifft(xp.fft.fft(x)), x)
True
--- fft.fftn
>>> y = xp.fft.fftn(xp.ones((2, 3)))
>>> xp.real(y[0, 0]), xp.allclose(xp.real(y[1, :]), 0.0)
(Array(6., dtype=float64), True)
>>> xp.fft.fftn(xp.ones((5, 2, 3)), s=(4, 4), axes=(1, 2)).shape
(5, 4, 4)
--- fft.ifftn
>>> x = xp.reshape(xp.arange(6.0), (2, 3))
>>> xp.allclose(xp.fft.ifftn(xp.fft.fftn(x)), x)
True
--- fft.rfft
>>> x = xp.asarray([1.0, 2.0, 0.0, 1.0])
>>> xp.fft.rfft(x).shape
(3,)
>>> xp.allclose(xp.fft.rfft(x), xp.fft.fft(x)[:3])
True
--- fft.irfft
>>> x = xp.asarray([1.0, 2.0, 3.0])
>>> xp.fft.irfft(xp.fft.rfft(x)).shape
(2,)
>>> xp.allclose(xp.fft.irfft(xp.fft.rfft(x), n=3), x)
True
--- fft.rfftn
>>> xp.fft.rfftn(xp.ones((4, 6))).shape
(4, 4)
>>> xp.fft.rfftn(xp.ones((4, 6)), axes=(1, 0)).shape
(3, 6)
--- fft.irfftn
>>> x = xp.reshape(xp.arange(15.0), (3, 5))
>>> y = xp.fft.rfftn(x)
>>> xp.fft.irfftn(y).shape
(3, 4)
>>> xp.allclose(xp.fft.irfftn(y, s=(3, 5), axes=(0, 1)), x)
True
--- fft.hfft
>>> y = xp.fft.hfft(xp.asarray([4.0, 1j, 2.0]))
>>> y.dtype, xp.allclose(y, xp.asarray([6.0, 4.0, 6.0, 0.0]))
(stride0.float64, True)
>>> xp.fft.hfft(xp.asarray([4.0, 1j, 2.0]), n=5).shape
(5,)
--- fft.ihfft
>>> x = xp.asarray([1.0, 4.0, 2.0, 7.0])
>>> xp.fft.ihfft(x).shape
(3,)
>>> xp.allclose(xp.fft.hfft(xp.fft.ihfft(x)), x)
True
--- fft.fftfreq
>>> xp.fft.fftfreq(5, d=0.1)
Array([ 0.,  2.,  4., -4., -2.], dtype=float64)
--- fft.rfftfreq
>>> xp.fft.rfftfreq(5, d=0.1)
Array([0., 2., 4.], dtype=float64)
--- fft.fftshift
>>> xp.fft.fftshift(xp.fft.fftfreq(5, d=0.1))
Array([-4., -2.,  0.,  2.,  4.], dtype=float64)
--- fft.ifftshift
>>> x = xp.arange(5)
>>> xp.fft.ifftshift(x)
Array([2, 3, 4, 0, 1], dtype=int64)
>>> xp.all(xp.fft.ifftshift(xp.fft.fftshift(x)) == x)
Array(True, dtype=bool)
"""

EXAMPLES: Final = dict(
    entry.split("\n", 1) for group in TEXT.split("\n=== ") for entry in group.split("\n--- ")[1:]
)
