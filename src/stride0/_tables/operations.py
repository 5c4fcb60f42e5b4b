"""The operation table: every elementwise function and every reduction is one row.

It determines the kernels, the public functions with their docstrings, the operators of the array type, the
type stubs, and the names that the tests run over (their expectations come from elsewhere). Standard library
only: the build loads this file by its path before the package exists.

Note [Bodies]
    A body is a C expression over the operands: `x`, or `x1`, `x2`, `x3`. Its key gives the kinds of data: b
    bool, i signed, u unsigned, f real floating, c complex floating. The key "iu" means that one loop on
    unsigned operands serves both signs, which makes overflow wrap. Complex operands are `c128` structs,
    whatever their precision in memory. Storage dtypes run in the dtype of their computations, unless there is
    a body "s" for their bits. `{t}` is replaced by f32 or f64, or the name of a storage dtype; `{T}` by the C
    type in memory; `{U}` by the unsigned type of the same size; `{W}` by its width in bits.
"""

# No annotations from `__future__` here: `NamedTuple` compiles annotations that are strings, at every import.
from typing import Any, Final, NamedTuple

# The standard's names of the dtypes that an operation accepts, as letters of the dtype table.
KINDS: Final = {
    "any": "biufc",
    "numeric": "iufc",
    "real-valued": "iuf",
    "integer": "iu",
    "integer or boolean": "biu",
    "boolean": "b",
    "floating-point": "fc",
    "real-valued floating-point": "f",
    "complex floating-point": "c",
}

OUT: Final = ("same", "bool", "real")
NAMESPACES: Final = ("", "special")
REPEATED: Final = ("", "multiply", "power")


class Domain(NamedTuple):
    """The range of ordinary operands in property tests (which add special values)."""

    low: float = -100.0
    high: float = 100.0


class Op(NamedTuple):
    """One elementwise operation."""

    name: str
    nin: int
    on: str  # a key of KINDS: the dtypes in the standard
    body: dict[str, str]
    doc: str
    out: str = "same"
    operator: str = ""
    # Dtype for operands whose kind has no body; "" refuses them.
    otherwise: str = ""
    # Dtypes whose body is a library call, which does not vectorise: one strided loop serves every layout.
    call: tuple[str, ...] = ()
    # Dtypes for which `vecmath.h` or `cvecmath.h` has a whole loop for the body's function:
    # `vm_<name>_f64_run`, `cv_<name>_c128_run`.
    run: tuple[str, ...] = ()
    # Dtypes whose loop over any strides gains from a newer instruction set (few such loops do): by fma, by
    # more divisions at once, or by shifts with the count in any register.
    gains: tuple[str, ...] = ()
    # Dtypes for which the loop over any strides gathers elements for the loop over contiguous elements (Note
    # [Blockwise]), because the compiler makes branches of a selection, or vectors take as long as one
    # element.
    gathered: tuple[str, ...] = ()
    # Whether the body sees the bits of floating-point operands, as a signed integer.
    bits: bool = False
    # Loops in headers: their names by dtype and layout.
    written: dict[tuple[str, int], str] = {}  # noqa: RUF012 - never written to
    # Whether an element takes 0.5 ns or more, although neither `otherwise` nor `run` implies it.
    slow: bool = False
    # Whether `x2` is an exponent, which must not be negative for integers.
    exponent: bool = False
    public: bool = True
    ulp: float = 0.5
    samples: Domain = Domain()
    since: str = "2021.12"  # the version of the standard; "" if it is not in the standard
    # The inner namespace of the function: "" is the main namespace, "special" is `stride0.special`, whose
    # functions are not in the standard.
    namespace: str = ""

    @property
    def qualified(self) -> str:
        """The function's name in messages, gradient rules and interceptors."""
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


class Reduction(NamedTuple):
    """One reduction: `fold` combines accumulators, `body` computes one from the operands."""

    name: str
    nin: int
    body: dict[str, str]
    fold: dict[str, str]  # over a and b
    accumulator: dict[str, str]  # kind -> name of a dtype, or "same"
    identity: dict[str, str]  # kind of the accumulator -> a constant
    # The initial result, real and complex; None: the first element. For an empty reduction, -0.0 becomes
    # 0.
    start: float | None = None
    complex_start: complex | None = None
    # The result of reducing n equal elements, given the element: n times it ("multiply"), its n-th power
    # ("power"), or the element itself ("").
    repeated: str = ""
    # Whether a floating-point result has the operand's dtype instead of the accumulator's.
    rounded: bool = False
    absorbing: str = ""  # a constant that ends the reduction early
    gains: tuple[str, ...] = ()  # as for an operation
    merged: bool = True  # whether adjacent short rows are folded as one, which changes the order of a sum
    folded_by: str = ""  # the reduction of plain elements that folds its accumulators; "" is the row itself
    # Whether the second operand is one value for a whole run: then layout 4 has a loop instead of layout 0.
    constant_second: bool = False
    # The loops in `folding.h` and `finding.h`: dtypes by layout. They are for any strides.
    written: dict[int, tuple[str, ...]] = {}  # noqa: RUF012
    # Other dtypes whose rows with any strides are copied first: Note [Parts].
    gathered: tuple[str, ...] = ()
    # Shared loops in these headers: dtype -> reduction and dtype whose loop is used.
    alike: dict[str, tuple[str, str]] = {}  # noqa: RUF012


