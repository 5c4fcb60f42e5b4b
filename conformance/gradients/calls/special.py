"""Calls of scipy.special."""

from __future__ import annotations

import numpy as np

from conformance.gradients.calls.parts import call, named, of_each
from conformance.gradients.operands import A, B, P, X

# Counts and orders.
TWO, THREE, FIVE = np.asarray(2), np.asarray(3), np.asarray(5)
C = B + 0.5

CALLS = [
    *named("special", "cbrt cosdg cosm1 cotdg digamma ellipk ellipkm1 entr erf erfc erfcx erfinv exp1", P),
    *named("special", "exp10 exp2 expi expit exprel gamma gammaln gammasgn i0 i0e i1 i1e j0 j1 k0 k0e k1", P),
    *named("special", "k1e log_ndtr loggamma logit ndtr ndtri rgamma sinc sindg spence tandg y0 y1", P),
    *named("special", "erf erfc erfcx expit log_ndtr ndtr i0 i1 j0 j1 sinc", 2 * X, note="of either sign"),
    *named("special", "zetac", 1.5 + A),
    *named("special", "log_softmax logsumexp softmax", X),
    *named("special", "log_softmax logsumexp softmax", X, note="along an axis", axis=1),
    call("special.logsumexp b", lambda xp, f, x, b: f(x, b=b), A, B),
    call("special.logsumexp return_sign", lambda xp, f, x, b: f(x, b=b, axis=1, return_sign=True), A, X),
    call("special.logsumexp complex", lambda xp, f, x: f(x, axis=1), X + 1j * A),
    *of_each("special", "bdtr bdtrc bdtri", k=TWO, n=FIVE, p=P),
    *of_each("special", "betainc betaincc betaincinv", a=A[:, :4], b=C[:, :4], x=P),
    *of_each("special", "betaln poch", a=A, b=B),
    *of_each("special", "binom", n=3 + A, k=B),
    *of_each("special", "boxcox boxcox1p", x=A, lmbda=B),
    *of_each("special", "inv_boxcox inv_boxcox1p", y=A, lmbda=B),
    *of_each("special", "chdtr chdtrc gammainc gammaincc", a=A, x=C),
    *of_each("special", "chdtri gammaincinv gammainccinv", a=A[:, :4], y=P),
    *of_each("special", "expn yn polygamma", n=TWO, x=A),
    *of_each("special", "fdtr fdtrc", dfn=A, dfd=B, x=C),
    *of_each("special", "fdtri", dfn=2 * C[:, :4], dfd=2 * A[:, :4], p=P),
    *of_each("special", "gdtr gdtrc", a=A, b=B, x=C),
    *of_each("special", "huber pseudo_huber", delta=A, r=2 * X),
    *of_each("special", "hyp1f1", a=A, b=B, x=X),
    *of_each("special", "kl_div rel_entr xlogy xlog1py", x=A, y=B),
    *of_each("special", "lpmv", m=np.asarray(1.0), v=np.asarray(3.0), x=P)[-1:],
    call("special.multigammaln", lambda xp, f, a: f(a, 3), 2 + A),
    *of_each("special", "nbdtr nbdtrc nbdtri", k=THREE, n=FIVE, p=P),
    *of_each("special", "pdtr pdtrc", k=TWO, m=A),
    *of_each("special", "pdtri", k=TWO, y=P),
    *of_each("special", "radian", d=A, m=B, s=C),
    *of_each("special", "stdtr", df=A, t=X),
    *of_each("special", "stdtrit", df=1 + A[:, :4], p=P),
    *of_each("special", "zeta", x=1.5 + A, q=B),
]

NOT_CALLED: dict[str, str] = {}
