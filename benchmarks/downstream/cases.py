"""The calls of `downstream`: scikit-learn and SciPy on arrays of any library of the standard.

A case takes `data`, whose arrays belong to one library, and returns an array or a number that does not depend
on signs of vectors, so that libraries can be compared. Functions that always return NumPy's arrays
(`integrate.simpson`, `spatial.distance.cdist`) are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy
import scipy.cluster.vq
import scipy.differentiate
import scipy.integrate
import scipy.ndimage
import scipy.optimize.elementwise
import scipy.signal
import scipy.special
import scipy.stats
from sklearn import metrics, preprocessing
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import pairwise
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

Case = Callable[[SimpleNamespace], Any]

SAMPLES, FEATURES, CLASSES = 10_000, 40, 5


def data(asarray: Callable[[Any], Any], samples: int = SAMPLES) -> SimpleNamespace:
    """The data of every case: NumPy's arrays, converted by `asarray`."""
    rng = numpy.random.default_rng(7)
    labels = rng.integers(0, CLASSES, samples)
    centres = rng.normal(size=(CLASSES, FEATURES)) * 2
    mixing = rng.normal(size=(FEATURES, FEATURES))
    points = (centres[labels] + rng.normal(size=(samples, FEATURES))) @ mixing
    target = points @ rng.normal(size=FEATURES) + rng.normal(size=samples)
    guessed = numpy.where(rng.random(samples) < 0.8, labels, rng.integers(0, CLASSES, samples))
    time = numpy.linspace(0, 20, 10 * samples)
    made = {
        "points": points,
        "points32": points.astype("float32"),
        "few": points[: samples // 8],
        "labels": labels,
        "guessed": guessed,
        "score": labels + rng.normal(size=samples),
        "target": target,
        "predicted": target + rng.normal(size=samples),
        "probabilities": numpy.abs(points[:, :CLASSES])
        / numpy.sum(numpy.abs(points[:, :CLASSES]), axis=1)[:, None],
        "positive": numpy.abs(points) + 0.1,
        "signal": numpy.sin(time**2) + 0.1 * rng.normal(size=time.size),
        "time": time,
        "window": numpy.hanning(101) / 50,
        "signals": rng.normal(size=(16, samples)),
        "sos": scipy.signal.butter(4, 0.2, output="sos"),
        "start": rng.uniform(0.5, 2, samples),
        "zeros": numpy.zeros(samples),
        "fours": numpy.full(samples, 4.0),
        "centres": (centres @ mixing),
    }
    return SimpleNamespace(**{name: asarray(array) for name, array in made.items()})


def transformed(estimator: Any, x: Any, *y: Any) -> Any:
    return estimator.fit(x, *y).transform(x)


ESTIMATORS: dict[str, Case] = {
    "StandardScaler": lambda d: transformed(preprocessing.StandardScaler(), d.points),
    "StandardScaler float32": lambda d: transformed(preprocessing.StandardScaler(), d.points32),
    "MinMaxScaler": lambda d: transformed(preprocessing.MinMaxScaler(), d.points),
    "MaxAbsScaler": lambda d: transformed(preprocessing.MaxAbsScaler(), d.points),
    "Normalizer": lambda d: transformed(preprocessing.Normalizer(), d.points),
    "Binarizer": lambda d: transformed(preprocessing.Binarizer(), d.points),
    "PolynomialFeatures": lambda d: transformed(preprocessing.PolynomialFeatures(2), d.points[:, :12]),
    "KernelCenterer": lambda d: transformed(preprocessing.KernelCenterer(), d.few @ d.few.T),
    "LabelEncoder": lambda d: transformed(preprocessing.LabelEncoder(), d.labels),
    "LabelBinarizer": lambda d: transformed(preprocessing.LabelBinarizer(), d.labels),
    "PCA(full)": lambda d: PCA(10, svd_solver="full").fit(d.points).explained_variance_,
    "PCA(covariance_eigh)": lambda d: PCA(10, svd_solver="covariance_eigh").fit(d.points).explained_variance_,
    "PCA(randomized)": lambda d: (
        PCA(5, svd_solver="randomized", power_iteration_normalizer="QR", iterated_power=9, random_state=0)
        .fit(d.points)
        .singular_values_
    ),
    "Ridge(svd)": lambda d: Ridge(solver="svd").fit(d.points, d.target).predict(d.points),
    "RidgeCV": lambda d: RidgeCV().fit(d.points[:, :20], d.target).coef_,
    "LogisticRegression": lambda d: (
        LogisticRegression(solver="lbfgs", max_iter=5).fit(d.points, d.labels).decision_function(d.points)
    ),
    "LinearDiscriminantAnalysis": lambda d: (
        LinearDiscriminantAnalysis().fit(d.points, d.labels).predict_proba(d.points)
    ),
    "GaussianNB": lambda d: GaussianNB().fit(d.points, d.labels).predict_proba(d.points),
    "GaussianMixture": lambda d: (
        GaussianMixture(
            CLASSES, max_iter=5, tol=0, init_params="random", random_state=0, means_init=d.centres
        )
        .fit(d.points)
        .score_samples(d.points)
    ),
    "train_test_split": lambda d: train_test_split(d.points, random_state=0)[0],
}

METRICS: dict[str, Case] = {
    "accuracy_score": lambda d: metrics.accuracy_score(d.labels, d.guessed),
    "balanced_accuracy_score": lambda d: metrics.balanced_accuracy_score(d.labels, d.guessed),
    "f1_score": lambda d: metrics.f1_score(d.labels, d.guessed, average="macro"),
    "confusion_matrix": lambda d: metrics.confusion_matrix(d.labels, d.guessed),
    "log_loss": lambda d: metrics.log_loss(d.labels, d.probabilities),
    "r2_score": lambda d: metrics.r2_score(d.target, d.predicted),
    "mean_squared_error": lambda d: metrics.mean_squared_error(d.target, d.predicted),
    "mean_absolute_error": lambda d: metrics.mean_absolute_error(d.target, d.predicted),
    "explained_variance_score": lambda d: metrics.explained_variance_score(d.target, d.predicted),
    "d2_tweedie_score": lambda d: metrics.d2_tweedie_score(d.target**2, d.predicted**2),
    "rbf_kernel": lambda d: pairwise.rbf_kernel(d.few, gamma=1e-4),
    "euclidean_distances": lambda d: pairwise.euclidean_distances(d.points, d.centres),
    "cosine_similarity": lambda d: pairwise.cosine_similarity(d.few),
    "polynomial_kernel": lambda d: pairwise.polynomial_kernel(d.few, degree=2),
    "laplacian_kernel": lambda d: pairwise.laplacian_kernel(d.points[:100], gamma=1e-3),
}

SCIPY: dict[str, Case] = {
    "signal.hilbert": lambda d: scipy.signal.hilbert(d.signal),
    "signal.detrend": lambda d: scipy.signal.detrend(d.signals),
    "signal.fftconvolve": lambda d: scipy.signal.fftconvolve(d.signal, d.window, mode="same"),
    "signal.oaconvolve": lambda d: scipy.signal.oaconvolve(d.signal, d.window, mode="same"),
    "signal.sosfilt": lambda d: scipy.signal.sosfilt(d.sos, d.signals),
    "signal.savgol_filter": lambda d: scipy.signal.savgol_filter(d.signal, 11, 3),
    "stats.zscore": lambda d: scipy.stats.zscore(d.points),
    "stats.skew": lambda d: scipy.stats.skew(d.points),
    "stats.kurtosis": lambda d: scipy.stats.kurtosis(d.points),
    "stats.describe": lambda d: scipy.stats.describe(d.points).variance,
    "stats.ttest_ind": lambda d: scipy.stats.ttest_ind(d.points, d.points[:100]).statistic,
    "stats.pearsonr": lambda d: scipy.stats.pearsonr(d.target, d.predicted).statistic,
    "stats.gmean": lambda d: scipy.stats.gmean(d.positive),
    "stats.rankdata": lambda d: scipy.stats.rankdata(d.score),
    "stats.jarque_bera": lambda d: scipy.stats.jarque_bera(d.target).statistic,
    "stats.quantile": lambda d: scipy.stats.quantile(d.target, 0.3),
    "special.logsumexp": lambda d: scipy.special.logsumexp(d.points, axis=1),
    "special.softmax": lambda d: scipy.special.softmax(d.points, axis=1),
    "special.gammaln": lambda d: scipy.special.gammaln(d.positive),
    "integrate.trapezoid": lambda d: scipy.integrate.trapezoid(d.signals, dx=0.1),
    "integrate.cumulative_trapezoid": lambda d: scipy.integrate.cumulative_trapezoid(d.signals, dx=0.1),
    "cluster.vq.vq": lambda d: scipy.cluster.vq.vq(d.points, d.centres)[1],
    "cluster.vq.whiten": lambda d: scipy.cluster.vq.whiten(d.points),
    "ndimage.gaussian_filter": lambda d: scipy.ndimage.gaussian_filter(d.points, 2.0),
    "optimize.elementwise.find_root": lambda d: (
        scipy.optimize.elementwise.find_root(lambda x, c: x * x - c, (d.zeros, d.fours), args=(d.start,)).x
    ),
    "differentiate.derivative": lambda d: scipy.differentiate.derivative(lambda x: x**3 + 1 / x, d.start).df,
}

CASES: dict[str, dict[str, Case]] = {"estimators": ESTIMATORS, "metrics": METRICS, "SciPy": SCIPY}