class Scan(NamedTuple):
    """One cumulative operation along an axis; accumulates like the reduction of the same fold."""

    name: str
    reduction: str
    written: dict[str, str] = {}  # noqa: RUF012 - names of loops in `scanning.h`, by dtype


def _unary(name: str, on: str, body: dict[str, str], doc: str, **more: Any) -> Op:
    return Op(name, 1, on, body, doc, **more)


def _binary(name: str, on: str, body: dict[str, str], doc: str, **more: Any) -> Op:
    return Op(name, 2, on, body, doc, **more)


_REALS: Final = ("float32", "float64")
_COMPLEX: Final = ("complex64", "complex128")
_WORDS: Final = ("int64", "uint64")
_INTEGERS: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# For rows whose body is a call, or does not vectorise, in every dtype.
_CALLED: Final = (*_INTEGERS, *_REALS, *_COMPLEX)
# The same for integer division, which mostly vectorises.
_DIVIDED: Final = ("uint64", *_REALS)
_OPERANDS: Final = {1: "x", 2: "x1, x2"}


def _transcendental(
    name: str, doc: str, *, nin: int = 1, low: float = -100.0, high: float = 100.0, **more: Any
) -> Op:
    """Row of a transcendental function, whose loops are in `vecmath.h` and, for one operand, `cvecmath.h`."""
    body = {"f": f"vm_{name}_{{t}}({_OPERANDS[nin]})", **({"c": f"{name}_c(x)"} if nin == 1 else {})}
    return Op(
        *(name, nin, "floating-point" if nin == 1 else "real-valued floating-point", body, doc),
        **{"otherwise": "float64", "run": (*_REALS, *_COMPLEX) if nin == 1 else _REALS, "ulp": 1, **more},
        samples=Domain(low, high),
    )


def _special(name: str, nin: int, doc: str, *, low: float = -30.0, high: float = 30.0, **more: Any) -> Op:
    """Row of a function of `stride0.special`, whose loops are in `vecmath_special.h`."""
    return Op(
        *(name, nin, "real-valued floating-point", {"f": f"vm_{name}_{{t}}({_OPERANDS[nin]})"}, doc),
        **{"otherwise": "float64", "run": _REALS, "ulp": 2, **more},
        samples=Domain(low, high),
        since="",
        namespace="special",
    )


_COMPARE: Final[dict[str, Any]] = {"out": "bool"}
_LOGIC: Final = (("AND", "&"), ("OR", "|"), ("XOR", "^"))

