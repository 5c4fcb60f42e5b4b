"""The rows of `peers`: an operation in the words of every library that has it."""

from __future__ import annotations

from typing import Any, NamedTuple

# How a library is imported, and what pip installs.
LIBRARIES = {
    "stride0": ("stride0", ""),
    "numpy": ("numpy", "numpy"),
    "torch": ("torch", "torch"),
    "jax": ("jax", "jax"),
    "lightarray": ("lightarray", "lightarray"),
    "numexpr": ("numexpr", "numexpr"),
    "blosc2": ("blosc2", "blosc2"),
    "numba": ("numba", "numba"),
    "scipy": ("scipy.fft", "scipy"),
    "ducc0": ("ducc0", "ducc0"),
    "pyfftw": ("pyfftw", "pyfftw"),
    "polars": ("polars", "polars"),
    "opt_einsum": ("opt_einsum", "opt_einsum"),
    "autograd": ("autograd", "autograd"),
    "mygrad": ("mygrad", "mygrad"),
    "casadi": ("casadi", "casadi"),
}


class Row(NamedTuple):
    """
    An operation on arrays.

    `statements` maps a library to a statement, or to a preparation and a statement. They name the module
    `lib`, the arrays of the row, which have random values, NumPy as `np`, and `repeated(f, x)`, which applies
    `f` 50 times.
    """

    group: str
    name: str
    shapes: dict[str, tuple[int, ...]]
    statements: dict[str, str | tuple[str, str]]
    dtype: str = "float64"
    tolerance: float = 1e-9


# How an array `x` of NumPy becomes an array of the library. Other libraries read NumPy's arrays.
CONVERT = {
    "stride0": "lib.asarray(x, copy=True)",
    "torch": "lib.tensor(x)",
    "jax": "lib.numpy.asarray(x)",
    "lightarray": "lib.array(x)",
    "blosc2": "lib.asarray(x)",
    "polars": "lib.Series(x)",
    "mygrad": "lib.tensor(x)",
}


def same(text: str, *libraries: str) -> dict[str, Any]:
    return dict.fromkeys(libraries, text)


def chain(name: str, shapes: dict[str, tuple[int, ...]], text: str, reduced: bool = False) -> Row:
    """Return the row of an expression: some libraries compile it, others read its text."""
    given = ", ".join(shapes)
    functions = "sqrt, exp, sin, sum = {0}.sqrt, {0}.exp, {0}.sin, {0}.sum"
    body = f"f = lambda {given}: {text}"
    return Row(
        "Chains of 1,000,000 elements",
        name,
        shapes,
        {
            "stride0": (f"{functions.format('lib')}\n{body}\nf = lib.fused()(f)", f"f({given})"),
            "numpy": (functions.format("lib"), text),
            "torch": (f"{functions.format('lib')}\n{body}\nf = lib.compile(f)\nf({given})", f"f({given})"),
            "jax": (
                f"{functions.format('lib.numpy')}\n{body}\nf = lib.jit(f)",
                f"f({given}).block_until_ready()",
            ),
            "numexpr": ("", f"lib.evaluate({text!r})"),
            "blosc2": ("", f"lib.lazyexpr({text!r}).compute()" + ("" if reduced else "[:]")),
            "numba": (f"{functions.format('np')}\n{body}\nf = lib.njit(f)\nf({given})", f"f({given})"),
        },
    )


def transform(name: str, shape: tuple[int, ...]) -> Row:
    several = "fft2" if len(shape) == 2 else "fft"
    wisdom = "c = lib.empty_aligned(x.shape, x.dtype)\nf = lib.builders.{0}(c, threads=1)\nc[:] = x"
    return Row(
        "Fourier transforms",
        name,
        {"x": shape},
        {
            "stride0": "lib.fft.fftn(x)" if len(shape) == 2 else "lib.fft.fft(x)",
            **same(f"lib.fft.{several}(x)", "numpy", "torch"),
            "jax": f"lib.numpy.fft.{several}(x).block_until_ready()",
            "scipy": f"lib.{several}(x)",
            "ducc0": "lib.fft.c2c(x, nthreads=1)",
            "pyfftw": (wisdom.format(several), "f()"),
        },
        "complex128",
        1e-6,
    )


ROSENBROCK = "lambda x: {0}.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)"
LOGISTIC = "lambda w: {0}.sum({0}.log(1 + {0}.exp(-y * (a @ w))))"


