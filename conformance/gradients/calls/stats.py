"""Calls of scipy.stats."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.gradients.calls.parts import Call, call, named
from conformance.gradients.operands import A, B, P, X, apart, normal

# Probabilities without ties when each is divided by its rank.
APART = np.asarray([[0.2, 0.05, 0.9, 0.5], [0.55, 0.9, 0.1, 0.3], [0.04, 0.7, 0.35, 0.15]])

ONE, OTHER, THIRD = apart(9, 8).reshape(3, 3, 8)
LONG = apart(2, 24)


def statistic(names: str, *arrays: Any, note: str = "", rough: float = 1e-6, **options: Any) -> list[Call]:
    """Tests: one call for the statistic and one for the p-value."""
    found = []
    for name in names.split():
        for part in ("statistic", "pvalue"):

            def made(xp: Any, f: Any, *xs: Any, part: str = part) -> Any:
                return getattr(f(*xs, **options), part)

            found.append(call(f"stats.{name} {note} {part}".replace("  ", " "), made, *arrays, rough=rough))
    return found


CALLS = [
    *named("stats", "circmean circstd circvar differential_entropy gmean gstd gzscore hmean iqr", A, axis=1),
    *named("stats", "kstat kstatvar kurtosis median_abs_deviation sem skew tmax tmean", A, axis=1),
    *named("stats", "tmin tsem tstd tvar variation zscore lmoment", A, axis=1),
    call("stats.mode", lambda xp, f, x: f(x, axis=1).mode, A),
    *named("stats", "kurtosis skew", A, note="bias=False", axis=1, bias=False),
    *named("stats", "kurtosis skew gmean", A, note="nan_policy='omit'", axis=1, nan_policy="omit"),
    *named("stats", "entropy", A, B, axis=1),
    *named("stats", "entropy", A, note="of one", axis=1, base=2),
    *named("stats", "gmean hmean", A, note="with weights", axis=1, weights=B),
    *named("stats", "zmap", A, B, axis=1),
    call("stats.moment", lambda xp, f, x: f(x, [2, 3, 4], axis=1), A),
    call(
        "stats.describe",
        lambda xp, f, x: [getattr(f(x, axis=1), n) for n in ("mean", "variance", "skewness", "kurtosis")],
        A,
    ),
    call("stats.directional_stats", lambda xp, f, x: f(x).mean_direction, A),
    call("stats.pmean", lambda xp, f, x, w: f(x, 1.7, axis=1, weights=w), A, B),
    call("stats.power_divergence lambda_", lambda xp, f, x: f(x, axis=1, lambda_=0.5).statistic, A),
    call("stats.quantile", lambda xp, f, x: f(x, 0.3, axis=1), A),
    call("stats.quantile hd", lambda xp, f, x: f(x, 0.3, axis=1, method="harrell-davis"), A),
    call("stats.sigmaclip", lambda xp, f, x: f(x).clipped, A),
    call("stats.tvar limits", lambda xp, f, x: f(x, (0.5, 1.8), axis=1), A),
    call("stats.tmean limits", lambda xp, f, x: f(x, (0.5, 1.8), axis=1), A),
    call("stats.trim_mean", lambda xp, f, x: f(x, 0.2, axis=1), A),
    call("stats.boxcox_llf", lambda xp, f, x: f(0.3, x, axis=1), A),
    call("stats.yeojohnson_llf", lambda xp, f, x: f(0.3, x, axis=1), X),
    *named("stats", "false_discovery_control", APART, axis=1),
    *named("stats", "rankdata", A, axis=1),
    *statistic("alexandergovern bartlett f_oneway levene", ONE, OTHER, axis=1),
    *statistic("kruskal mood spearmanrho ansari mannwhitneyu brunnermunzel", ONE, OTHER, axis=1),
    *statistic("cramervonmises_2samp", ONE, OTHER, axis=1),
    # It inverts a covariance matrix with a condition number of 1.6e5.
    *statistic("epps_singleton_2samp", ONE, OTHER, rough=1e-5, axis=1),
    *statistic("fligner", np.asarray([0.1, 0.5, 1.2, 2.5, 3.9]), np.asarray([0.2, 0.9, 1.7, 3.1, 4.8])),
    *statistic("friedmanchisquare", ONE, OTHER, THIRD, axis=1),
    *statistic("chatterjeexi", ONE[0], OTHER[0]),
    *statistic("pearsonr ttest_rel ttest_ind", ONE, OTHER, axis=1),
    *statistic("ttest_ind", ONE, OTHER, note="equal_var=False", axis=1, equal_var=False),
    *statistic("ttest_1samp", A, axis=1, popmean=0.1),
    *statistic("wilcoxon", normal(3, 8), normal(3, 8, seed=1) / 3, axis=1, method="asymptotic"),
    *statistic("jarque_bera kurtosistest normaltest skewtest", LONG, axis=1),
    *statistic("chisquare power_divergence", A, axis=1),
    *statistic("combine_pvalues", P, axis=1),
    *statistic("ks_1samp cramervonmises", X[0], cdf=lambda t: t / 8 + 0.5),
    call(
        "stats.ttest_ind_from_stats",
        lambda xp, f, m, s, n, t: f(m, s, 8, n, t, 9).statistic,
        A[0],
        B[0],
        A[1],
        B[1],
    ),
    call(
        "stats.monte_carlo_test",
        lambda xp, f, x: (
            f(
                x,
                lambda size: _uniform(xp, size),
                lambda t, axis: xp.mean(t, axis=axis),
                n_resamples=9,
                vectorized=True,
            ).statistic
        ),
        A[0],
    ),
    call(
        "stats.permutation_test",
        lambda xp, f, x, y: (
            f(
                (x, y),
                lambda s, t, axis: xp.mean(s, axis=axis) - xp.mean(t, axis=axis),
                n_resamples=9,
                vectorized=True,
                rng=1,
            ).statistic
        ),
        A[0],
        B[0],
    ),
    call(
        "stats.bootstrap",
        lambda xp, f, x: (
            f(
                (x,),
                lambda t, axis: xp.mean(t, axis=axis),
                n_resamples=9,
                method="percentile",
                vectorized=True,
                rng=1,
            ).confidence_interval.low
        ),
        A[0],
    ),
    call(
        "stats.bootstrap standard_error",
        lambda xp, f, x: (
            f(
                (x,),
                lambda t, axis: xp.mean(t, axis=axis),
                n_resamples=9,
                method="basic",
                vectorized=True,
                rng=1,
            ).standard_error
        ),
        A[0],
    ),
    # Beyond SciPy's list: what it computes with NumPy alone.
    *[call(f"stats.norm.{name}", lambda xp, f, x: f(x), X) for name in ("cdf", "logpdf", "pdf")],
    call("stats.gaussian_kde", lambda xp, f, x: f(x)(x), X[0]),
    call("stats.boxcox", lambda xp, f, x: f(x, 0.3), A[0]),
]


def _uniform(xp: Any, size: Any) -> Any:
    return xp.reshape(xp.linspace(0.0, 1.0, size[0] * size[1]), size)


NOT_CALLED: dict[str, str] = {
    "returns numbers of tests, which do not depend on the values": "stats.power",
}