OPS: Final = (
    # --- arithmetic
    _binary(
        "add",
        "numeric",
        {"b": "x1 | x2", "iu": "x1 + x2", "f": "x1 + x2", "c": "add_c(x1, x2)"},
        "Sum of each pair of elements.",
        operator="+",
    ),
    _binary(
        "subtract",
        "numeric",
        {"iu": "x1 - x2", "f": "x1 - x2", "c": "subtract_c(x1, x2)"},
        "Difference of each pair of elements, `x1 - x2`.",
        operator="-",
    ),
    _binary(
        "multiply",
        "numeric",
        {"b": "x1 & x2", "iu": "x1 * x2", "f": "x1 * x2", "c": "multiply_c{W}(x1, x2)"},
        "Product of each pair of elements.",
        operator="*",
        gains=("complex64",),
        written={
            ("complex64", 0): "s0_multiply_complex64",
            ("complex128", 0): "s0_multiply_complex128",
            ("complex128", 1): "s0_multiply_complex128_left",
            ("complex128", 2): "s0_multiply_complex128_right",
            ("complex128", 3): "s0_multiply_complex128_strided",
        },
    ),
    _binary(
        "divide",
        "numeric",
        {"f": "x1 / x2", "c": "divide_c(x1, x2)"},
        "Quotient of each pair of elements, `x1 / x2`.",
        operator="/",
        otherwise="float64",
        run=_COMPLEX,
    ),
    _binary(
        "floor_divide",
        "real-valued",
        {"i": "floor_divide_i{W}(x1, x2)", "u": "floor_divide_u{W}(x1, x2)", "f": "floor_divide_{t}(x1, x2)"},
        "Quotient of each pair of elements, rounded down; 0 where an integer is divided by zero.",
        operator="//",
        call=_DIVIDED,
        run=("int64",),
        gains=("float64",),
        slow=True,
    ),
    _binary(
        "remainder",
        "real-valued",
        {"i": "remainder_i{W}(x1, x2)", "u": "remainder_u{W}(x1, x2)", "f": "remainder_{t}(x1, x2)"},
        "Remainder of each pair of elements, with the sign of the divisor. An integer modulo zero gives 0.",
        operator="%",
        call=("uint64",),
        run=("int64", *_REALS),
        slow=True,
    ),
    _binary(
        "pow",
        "numeric",
        {"i": "pow_u64(x1, x2)", "u": "pow_u64(x1, x2)", "f": "vm_pow_{t}(x1, x2)", "c": "pow_c(x1, x2)"},
        "Each element of `x1` raised to the power of the element of `x2`.",
        operator="**",
        call=_CALLED,
        run=(*_INTEGERS, *_REALS, *_COMPLEX),
        slow=True,
        exponent=True,
        ulp=4,
        samples=Domain(0.0, 10.0),
    ),
    Op(
        "add_scaled",
        3,
        "numeric",
        {"iu": "x1 + x3 * x2", "f": "x1 + x3 * x2", "c": "add_c(x1, multiply_c(x3, x2))"},
        "`x1 + x3 * x2` in one pass: what `add` runs when it is given `alpha`.",
        public=False,
    ),
    Op(
        "multiply_masked",
        2,
        "floating-point",
        {"f": "x1 != 0 ? x1 * x2 : x1", "c": "multiply_masked_c(x1, x2)"},
        "Product that is zero where `x1` is, even where `x2` is infinite or NaN: `x1` is a cotangent.",
        public=False,
    ),
    _unary(
        "negative",
        "numeric",
        {"iu": "0 - x", "f": "-x", "c": "negative_c(x)"},
        "Each element with its sign reversed.",
        operator="neg",
    ),
    _unary("positive", "numeric", {"iu": "x", "f": "x", "c": "x"}, "A copy of the elements.", operator="pos"),
    _unary(
        "abs",
        "numeric",
        {"b": "x", "i": "x < 0 ? ({T})(0 - ({U})x) : x", "u": "x", "f": "fabs_{t}(x)", "c": "abs_c(x)"},
        "Absolute value of each element; the magnitude where it is complex.",
        out="real",
        operator="abs",
        gathered=("int8", "int16", "int32", "int64", *_COMPLEX),
        written={("complex64", 0): "s0_abs_complex64", ("complex128", 0): "s0_abs_complex128"},
    ),
    _unary(
        "sign",
        "numeric",
        {"i": "({T})(x > 0) - ({T})(x < 0)", "u": "x > 0", "f": "sign_{t}(x)", "c": "sign_c(x)"},
        "Sign of each element: -1, 0 or 1; `x / abs(x)` where it is complex.",
        gains=_COMPLEX,
        gathered=("int8", "int16", "int32", "float64"),
    ),
    _unary(
        "reciprocal",
        "floating-point",
        {"f": "1 / x", "c": "reciprocal_c(x)"},
        "`1 / x` for each element.",
        otherwise="float64",
        run=_COMPLEX,
        gathered=_REALS,
        since="2024.12",
    ),
    _unary(
        "square",
        "numeric",
        {"iu": "x * x", "f": "x * x", "c": "square_c(x)"},
        "Each element multiplied by itself.",
        written={
            ("complex128", 0): "s0_square_complex128",
            ("complex128", 3): "s0_square_complex128_strided",
        },
    ),
    _unary(
        "sqrt",
        "floating-point",
        {"f": "sqrt_{t}(x)", "c": "sqrt_c(x)"},
        "Principal square root of each element.",
        otherwise="float64",
        run=_COMPLEX,
        gathered=_REALS,
        samples=Domain(0.0, 1e6),
    ),
    _transcendental(
        "hypot", "Square root of `x1**2 + x2**2`, without overflow on the way.", nin=2, ulp=2, since="2023.12"
    ),
    *(
        _binary(
            name,
            "real-valued",
            {
                "b": f"x1 {bits} x2",
                **dict.fromkeys("iu", f"x1 {sign} x2 ? x1 : x2"),
                "f": f"{name}_{{t}}(x1, x2)",
            },
            f"{word} of each pair of elements; NaN where either is NaN.",
            gathered=_REALS,
            since="2023.12",
        )
        for name, bits, sign, word in (("maximum", "|", ">", "Larger"), ("minimum", "&", "<", "Smaller"))
    ),
    Op(
        "clip",
        3,
        "real-valued",
        {
            "b": "(x1 | x2) & x3",
            "i": "min_c(max_c(x1, x2), x3)",
            "u": "min_c(max_c(x1, x2), x3)",
            "f": "clip_{t}(x1, x2, x3)",
        },
        "Elements limited to the range from `x2` to `x3`: the three-operand form of the public `clip`.",
        gathered=_REALS,
        public=False,
    ),
    # --- rounding
    _unary("ceil", "real-valued", {"iu": "x", "f": "ceil_{t}(x)"}, "Least integer not below each element."),
    _unary(
        "floor", "real-valued", {"iu": "x", "f": "floor_{t}(x)"}, "Greatest integer not above each element."
    ),
    _unary("trunc", "real-valued", {"iu": "x", "f": "trunc_{t}(x)"}, "Each element rounded towards zero."),
    _unary(
        "round",
        "numeric",
        {"iu": "x", "f": "round_{t}(x)", "c": "round_c(x)"},
        "Each element rounded to the nearest integer, halves to the even one.",
    ),
    # --- comparison and classification
    _binary(
        "equal",
        "any",
        {"b": "x1 == x2", "iu": "x1 == x2", "f": "x1 == x2", "c": "equal_c(x1, x2)"},
        "Whether each pair of elements is equal.",
        operator="==",
        **_COMPARE,
    ),
    _binary(
        "not_equal",
        "any",
        {"b": "x1 != x2", "iu": "x1 != x2", "f": "x1 != x2", "c": "not_equal_c(x1, x2)"},
        "Whether each pair of elements differs.",
        operator="!=",
        **_COMPARE,
    ),
    *(
        _binary(
            name, "real-valued", {kind: f"x1 {sign} x2" for kind in "biuf"}, doc, operator=sign, **_COMPARE
        )
        for name, sign, doc in (
            ("less", "<", "Whether each element of `x1` is less than the element of `x2`."),
            (
                "less_equal",
                "<=",
                "Whether each element of `x1` is at most the element of `x2`.",
            ),
            ("greater", ">", "Whether each element of `x1` is greater than the element of `x2`."),
            (
                "greater_equal",
                ">=",
                "Whether each element of `x1` is at least the element of `x2`.",
            ),
        )
    ),
    _unary(
        "isfinite",
        "numeric",
        {"b": "1", "iu": "1", "f": "x - x == 0", "c": "isfinite_c(x)"},
        "Whether each element is neither infinite nor NaN.",
        gathered=(*_REALS, "complex64"),
        **_COMPARE,
    ),
    _unary(
        "isinf",
        "numeric",
        {"b": "0", "iu": "0", "f": "(x == INFINITY) | (x == -INFINITY)", "c": "isinf_c(x)"},
        "Whether each element is infinite (of a complex one: either component).",
        gathered=(*_REALS, *_COMPLEX),
        **_COMPARE,
    ),
    _unary(
        "isnan",
        "numeric",
        {"b": "0", "iu": "0", "f": "x != x", "c": "isnan_c(x)"},
        "Whether each element is NaN (of a complex one: either component).",
        gathered=(*_REALS, "complex64"),
        **_COMPARE,
    ),
    _unary(
        "signbit",
        "real-valued floating-point",
        {"f": "x < 0"},
        "Whether the sign bit of each element is set, of zeros and NaNs too.",
        since="2023.12",
        bits=True,
        **_COMPARE,
    ),
    # --- logic and bits
    *(
        _binary(
            f"logical_{name.lower()}",
            "boolean",
            {"b": f"x1 {sign} x2"},
            f"Logical {name} of each pair of elements.",
            otherwise="bool",
            **_COMPARE,
        )
        for name, sign in _LOGIC
    ),
    _unary(
        "logical_not", "boolean", {"b": "x ^ 1"}, "Logical NOT of each element.", otherwise="bool", **_COMPARE
    ),
    *(
        _binary(
            f"bitwise_{name.lower()}",
            "integer or boolean",
            {"b": f"x1 {sign} x2", "iu": f"x1 {sign} x2"},
            f"Bitwise {name} of each pair of elements.",
            operator=sign,
        )
        for name, sign in _LOGIC
    ),
    _unary(
        "bitwise_invert",
        "integer or boolean",
        {"b": "x ^ 1", "iu": "~x"},
        "Each element with its bits inverted.",
        operator="invert",
    ),
    _binary(
        "bitwise_left_shift",
        "integer",
        {"i": "({U})x2 < {W} ? ({U})x1 << x2 : 0", "u": "x2 < {W} ? x1 << x2 : 0"},
        "Bits of `x1` shifted left by `x2`, 0 where `x2` is not below the number of bits.",
        operator="<<",
        gains=_INTEGERS,
        samples=Domain(0, 7),
    ),
    _binary(
        "bitwise_right_shift",
        "integer",
        {"i": "x1 >> (({U})x2 < {W} ? x2 : {W} - 1)", "u": "x2 < {W} ? x1 >> x2 : 0"},
        "Bits of `x1` shifted right by `x2`, keeping the sign.",
        operator=">>",
        gains=_INTEGERS,
        samples=Domain(0, 7),
    ),
    # --- complex numbers
    _unary(
        "conj",
        "numeric",
        {"iu": "x", "f": "x", "c": "conj_c(x)"},
        "Complex conjugate of each element.",
        since="2022.12",
    ),
    # --- floating-point representation
    _binary(
        "copysign",
        "real-valued floating-point",
        {"f": "copysign_{t}(x1, x2)"},
        "Magnitude of `x1` with the sign of `x2`.",
        otherwise="float64",
        since="2023.12",
    ),
    _binary(
        "nextafter",
        "real-valued floating-point",
        {"f": "nextafter_{t}(x1, x2)", "s": "nextafter_bits(x1, x2, {t}_to_f32(x1), {t}_to_f32(x2), {W})"},
        "Next representable value after `x1` towards `x2`.",
        otherwise="float64",
        call=_CALLED,
        since="2024.12",
    ),
    # --- exponentials and logarithms
    _transcendental("exp", "Exponential of each element."),
    _transcendental("expm1", "`exp(x) - 1` for each element, accurate near zero."),
    _transcendental("log", "Natural logarithm of each element.", low=0.0, high=1e6),
    _transcendental(
        "log1p", "Natural logarithm of `1 + x` for each element, accurate near zero.", low=-1.0, high=1e6
    ),
    _transcendental("log2", "Base-2 logarithm of each element.", low=0.0, high=1e6),
    _transcendental("log10", "Base-10 logarithm of each element.", low=0.0, high=1e6),
    _transcendental(
        "logaddexp",
        "Logarithm of the sum of the exponentials, `log(exp(x1) + exp(x2))`, without overflow on the way.",
        nin=2,
        ulp=4,
    ),
    # --- trigonometric and hyperbolic functions
    _transcendental("sin", "Sine of each element, in radians."),
    _transcendental("cos", "Cosine of each element, in radians."),
    _transcendental("tan", "Tangent of each element, in radians."),
    _transcendental("asin", "Inverse sine of each element, in radians.", low=-1.0, high=1.0),
    _transcendental("acos", "Inverse cosine of each element, in radians.", low=-1.0, high=1.0),
    _transcendental("atan", "Inverse tangent of each element, in radians."),
    _transcendental(
        "atan2", "Angle in radians of the point with the ordinate `x1` and the abscissa `x2`.", nin=2, ulp=4
    ),
    _transcendental("sinh", "Hyperbolic sine of each element."),
    _transcendental("cosh", "Hyperbolic cosine of each element."),
    _transcendental("tanh", "Hyperbolic tangent of each element."),
    _transcendental("asinh", "Inverse hyperbolic sine of each element."),
    _transcendental("acosh", "Inverse hyperbolic cosine of each element.", low=1.0, high=1e6),
    _transcendental("atanh", "Inverse hyperbolic tangent of each element.", low=-1.0, high=1.0),
    # --- stride0.special
    _special("expit", 1, "Logistic function of each element, `1 / (1 + exp(-x))`."),
    _special("logit", 1, "Inverse of the logistic function, `log(x / (1 - x))`.", low=0.0, high=1.0),
    _special("log_expit", 1, "Logarithm of the logistic function, `-log(1 + exp(-x))`."),
    _special("softplus", 1, "Logarithm of `1 + exp(x)` for each element."),
    _special("xlogy", 2, "`x1 * log(x2)` for each pair of elements; 0 where `x1` is 0.", low=0.0),
    _special("xlog1py", 2, "`x1 * log(1 + x2)` for each pair of elements; 0 where `x1` is 0.", low=-1.0),
    _special(
        "entr", 1, "Entropy of each element, `-x * log(x)`; 0 for 0, -infinity for negative ones.", low=0.0
    ),
    _special("rel_entr", 2, "Relative entropy of each pair of elements, `x1 * log(x1 / x2)`.", low=0.0),
    _special("kl_div", 2, "Kullback-Leibler divergence, `x1 * log(x1 / x2) - x1 + x2`.", low=0.0),
    _special(
        "huber", 2, "Huber loss of the residual `x2`, quadratic up to `x1` and linear beyond it.", low=0.0
    ),
    _special(
        "pseudo_huber", 2, "`x1**2 * (sqrt(1 + (x2 / x1)**2) - 1)`, a smooth Huber loss of `x2`.", low=0.0
    ),
    _special("cbrt", 1, "Cube root of each element."),
    _special("exp2", 1, "Base-2 exponential of each element, `2**x`."),
    _special("exp10", 1, "Base-10 exponential of each element, `10**x`."),
    _special("exprel", 1, "`(exp(x) - 1) / x` for each element, 1 for 0."),
    _special(
        "boxcox",
        2,
        "Box-Cox transformation of `x1`, `(x1**x2 - 1) / x2`; `log(x1)` where `x2` is 0.",
        low=0.0,
        high=5.0,
    ),
    _special("boxcox1p", 2, "Box-Cox transformation of `1 + x1` with the exponent `x2`.", low=-1.0, high=5.0),
    _special(
        "inv_boxcox",
        2,
        "Inverse of `boxcox`, `(1 + x1 * x2)**(1 / x2)`; `exp(x1)` where `x2` is 0.",
        low=0.0,
        high=5.0,
    ),
    _special("inv_boxcox1p", 2, "Inverse of `boxcox1p`: `inv_boxcox(x1, x2) - 1`.", low=0.0, high=5.0),
    _special("sinc", 1, "`sin(pi * x) / (pi * x)` for each element, 1 for 0."),
    _special("cosm1", 1, "`cos(x) - 1` for each element, accurate near zero."),
    _special("sindg", 1, "Sine of each element, in degrees.", low=-720.0, high=720.0),
    _special("cosdg", 1, "Cosine of each element, in degrees.", low=-720.0, high=720.0),
    _special("tandg", 1, "Tangent of each element, in degrees.", low=-720.0, high=720.0),
    _special("cotdg", 1, "Cotangent of each element, in degrees.", low=-720.0, high=720.0),
    _special("erf", 1, "Error function of each element.", low=-6.0, high=6.0),
    _special("erfc", 1, "Complementary error function of each element, `1 - erf(x)`.", low=-6.0, high=26.0),
    _special("erfcx", 1, "Scaled complementary error function, `exp(x**2) * erfc(x)`.", low=-9.0, high=50.0),
    _special("erfinv", 1, "Inverse of the error function.", low=-1.0, high=1.0),
    _special("erfcinv", 1, "Inverse of the complementary error function.", low=0.0, high=2.0),
    _special("ndtr", 1, "Distribution function of the standard normal distribution.", low=-36.0, high=10.0),
    _special("log_ndtr", 1, "Logarithm of the distribution function of the standard normal distribution."),
    _special(
        "ndtri", 1, "Quantile of the standard normal distribution, the inverse of `ndtr`.", low=0.0, high=1.0
    ),
    _special("gamma", 1, "Gamma function of each element.", low=0.0, high=30.0),
    _special("gammaln", 1, "Logarithm of the absolute value of the gamma function.", low=0.0),
    _special("digamma", 1, "Derivative of the logarithm of the gamma function.", low=0.0),
    *(
        _special(
            f"i{order}{scaled}",
            1,
            f"Modified Bessel function of order {order}{', times `exp(-abs(x))`' * bool(scaled)}.",
        )
        for order in (0, 1)
        for scaled in ("", "e")
    ),
)

