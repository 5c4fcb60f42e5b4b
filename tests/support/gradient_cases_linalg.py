"""Gradient cases of linear algebra.

Decompositions are followed by a function that does not depend on the choice of vectors. For functions that
read one triangle of a Hermitian matrix, the operand is made Hermitian first.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from gradient_cases import Call, Case, Singular
from gradient_cases_elementwise import Args, NumPyArray, Shape, complex_, inf, kinds, nan, signed

# Arrays, real and complex


def _orthogonal(rng: np.random.Generator, shape: Shape, imaginary: bool) -> NumPyArray:
    x = rng.standard_normal(shape)
    return np.asarray(np.linalg.qr(x + 1j * rng.standard_normal(shape) if imaginary else x)[0])


def regular(*shapes: Shape, imaginary: bool = False) -> Args:
    """Return matrices whose singular values differ clearly from each other and from 0."""

    def make(rng: np.random.Generator) -> tuple[NumPyArray, ...]:
        found = []
        for *lead, rows, columns in shapes:
            k = min(rows, columns)
            u = _orthogonal(rng, (*lead, rows, k), imaginary)
            v = _orthogonal(rng, (*lead, columns, k), imaginary)
            found.append((u * np.linspace(2.0, 0.8, k)) @ np.conj(np.swapaxes(v, -1, -2)))
        return tuple(found)

    return make


def apart(*shape: int, imaginary: bool = False) -> Args:
    """Return matrices whose eigenvalues differ clearly from each other and from 0."""

    def make(rng: np.random.Generator) -> tuple[NumPyArray, ...]:
        noise = 0.1 * rng.standard_normal(shape)
        if imaginary:
            noise = noise + 0.1j * rng.standard_normal(shape)
        return (np.diag(np.arange(1.0, 1.0 + shape[-1])) + noise,)

    return make


def of_rank(rank: int, *shape: int, imaginary: bool = False) -> Args:
    def make(rng: np.random.Generator) -> tuple[NumPyArray, ...]:
        *lead, rows, columns = shape
        (x,) = regular((*lead, rows, rank), imaginary=imaginary)(rng)
        (y,) = regular((*lead, rank, columns), imaginary=imaginary)(rng)
        return (x @ y,)

    return make


REAL_AND_COMPLEX = (("", False), ("-complex", True))


# Calls


def linalg(name: str, **options: Any) -> Call:
    return lambda xp, *arrays: getattr(xp.linalg, name)(*arrays, **options)


def plain(name: str, **options: Any) -> Call:
    return lambda xp, *arrays: getattr(xp, name)(*arrays, **options)


def adjoint(xp: Any, x: Any) -> Any:
    return xp.matrix_transpose(xp.conj(x))


def of_hermitian(f: Call) -> Call:
    return lambda xp, x: f(xp, (x + adjoint(xp, x)) / 2)


def of_positive(f: Call) -> Call:
    return lambda xp, x: f(xp, x @ adjoint(xp, x) + xp.eye(x.shape[-1], dtype=x.dtype))


def part(name: str, index: int, **options: Any) -> Call:
    return lambda xp, x: getattr(xp.linalg, name)(x, **options)[index]


def squares(name: str, index: int, **options: Any) -> Call:
    """Return a call for squares of the absolute values of vectors, which do not depend on their phases."""
    return lambda xp, x: xp.abs(getattr(xp.linalg, name)(x, **options)[index]) ** 2


def projector(name: str, index: int, first: int, **options: Any) -> Call:
    """Return a call that multiplies the last vectors, from a given one on, with their adjoints."""

    def call(xp: Any, x: Any) -> Any:
        vectors = getattr(xp.linalg, name)(x, **options)[index]
        if name == "svd" and index == 2:
            vectors = adjoint(xp, vectors)
        return vectors[..., first:] @ adjoint(xp, vectors[..., first:])

    return call


def _matrix_function(xp: Any, x: Any) -> Any:
    values, vectors = xp.linalg.eigh(x)
    return (vectors * xp.exp(values / 4)[..., None, :]) @ adjoint(xp, vectors)


def _singular_function(xp: Any, x: Any) -> Any:
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    return (u * xp.sin(s)[..., None, :]) @ vh


def _polar(xp: Any, x: Any) -> Any:
    u, _, vh = xp.linalg.svd(x, full_matrices=False)
    return u @ vh


# The eigenvalues of a general matrix have no fixed order, so these losses do not depend on it.


def _eigvals(xp: Any, x: Any) -> Any:
    return xp.sum(xp.exp(xp.linalg.eigvals(x) / 4), axis=-1)


def _eig_values(xp: Any, x: Any) -> Any:
    return xp.sum(xp.exp(xp.linalg.eig(x)[0] / 4), axis=-1)


def _eig_vectors(xp: Any, x: Any) -> Any:
    return xp.sum(xp.abs(xp.linalg.eig(x)[1]) ** 4, axis=-1)


def _eig_function(xp: Any, x: Any) -> Any:
    values, vectors = xp.linalg.eig(x)
    return (vectors * xp.exp(values / 4)[..., None, :]) @ xp.linalg.inv(vectors)


def _torch_triangular(upper: bool, unit: bool) -> Call:
    def call(xp: Any, a: Any, b: Any) -> Any:
        sides = b[:, None] if b.ndim == 1 else b
        out = xp.linalg.solve_triangular(a, sides, upper=upper, unitriangular=unit)
        return out[..., 0] if b.ndim == 1 else out

    return call


# Products

MATMUL: list[tuple[Shape, Shape]] = [
    ((3, 4), (4, 2)),
    ((4,), (4,)),
    ((4,), (4, 2)),
    ((3, 4), (4,)),
    ((2, 3, 4), (4, 2)),
    ((3, 4), (2, 4, 2)),
    ((2, 1, 3, 4), (3, 4, 2)),
    ((1, 3, 4), (2, 4, 2)),
    ((4,), (2, 3, 4, 2)),
    ((2, 2, 3, 4), (4,)),
    ((2, 3, 1), (2, 1, 4)),
    ((0, 3), (3, 2)),
    ((3, 0), (0, 2)),
    ((0, 3, 2), (2, 2)),
]

TENSORDOT: list[tuple[Shape, Shape, Any]] = [
    ((2, 3, 4), (3, 4, 2), 2),
    ((2, 3), (2,), 0),
    ((2, 3), (3, 4), 1),
    ((2, 3, 4), (4, 2, 3), ((0, 2), (1, 0))),
    ((2, 3, 4), (4, 3), ((-1, -2), (-2, -1))),
    ((2, 3), (2, 3), ([0, 1], [0, 1])),
    ((), (3,), 0),
    ((2, 0), (0, 3), 1),
]

VECTORS: list[tuple[Shape, Shape, int]] = [
    ((3,), (3,), -1),
    ((2, 1, 3), (4, 3), -1),
    ((3, 2), (2, 3, 1), -2),
    ((0, 3), (3,), -1),
]


def mixed(shapes: tuple[Shape, Shape]) -> Args:
    """Return a real and a complex array."""
    return kinds(signed(shapes[0]), complex_(shapes[1]))


EINSUM: list[tuple[Any, ...]] = [
    ("ij->ji", (2, 3)),
    ("ij->j", (2, 3)),
    ("ii->", (3, 3)),
    ("iij->ji", (3, 3, 2)),
    ("iii->i", (2, 2, 2)),
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ji,jk->ki", (3, 2), (3, 4)),
    ("ij,k->j", (2, 3), (4,)),
    ("ij,ij->ij", (2, 3), (1, 3)),
    ("ij,ij->", (2, 3), (1, 3)),
    ("bij,bj->bi", (2, 3, 4), (2, 4)),
    ("ii,ij->j", (3, 3), (3, 2)),
    ("...ij,...jk->...ik", (2, 1, 2, 3), (4, 3, 2)),
    ("i,ij,j->", (2,), (2, 3), (3,)),
    ("ijk,jr,kr->ir", (2, 3, 4), (3, 2), (4, 2)),
    ("ij,jk,kl,li->", (2, 3), (3, 2), (2, 4), (4, 2)),
    ("ij,ij,ij->ji", (2, 3), (2, 3), (2, 1)),
    (",i->i", (), (3,)),
    ("ij,jk->ik", (0, 3), (3, 2)),
]


def _einsum(subscripts: str) -> Call:
    return lambda xp, *x: xp.einsum(subscripts, *x)


CASES: list[Case] = []

for s1, s2 in MATMUL:
    for tag, args in (("", signed(s1, s2)), ("-complex", complex_(s1, s2))):
        CASES.append(Case("matmul", plain("matmul"), args, f"matmul-{s1}-{s2}{tag}"))
for s1, s2 in MATMUL[:8]:
    # PyTorch does not multiply matrices of different dtypes.
    CASES.append(Case("matmul", plain("matmul"), mixed((s1, s2)), f"matmul-{s1}-{s2}-mixed", torch=False))
CASES += [
    Case("matmul", lambda xp, x: x @ x, signed((3, 3)), "matmul-itself"),
    Case("matmul", lambda xp, x: xp.matmul(x, xp.conj(x)), complex_((3,)), "matmul-itself-complex"),
    Case("matrix_transpose", plain("matrix_transpose"), signed((2, 3, 4)), "matrix_transpose"),
    Case("matrix_transpose", lambda xp, x: x.mT @ x, complex_((3, 2)), "matrix_transpose-mT"),
]
for s1, s2, axes in TENSORDOT:
    for tag, args in (("", signed(s1, s2)), ("-complex", complex_(s1, s2))):
        CASES.append(
            Case("tensordot", plain("tensordot", axes=axes), args, f"tensordot-{s1}-{s2}-{axes}{tag}")
        )
for subscripts, *given in EINSUM:
    for tag, args in (("", signed(*given)), ("-complex", complex_(*given))):
        CASES.append(Case("einsum", _einsum(subscripts), args, f"einsum-{subscripts}-{given}{tag}"))
CASES += [
    Case("einsum", lambda xp, x: xp.einsum("ij,jk->ik", x, x), signed((3, 3)), "einsum-itself"),
    Case(
        "einsum",
        lambda xp, x, y: xp.einsum(x, [0, 1], y, [2, 1], [2, 0]),
        signed((2, 3), (4, 3)),
        "einsum-interleaved",
    ),
]
for s1, s2, along in VECTORS:
    for tag, args in (("", signed(s1, s2)), ("-complex", complex_(s1, s2)), ("-mixed", mixed((s1, s2)))):
        torch = False if tag == "-mixed" else None
        CASES += [
            Case("vecdot", plain("vecdot", axis=along), args, f"vecdot-{s1}-{s2}-{along}{tag}", torch=torch),
            Case(
                "linalg.cross",
                linalg("cross", axis=along),
                args,
                f"cross-{s1}-{s2}-{along}{tag}",
                torch=torch,
            ),
        ]
for s1, s2 in [((3,), (2,)), ((1,), (0,))]:
    for tag, args in (("", signed(s1, s2)), ("-complex", complex_(s1, s2)), ("-mixed", mixed((s1, s2)))):
        CASES.append(Case("linalg.outer", linalg("outer"), args, f"outer-{s1}-{s2}{tag}"))

# Diagonals and powers

for shape, offset in [
    ((3, 3), 0),
    ((2, 2, 4), 1),
    ((2, 4), -1),
    ((4, 2), 1),
    ((4, 2), -2),
    ((2, 3), 5),
    ((0, 3), 0),
]:
    for name in ("diagonal", "trace"):
        for tag, args in (("", signed(shape)), ("-complex", complex_(shape))):
            CASES.append(
                Case(f"linalg.{name}", linalg(name, offset=offset), args, f"{name}-{shape}-{offset}{tag}")
            )
CASES.append(
    Case(
        "linalg.trace",
        lambda xp, x: xp.linalg.trace(x, dtype=xp.complex128),
        signed((2, 2)),
        "trace-dtype",
        torch=False,
    )
)
for n in (0, 1, 2, 3, 6, -1, -2, -3):
    for tag, imaginary in REAL_AND_COMPLEX:
        shape = (3, 3) if n % 2 else (2, 2, 2)
        args = regular(shape, imaginary=imaginary)
        CASES.append(
            Case(
                "linalg.matrix_power",
                lambda xp, x, n=n: xp.linalg.matrix_power(x, n),
                args,
                f"power-{n}{tag}",
            )
        )

# Norms

for shape, axis, keepdims in [
    ((4,), None, False),
    ((2, 3), None, True),
    ((2, 3), -1, False),
    ((2, 3, 2), (0, 2), True),
    ((2, 3, 2), (-1, 0), False),
    ((), None, False),
]:
    for ord in (2, 1, 0, inf, -inf, 3, 2.5, 0.5, -1, -2.5):
        for tag, args in (("", signed(shape)), ("-complex", complex_(shape))):
            call = linalg("vector_norm", axis=axis, keepdims=keepdims, ord=ord)
            # PyTorch fails at ord=0 of complex numbers without axes.
            peer = None if ord or not tag else False
            id = f"norm-{shape}-{axis}-{keepdims}-{ord}{tag}"
            CASES.append(Case("linalg.vector_norm", call, args, id, torch=peer))
CASES += [
    Case("linalg.vector_norm", linalg("vector_norm"), signed((2, 3)), "norm-default"),
    Case("linalg.vector_norm", linalg("vector_norm", axis=0), signed((0, 2)), "norm-empty"),
    Case(
        "linalg.vector_norm",
        linalg("vector_norm", axis=(), ord=3),
        signed((3,)),
        "norm-no-axis",
        False,
        False,
    ),
]
for shape, keepdims in [((3, 3), False), ((2, 2, 3), True), ((3, 2), False)]:
    for norm in ("fro", "nuc", 1, 2, inf, -1, -2, -inf):
        for tag, imaginary in REAL_AND_COMPLEX:
            CASES.append(
                Case(
                    "linalg.matrix_norm",
                    linalg("matrix_norm", ord=norm, keepdims=keepdims),
                    regular(shape, imaginary=imaginary),
                    f"matrix_norm-{shape}-{norm}{tag}",
                )
            )
CASES += [
    Case("linalg.matrix_norm", linalg("matrix_norm"), signed((2, 3)), "matrix_norm-default"),
    Case(
        "linalg.matrix_norm", linalg("matrix_norm", ord=2), signed((0, 3)), "matrix_norm-empty", False, False
    ),
]

# Inverses and determinants

for size, lead in [(1, ()), (3, ()), (2, (2,)), (0, ()), (2, (0,))]:
    for tag, imaginary in REAL_AND_COMPLEX:
        shape = (*lead, size, size)
        args = regular(shape, imaginary=imaginary) if 0 not in shape else signed(shape)
        CASES += [
            Case("linalg.inv", linalg("inv"), args, f"inv-{shape}{tag}"),
            Case("linalg.det", linalg("det"), args, f"det-{shape}{tag}", jax=None if size else False),
            Case("linalg.slogdet", part("slogdet", 1), args, f"slogdet-{shape}{tag}"),
            Case("linalg.slogdet", part("slogdet", 0), args, f"slogdet-sign-{shape}{tag}"),
        ]
for size, rank in [(2, 1), (3, 2), (3, 1), (4, 2), (4, 1)]:
    for tag, imaginary in REAL_AND_COMPLEX:
        args = of_rank(rank, size, size, imaginary=imaginary)
        # From order 3 on there is another rule. PyTorch returns 0 where the determinant is exactly 0.
        CASES.append(Case("linalg.det", linalg("det"), args, f"det-{size}-rank-{rank}{tag}", False, order=3))
for s1, s2 in [
    ((3, 3), (3,)),
    ((3, 3), (3, 2)),
    ((2, 3, 3), (3,)),
    ((2, 3, 3), (3, 2)),
    ((2, 2), (3, 2, 1)),
    ((2, 1, 2, 2), (3, 2, 2)),
]:
    for tag, imaginary in REAL_AND_COMPLEX:
        right = complex_(s2) if imaginary else signed(s2)
        args = kinds(regular(s1, imaginary=imaginary), right)
        # PyTorch tells vectors from matrices differently than the standard.
        peer = None if len(s2) > 1 or len(s1) == 2 else False
        CASES.append(Case("linalg.solve", linalg("solve"), args, f"solve-{s1}-{s2}{tag}", peer, peer))
CASES.append(
    Case("linalg.solve", linalg("solve"), kinds(regular((2, 2)), complex_((2,))), "solve-mixed", torch=False)
)
for s1, s2 in [
    ((3, 3), (3,)),
    ((3, 3), (3, 2)),
    ((2, 1, 2, 2), (3, 2, 2)),
    ((2, 3, 3), (3,)),
    ((0, 0), (0, 2)),
]:
    for tag, imaginary in REAL_AND_COMPLEX:
        right = complex_(s2) if imaginary else signed(s2)
        args = kinds(apart(*s1, imaginary=imaginary) if s1[-1] else signed(s1), right)
        for upper, unit in itertools.product((False, True), repeat=2):
            call = linalg("solve_triangular", upper=upper, unit_diagonal=unit)
            id = f"solve_triangular-{s1}-{s2}-{upper}-{unit}{tag}"
            # PyTorch's diagonal has another name; JAX's function is in another module.
            CASES.append(
                Case("linalg.solve_triangular", call, args, id, _torch_triangular(upper, unit), False)
            )
for shape in [(1, 1), (3, 3), (2, 2, 2), (0, 0)]:
    for tag, imaginary in REAL_AND_COMPLEX:
        args = complex_(shape) if imaginary else signed(shape)
        peer = (lambda xp, x: xp.linalg.matrix_exp(x)) if shape[-1] else False
        CASES.append(Case("linalg.expm", linalg("expm"), args, f"expm-{shape}{tag}", peer, False))
for shape in [(3, 3), (2, 3, 2), (2, 3)]:
    for tag, imaginary in REAL_AND_COMPLEX:
        args = regular(shape, imaginary=imaginary)
        CASES += [
            Case("linalg.pinv", linalg("pinv"), args, f"pinv-{shape}{tag}"),
            # PyTorch and JAX leave out the rotation of the vectors that are cut off.
            Case("linalg.pinv", linalg("pinv", rtol=0.6), args, f"pinv-cut-{shape}{tag}", False, False),
        ]

# Decompositions

for shape in [(1, 1), (3, 3), (2, 2, 2)]:
    for tag, imaginary in REAL_AND_COMPLEX:
        args = regular(shape, imaginary=imaginary)
        separate = apart(*shape, imaginary=imaginary)
        for upper in (False, True):
            call = of_positive(linalg("cholesky", upper=upper))
            CASES.append(Case("linalg.cholesky", call, args, f"cholesky-{shape}-{upper}{tag}"))
        CASES += [
            Case("linalg.eigvalsh", of_hermitian(linalg("eigvalsh")), separate, f"eigvalsh-{shape}{tag}"),
            Case("linalg.eigh", of_hermitian(part("eigh", 0)), separate, f"eigh-values-{shape}{tag}"),
            Case("linalg.eigh", of_hermitian(squares("eigh", 1)), separate, f"eigh-vectors-{shape}{tag}"),
            Case("linalg.eigh", of_hermitian(_matrix_function), separate, f"eigh-both-{shape}{tag}"),
            Case("linalg.eigvals", _eigvals, separate, f"eigvals-{shape}{tag}"),
            # JAX has no gradient where there are eigenvectors.
            Case("linalg.eig", _eig_values, separate, f"eig-values-{shape}{tag}", jax=False),
            Case("linalg.eig", _eig_vectors, separate, f"eig-vectors-{shape}{tag}", jax=False),
            Case("linalg.eig", _eig_function, separate, f"eig-both-{shape}{tag}", None, False),
        ]
for shape in [(3, 3), (3, 2), (2, 3), (2, 3, 2)]:
    wide = shape[-1] >= shape[-2]
    for tag, imaginary in REAL_AND_COMPLEX:
        args = regular(shape, imaginary=imaginary)
        # JAX has no QR of wide matrices.
        jax = None if shape[-1] <= shape[-2] else False
        for k, letter in enumerate("QR"):
            CASES += [
                Case("linalg.qr", part("qr", k), args, f"qr-{letter}-{shape}{tag}", jax=jax),
                Case(
                    "linalg.qr",
                    part("qr", k, mode="complete")
                    if wide or k
                    else projector("qr", 0, shape[-1], mode="complete"),
                    args,
                    f"qr-complete-{letter}-{shape}{tag}",
                    torch=None if wide else False,
                    jax=None if shape[-1] == shape[-2] else False,
                ),
            ]
        CASES += [
            Case("linalg.svdvals", linalg("svdvals"), args, f"svdvals-{shape}{tag}"),
            Case(
                "linalg.svd",
                part("svd", 1),
                args,
                f"svd-S-{shape}{tag}",
                jax=part("svd", 1, full_matrices=False),
            ),
            Case("linalg.svd", _singular_function, args, f"svd-all-{shape}{tag}"),
            Case("linalg.svd", _polar, args, f"svd-polar-{shape}{tag}"),
            Case("linalg.svd", squares("svd", 0, full_matrices=False), args, f"svd-U-{shape}{tag}"),
            Case("linalg.svd", squares("svd", 2, full_matrices=False), args, f"svd-Vh-{shape}{tag}"),
            # PyTorch and JAX have no gradient for the columns that `full_matrices` adds.
            Case("linalg.svd", projector("svd", 0, 1), args, f"svd-full-U-{shape}{tag}", False, False),
            Case("linalg.svd", projector("svd", 2, 1), args, f"svd-full-Vh-{shape}{tag}", False, False),
        ]


# Points at which finite differences do not exist, or do not determine the gradient


def _array(values: Any) -> NumPyArray:
    return np.asarray(values, dtype=complex if np.iscomplexobj(values) else float)


def singular(id: str, call: Call, x: Any, gradient: Any, second: Any) -> Singular:
    return Singular(id, call, (_array(x),), (gradient,), None if second is None else (second,))


def _weighted_polar(xp: Any, x: Any) -> Any:
    return _polar(xp, x) * xp.asarray([[1.0, 2.0], [5.0, 3.0]])


def _masked_product(xp: Any, x: Any, w: Any) -> Any:
    return xp.where(xp.asarray([[True], [False], [True]]), x @ w, 0.0)


def _masked(f: Call) -> Call:
    """Return a call that takes the first result of two."""
    return lambda xp, x: xp.where(xp.asarray([True, False]), f(xp, x), 0.0)


def _masked_vectors(xp: Any, a: Any, b: Any) -> Any:
    return xp.where(xp.asarray([[True], [False]]), xp.linalg.solve(a, b), 0.0)


NOTHING = [[0, 0], [0, 0]]
ONE = [[1, 0], [0, 1]]
HALF = [[0.5, 0], [0, 0.5]]
# NumPy inverts the first one without an error, and not the second one.
NAN_MATRIX = [[1, nan], [1, 1]]
DETS = [[1, -1], [-1, 1]]
PAIR = [[[2, 1], [1, 1]], NAN_MATRIX]
OTHER_PAIR = [[[2, 1], [1, 1]], [[nan, 1], [1, 1]]]

SINGULAR: list[Singular] = [
    *[
        singular(f"norm-{ord}-at-0", linalg("vector_norm", ord=ord), [0, 0], [0, 0], [0, 0])
        for ord in (2, 1, 0, 3, 1.5, 0.5, inf, -inf, -1, -2.5)
    ],
    *[
        singular(f"norm-{ord}-at-0-complex", linalg("vector_norm", ord=ord), [0j, 0j], [0, 0], [0, 0])
        for ord in (2, 1, 3, 0.5, inf, -1)
    ],
    singular("norm-rows", linalg("vector_norm", axis=1), [[0, 0], [3, 4]], [[0, 0], [0.6, 0.8]], None),
    singular("norm-0-d", linalg("vector_norm"), 0, 0, 0),
    singular("norm-1-zero", linalg("vector_norm", ord=1), [2, 0, -3], [1, 0, -1], [0, 0, 0]),
    singular("norm-1.5-zero", linalg("vector_norm", ord=1.5), [4, 0], [1, 0], [0, 0]),
    singular("norm-inf-ties", linalg("vector_norm", ord=inf), [2, -2, 1], [0.5, -0.5, 0], [0, 0, 0]),
    singular("norm-tiny", linalg("vector_norm"), [3e-310, 4e-310], [0.6, 0.8], None),
    singular("norm-huge", linalg("vector_norm"), [3e200, 4e200], [0.6, 0.8], None),
    *[
        singular(f"matrix_norm-{norm}-at-0", linalg("matrix_norm", ord=norm), NOTHING, NOTHING, NOTHING)
        for norm in ("fro", "nuc", 1, 2, inf, -1, -2, -inf)
    ],
    singular("matrix_norm-2-ties", linalg("matrix_norm", ord=2), ONE, HALF, NOTHING),
    singular("matrix_norm-nuc-ties", linalg("matrix_norm", ord="nuc"), ONE, ONE, NOTHING),
    singular(
        "matrix_norm-nuc-rank", linalg("matrix_norm", ord="nuc"), [[2, 0], [0, 0]], [[1, 0], [0, 0]], None
    ),
    singular(
        "matrix_norm-1-ties",
        linalg("matrix_norm", ord=1),
        [[1, -2], [3, 2]],
        [[0.5, -0.5], [0.5, 0.5]],
        NOTHING,
    ),
    singular("det-singular", linalg("det"), [[1, 2], [2, 4]], [[4, -2], [-2, 1]], DETS),
    singular("det-0", linalg("det"), NOTHING, NOTHING, DETS),
    singular("det-one", linalg("det"), ONE, ONE, DETS),
    singular("det-0-of-one", linalg("det"), [[0]], [[1]], [[0]]),
    singular("det-tiny", linalg("det"), [[1e-200, 0], [0, 1e-200]], [[1e-200, 0], [0, 1e-200]], DETS),
    singular(
        "det-0-3",
        linalg("det"),
        [[1, 0, 0], [0, 0, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 1, -1], [0, -1, 1]],
    ),
    singular("eigvalsh-ties", linalg("eigvalsh"), ONE, ONE, NOTHING),
    singular("eigvalsh-ties-square", lambda xp, x: xp.linalg.eigvalsh(x) ** 2, ONE, [[2, 0], [0, 2]], None),
    singular("eigh-ties", projector("eigh", 1, 0), ONE, NOTHING, NOTHING),
    singular("eigh-ties-values", part("eigh", 0), [[0j, 0], [0, 0]], ONE, NOTHING),
    singular("svdvals-ties", linalg("svdvals"), ONE, ONE, NOTHING),
    singular("svd-ties-polar", _weighted_polar, ONE, [[0, -1.5], [1.5, 0]], None),
    singular("svd-ties", projector("svd", 0, 0), ONE, NOTHING, NOTHING),
    singular("pinv-rank", linalg("pinv"), [[1, 0], [0, 0]], [[-1, 1], [1, 0]], None),
    singular("pinv-0", linalg("pinv"), NOTHING, NOTHING, NOTHING),
    singular(
        "power-singular", lambda xp, x: xp.linalg.matrix_power(x, 2), NOTHING, NOTHING, [[4, 4], [4, 4]]
    ),
    # The branch that `where` did not choose must contribute nothing.
    Singular(
        "matmul-masked",
        _masked_product,
        (_array([[1, 2], [nan, inf], [3, 4]]), _array([[1, 2, 3], [4, 5, 6]])),
        ([[6, 15], [0, 0], [6, 15]], [[4, 4, 4], [6, 6, 6]]),
        ([[3, 3], [0, 0], [3, 3]], [[2, 2, 2], [2, 2, 2]]),
    ),
    Singular(
        "solve-masked",
        _masked_vectors,
        (_array([ONE, NAN_MATRIX]), _array([1, 2])),
        ([[[-1, -2], [-1, -2]], NOTHING], [1, 1]),
        None,
    ),
    singular("inv-masked", lambda xp, x: xp.linalg.inv(x)[0, ...], PAIR, [[[0, 0], [0, -1]], NOTHING], None),
    singular("det-masked", _masked(linalg("det")), PAIR, [[[1, -1], [-1, 2]], NOTHING], [DETS, NOTHING]),
    singular(
        "det-masked-2", _masked(linalg("det")), OTHER_PAIR, [[[1, -1], [-1, 2]], NOTHING], [DETS, NOTHING]
    ),
    singular("slogdet-masked-nan", _masked(part("slogdet", 1)), [ONE, OTHER_PAIR[1]], [ONE, NOTHING], None),
    singular(
        "slogdet-masked",
        _masked(part("slogdet", 1)),
        [ONE, NOTHING],
        [ONE, NOTHING],
        [[[-1, -1], [-1, -1]], NOTHING],
    ),
    singular("trace-masked", _masked(linalg("trace")), PAIR, [ONE, NOTHING], [NOTHING, NOTHING]),
]