def gradient(
    name: str, shapes: dict[str, tuple[int, ...]], argument: str, text: str, casadi: str = ""
) -> Row:
    """Return the row of the gradient of `text`, a function of `argument` in which {0} is the namespace."""
    tensor = f"{argument} = {argument}.clone().requires_grad_()"
    statements: dict[str, Any] = {
        "stride0": (f"g = lib.autograd.grad({text.format('lib')})", f"g({argument})"),
        "torch": (f"f = {text.format('lib')}\n{tensor}", f"lib.autograd.grad(f({argument}), {argument})[0]"),
        "jax": (f"g = lib.jit(lib.grad({text.format('lib.numpy')}))", f"g({argument}).block_until_ready()"),
        "autograd": (f"import autograd.numpy\ng = lib.grad({text.format('lib.numpy')})", f"g({argument})"),
        "mygrad": (
            f"f = {text.format('lib')}\n"
            f"def g({argument}):\n    f({argument}).backward()\n    return {argument}.grad",
            f"g({argument})",
        ),
    }
    if casadi:
        statements["casadi"] = (casadi, f"g({argument})")
    return Row("Gradients", name, shapes, statements, tolerance=1e-6)


MILLION = 1_000_000
ROWS = (
    *(
        Row(
            "Calls with 10 elements",
            text.replace("lib.", ""),
            {"x": (10,), "y": (10,)},
            same(text, *libraries),
        )
        for text, libraries in {
            "x + y": ("stride0", "numpy", "torch", "lightarray"),
            "x * 2.0 + y": ("stride0", "numpy", "torch", "lightarray"),
            "lib.sum(x)": ("stride0", "numpy", "torch", "lightarray"),
            "lib.exp(x)": ("stride0", "numpy", "torch", "lightarray"),
        }.items()
    ),
    chain("2 x² + 3 sqrt(y) - x y", {"x": (MILLION,), "y": (MILLION,)}, "2*x**2 + 3*sqrt(y) - x*y"),
    chain("sin(x) exp(-y) + x", {"x": (MILLION,), "y": (MILLION,)}, "sin(x)*exp(-y) + x"),
    chain(
        "(x - row)² / (column + 1)", {"x": (1000, 1000), "r": (1000,), "c": (1000, 1)}, "(x - r)**2/(c + 1)"
    ),
    chain("sum of (x - y)²", {"x": (MILLION,), "y": (MILLION,)}, "sum((x - y)**2)", reduced=True),
    transform("2¹⁶ numbers", (1 << 16,)),
    transform("105,000 numbers", (105_000,)),
    transform("10,007 numbers, a prime", (10_007,)),
    transform("512 by 512", (512, 512)),
    Row(
        "Sorting of 1,000,000 numbers",
        "values",
        {"x": (MILLION,)},
        {
            **same("lib.sort(x)", "stride0", "numpy"),
            **{
                "torch": "lib.sort(x)[0]",
                "jax": "lib.numpy.sort(x).block_until_ready()",
                "polars": "x.sort()",
            },
        },
    ),
    Row(
        "Sorting of 1,000,000 numbers",
        "positions",
        {"x": (MILLION,)},
        {
            **{
                "stride0": "lib.argsort(x)",
                "numpy": "lib.argsort(x, kind='stable')",
                "polars": "x.arg_sort()",
            },
            **{"torch": "lib.argsort(x, stable=True)", "jax": "lib.numpy.argsort(x).block_until_ready()"},
        },
    ),
    *(
        Row(
            "Contractions",
            text,
            dict(zip("xyz", shapes, strict=False)),
            {
                "stride0": f"lib.einsum({text!r}, {', '.join('xyz'[: len(shapes)])})",
                "numpy": f"lib.einsum({text!r}, {', '.join('xyz'[: len(shapes)])}, optimize=True)",
                "torch": f"lib.einsum({text!r}, {', '.join('xyz'[: len(shapes)])})",
                "opt_einsum": f"lib.contract({text!r}, {', '.join('xyz'[: len(shapes)])})",
            },
        )
        for text, shapes in {
            "ij,jk,kl->il": ((100, 200), (200, 300), (300, 50)),
            "bij,bjk->bik": ((64, 32, 48), (64, 48, 32)),
            "ijk,jl,km->ilm": ((40, 50, 60), (50, 30), (60, 20)),
            "ij,ij->i": ((1000, 500), (1000, 500)),
        }.items()
    ),
    gradient(
        "Rosenbrock's function, 1,000 variables",
        {"x": (1000,)},
        "x",
        ROSENBROCK,
        "s = lib.SX.sym('x', 1000)\n"
        "l = lib.sum1(100 * (s[1:] - s[:-1] ** 2) ** 2 + (1 - s[:-1]) ** 2)\n"
        "g = lib.Function('g', [s], [lib.gradient(l, s)])",
    ),
    gradient("logistic regression, 2,000 by 50", {"a": (2000, 50), "y": (2000,), "w": (50,)}, "w", LOGISTIC),
    gradient(
        "a chain of 50 tanh, 10 elements", {"x": (10,)}, "x", "lambda x: {0}.sum(repeated({0}.tanh, x))"
    ),
)