# Operations whose operands another one takes the other way round.
MIRRORED: Final = {
    **{"less": "greater", "greater": "less", "less_equal": "greater_equal", "greater_equal": "less_equal"},
    **{"equal": "equal", "not_equal": "not_equal"},
}

_INT_SUM = {"b": "int64", "i": "int64", "u": "uint64", "f": "float64", "c": "complex128"}
_COUNT = dict.fromkeys("biufc", "int64")
_FLAG = dict.fromkeys("biufc", "bool")
_BYTES = ("bool", "int8", "uint8")
_NONZERO = {"b": "x", "iu": "x != 0", "f": "x != 0", "c": "(x.re != 0) | (x.im != 0)"}
_ADDED = {"iu": "a + b", "f": "a + b", "c": "add_c(a, b)"}
# -0.0, so that a sum of negative zeros keeps its sign.
_NOTHING = {"iu": "0", "f": "-0.0", "c": "make_c(-0.0, -0.0)"}
_PRODUCTS = {"b": "x1 & x2", **dict.fromkeys("iuf", "x1 * x2")}


def _sum_of_products(name: str, body: dict[str, str], **more: Any) -> Reduction:
    return Reduction(
        *(name, 2, body, _ADDED, {letter: _INT_SUM[letter] for letter in body}, _NOTHING),
        start=-0.0,
        complex_start=complex(-0.0, -0.0),
        repeated="multiply",
        folded_by="sum",
        **more,
    )


# The fold of max and min tests the new element b for NaN, so that the test is not in the chain of operations
# for which each accumulator waits.
REDUCTIONS: Final = (
    Reduction(
        *("sum", 1, dict.fromkeys("biufc", "x"), _ADDED, _INT_SUM, _NOTHING),
        start=-0.0,
        # As in NumPy, a sum of complex negative zeros is 0: users expect its logarithm to have the phase 0.
        complex_start=0j,
        repeated="multiply",
        rounded=True,
        written={0: (*_WORDS, *_REALS, *_COMPLEX), 2: ("float32",)},
        # Integers are added as unsigned.
        alike={"int64": ("sum", "uint64")},
    ),
    Reduction(
        "prod",
        1,
        dict.fromkeys("biufc", "x"),
        {"iu": "a * b", "f": "a * b", "c": "multiply_c(a, b)"},
        _INT_SUM,
        {"iu": "1", "f": "1.0", "c": "make_c(1.0, 0.0)"},
        start=1,
        complex_start=1,
        repeated="power",
        rounded=True,
        written={2: ("complex128",)},
    ),
    *(
        Reduction(
            *(name, 1, dict.fromkeys("biuf", "x")),
            {
                "b": f"a {bits} b",
                **dict.fromkeys("iu", f"a {sign} b ? a : b"),
                "f": f"{name}imum_{{t}}(b, a)",
            },
            dict.fromkeys("biuf", "same"),
            least,
            gains=("uint64",),
            written={0: ("int64", *_REALS), 2: _REALS},
            gathered=("int64",),
        )
        for name, bits, sign, least in (
            ("max", "|", ">", {"b": "0", "i": "{MIN}", "u": "0", "f": "-INFINITY"}),
            ("min", "&", "<", {"b": "1", "i": "{MAX}", "u": "{MAX}", "f": "INFINITY"}),
        )
    ),
    *(
        Reduction(
            *(name, 1, _NONZERO, {"b": f"a {sign} b"}, _FLAG, {"b": str(start)}),
            start=start,
            absorbing=str(1 - start),
            written={0: _BYTES},
            alike={dtype: (name, "bool") for dtype in _BYTES},
        )
        for name, sign, start in (("any", "|", 0), ("all", "&", 1))
    ),
    Reduction(
        *("count_nonzero", 1, _NONZERO, {"iu": "a + b"}, _COUNT, {"iu": "0"}),
        start=0,
        repeated="multiply",
        folded_by="sum",
        written={0: _BYTES},
        alike={dtype: ("count_nonzero", "bool") for dtype in _BYTES},
    ),
    Reduction(
        "sum_squared_deviation",
        2,
        {"f": "(x1 - x2) * (x1 - x2)", "c": "abs2_c(subtract_c(x1, x2))"},
        {"f": "a + b"},
        {"f": "float64", "c": "float64"},
        {"f": "0.0"},
        start=0,
        repeated="multiply",
        folded_by="sum",
        constant_second=True,
    ),
    # For norms. Squares of float32 are exact in float64, and neither overflow nor underflow.
    *(
        Reduction(
            *(name, 1, body, {"f": "a + b"}, dict.fromkeys(body, "float64"), {"f": "0.0"}),
            start=0,
            repeated="multiply",
            merged=name != "sum_squares",  # norms keep their original order, and bits
            folded_by="sum",
            written={0: _REALS, 2: _REALS},
        )
        for name, body in (
            ("sum_squares", {"f": "(double)x * (double)x", "c": "abs2_c(x)"}),
            ("sum_abs", {"f": "fabs_{t}(x)"}),
        )
    ),
    Reduction(
        *("max_abs", 1, {"f": "fabs_{t}(x)"}, {"f": "maximum_{t}(b, a)"}, {"f": "same"}, {"f": "0.0"}),
        start=0,
        folded_by="max",
        written={0: _REALS, 2: _REALS},
    ),
    _sum_of_products(
        "dot",
        {**_PRODUCTS, "c": "multiply_c(x1, x2)"},
        written={0: (*_WORDS, *_REALS, *_COMPLEX)},
        alike={"int64": ("dot", "uint64")},
    ),
    _sum_of_products(
        "dot_masked",
        {"f": "x1 != 0 ? x1 * x2 : x1", "c": "multiply_masked_c(x1, x2)"},
        written={0: (*_REALS, *_COMPLEX)},
    ),
    _sum_of_products(
        "vecdot",
        {**_PRODUCTS, "c": "multiply_c(conj_c(x1), x2)"},
        written={0: (*_WORDS, *_REALS, *_COMPLEX)},
        # Real numbers need no conjugate.
        alike={"int64": ("dot", "uint64"), **{dtype: ("dot", dtype) for dtype in ("uint64", *_REALS)}},
    ),
)

SCANS: Final = (
    Scan("cumulative_sum", "sum", dict.fromkeys(_WORDS, "s0_cumulative_sum_words")),
    Scan("cumulative_prod", "prod"),
)

ARG_REDUCTIONS: Final = {"argmax": ">", "argmin": "<"}


class Pair(NamedTuple):
    """Two floating-point steps of a chain in one loop: the second step reads the result of the first."""

    first: str
    second: str
    at: int = 0  # the operand of the second step that is the first result


# Frequent pairs whose loop takes hardly longer than the second step. `square` also stands for a product of a
# value with itself.
PAIRS: Final = (
    Pair("subtract", "square"),
    Pair("multiply", "add"),
    Pair("multiply", "subtract"),
    Pair("multiply", "subtract", 1),
    Pair("multiply", "multiply"),
    Pair("add", "multiply"),
    Pair("subtract", "multiply"),
    Pair("add", "add"),
    Pair("add", "subtract"),
    Pair("subtract", "add"),
    Pair("subtract", "subtract"),
    Pair("sqrt", "multiply"),
    Pair("subtract", "divide"),
    Pair("multiply", "divide"),
    Pair("add", "divide", 1),
)
# Operations for which the order of operands does not matter.
COMMUTATIVE: Final = ("add", "multiply")


def body_for(bodies: dict[str, str], letter: str) -> tuple[str, bool] | None:
    """The body for a kind, and whether it runs on unsigned operands; None if no body serves the kind."""
    if letter in bodies:
        return bodies[letter], False
    if letter in "iu" and "iu" in bodies:
        return bodies["iu"], True
    if letter in "iu" and "biufc" in bodies:
        return bodies["biufc"], False
    return None


OPERATORS: Final = frozenset(
    {"+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">="}
    | {"neg", "pos", "abs", "invert"}
)

PLACEHOLDERS: Final = frozenset({"t", "T", "U", "W", "MIN", "MAX"})


def check() -> None:
    """Check the table: names, words, letters and operators, and a body for every kind."""
    for what in (
        [op.name for op in OPS],
        [op.operator for op in OPS if op.operator],
        [r.name for r in REDUCTIONS],
    ):
        assert len(what) == len(set(what)), f"used twice among {what}"
    for op in OPS:
        assert op.namespace in NAMESPACES and not (op.namespace and op.since), op.name
        assert op.on in KINDS and op.out in OUT and 1 <= op.nin <= 3 and op.doc.endswith("."), op.name
        assert op.operator in OPERATORS | {""} and op.ulp > 0 and op.samples.low < op.samples.high, op.name
        assert {*op.call, *op.run, *op.gains, *op.gathered, *(dtype for dtype, _ in op.written)} <= {
            *_CALLED
        }, op.name
        for letter in KINDS[op.on]:
            assert body_for(op.body, letter) or op.otherwise, (op.name, letter)
        _check_bodies(op.name, op.body)
    bodies_of = {op.name: op.body for op in OPS}
    for pair in PAIRS:
        assert "f" in bodies_of[pair.first] and "f" in bodies_of[pair.second] and pair.at in (0, 1), pair
    assert len(PAIRS) == len(set(PAIRS)), "a pair is there twice"
    for row in REDUCTIONS:
        for bodies in (row.body, row.fold, row.identity):
            _check_bodies(row.name, bodies)
        assert row.repeated in REPEATED and (row.start is not None or not row.repeated), row.name
        assert set(row.accumulator) == {letter for letter in "biufc" if body_for(row.body, letter)}, row.name
        for letter, accumulator in row.accumulator.items():
            kind = letter if accumulator == "same" else accumulator[0]
            assert body_for(row.fold, kind) and any(kind in key for key in row.identity), (row.name, letter)
            other = next(other for other in REDUCTIONS if other.name == (row.folded_by or row.name))
            assert other.nin == 1 and body_for(other.fold, kind) == body_for(row.fold, kind), row.name
            assert (body_for(other.body, kind) or "")[0] == "x", row.name
    assert all(scan.reduction in {row.name for row in REDUCTIONS} for scan in SCANS)


def _check_bodies(name: str, bodies: dict[str, str]) -> None:
    for key, text in bodies.items():
        assert key and (key == "s" or set(key) <= set("biufc")), (name, key)
        words = {part.partition("}")[0] for part in text.split("{")[1:]}
        assert words <= PLACEHOLDERS, (name, words)
