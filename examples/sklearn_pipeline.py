"""Handwritten digits through a scikit-learn pipeline, of stride0 arrays and of NumPy's.

    python examples/sklearn_pipeline.py                        stride0 and NumPy, side by side
    python examples/sklearn_pipeline.py --repeat 10
    python examples/sklearn_pipeline.py --quick                timed once, and a smaller grid

With `array_api_dispatch`, scikit-learn's estimators compute with the library of their input. The same
functions get the digits as arrays of each: they are scaled, reduced to principal components and classified,
the number of components is chosen by cross-validation, and the lower half of each digit is predicted from the
upper one by ridge regression. The exit code is 1 if results of the libraries differ.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

# SciPy decides at its first import whether it accepts arrays of other libraries; scikit-learn requires it.
os.environ["SCIPY_ARRAY_API"] = "1"

import numpy
from side_by_side import Array, State, Step, report, run

LIBRARIES = ("numpy", "stride0")
COMPONENTS = 30
GRID = (5, 10, 20, 30, 40)
QUICK_GRID = (10, 30)
UPPER = 32  # pixels of the upper half of a digit: 4 rows of 8
# Both libraries decompose with LAPACK, but they add in different orders, and where singular values are close,
# errors of their vectors are many times those of the matrix.
TOLERANCE = 1e-9
WANTED_ACCURACY = 0.9


def prepare(xp: Any) -> State:
    """Training and test digits, as arrays of the library."""
    from sklearn.datasets import load_digits  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from sklearn.model_selection import train_test_split  # type: ignore[import-untyped, import-not-found, unused-ignore]

    pixels, labels = load_digits(return_X_y=True)
    x, y = xp.asarray(pixels), xp.asarray(labels)
    # The blank corners are constant, and carry no information.
    x = x[:, xp.std(x, axis=0) > 0.5]
    names = ("train", "test", "train labels", "test labels")
    parts = train_test_split(x, y, test_size=0.25, random_state=0, stratify=y)
    upper, lower = xp.asarray(pixels[:, :UPPER]), xp.asarray(pixels[:, UPPER:])
    halves = train_test_split(upper, lower, test_size=0.25, random_state=0)
    named = zip(("upper train", "upper test", "lower train", "lower test"), halves, strict=True)
    return {"xp": xp, **dict(zip(names, parts, strict=True)), **dict(named)}


def pipeline() -> Any:
    from sklearn.decomposition import PCA  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from sklearn.discriminant_analysis import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
        LinearDiscriminantAnalysis,
    )
    from sklearn.pipeline import Pipeline  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped, import-not-found, unused-ignore]

    return Pipeline(
        [
            ("scale", StandardScaler()),
            ("reduce", PCA(n_components=COMPONENTS, svd_solver="full")),
            ("classify", LinearDiscriminantAnalysis()),
        ]
    )


def fit(state: State) -> Array:
    state["model"] = pipeline().fit(state["train"], state["train labels"])
    return state["model"]["scale"].scale_


def variance(state: State) -> Array:
    return state["model"]["reduce"].explained_variance_ratio_


def components(state: State) -> Array:
    """The first principal components of the test digits."""
    return state["model"][:2].transform(state["test"])


def predict(state: State) -> Array:
    return state["model"].predict(state["test"])


def probabilities(state: State) -> Array:
    return state["model"].predict_proba(state["test"])


def accuracy(state: State) -> float:
    from sklearn.metrics import accuracy_score  # type: ignore[import-untyped, import-not-found, unused-ignore]

    return float(accuracy_score(state["test labels"], state["predicted digits"]))


def f_score(state: State) -> float:
    from sklearn.metrics import f1_score

    return float(f1_score(state["test labels"], state["predicted digits"], average="macro"))


def mistakes(state: State) -> Array:
    from sklearn.metrics import confusion_matrix

    return confusion_matrix(state["test labels"], state["predicted digits"])


def search(grid: tuple[int, ...]) -> Step:
    def run_search(state: State) -> Array:
        from sklearn.model_selection import GridSearchCV

        found = GridSearchCV(pipeline(), {"reduce__n_components": list(grid)}, cv=3, error_score="raise").fit(
            state["train"], state["train labels"]
        )
        state["search"] = found
        # scikit-learn keeps scores in NumPy arrays; the chosen model has arrays of the library.
        return state["xp"].asarray(found.cv_results_["mean_test_score"])

    return Step(
        f"grid search, {len(grid)} candidates", run_search, TOLERANCE, lambda scores: float(max(scores))
    )


def chosen(state: State) -> int:
    return int(state["search"].best_params_["reduce__n_components"])


def chosen_components(state: State) -> Array:
    return state["search"].best_estimator_["reduce"].singular_values_


def ridge(state: State) -> Array:
    """The lower halves of the test digits, predicted from the upper ones."""
    from sklearn.linear_model import Ridge  # type: ignore[import-untyped, import-not-found, unused-ignore]

    model = Ridge(alpha=1.0, solver="svd").fit(state["upper train"], state["lower train"])
    return model.predict(state["upper test"])


def ridge_r2(state: State) -> float:
    from sklearn.metrics import r2_score

    foretold = state["lower half from the upper"]
    return float(r2_score(state["lower test"], foretold, multioutput="variance_weighted"))


def ridge_error(state: State) -> float:
    from sklearn.metrics import root_mean_squared_error

    return float(root_mean_squared_error(state["lower test"], state["lower half from the upper"]))


def steps(quick: bool) -> list[Step]:
    def errors(matrix: numpy.ndarray) -> float:
        return float(numpy.sum(matrix) - numpy.trace(matrix))

    return [
        Step("fit scaler, PCA and LDA: deviations", fit, TOLERANCE),
        Step("share of the variance kept", variance, TOLERANCE, lambda share: float(numpy.sum(share))),
        Step("scaled and reduced digits", components, TOLERANCE, lambda x: float(numpy.std(x))),
        Step("predicted digits", predict),
        Step("probabilities of the classes", probabilities, TOLERANCE, lambda p: float(numpy.mean(p.max(1)))),
        Step("accuracy", accuracy),
        Step("F1, mean of the classes", f_score, TOLERANCE),
        Step("confusion matrix: mistakes", mistakes, number=errors),
        search(QUICK_GRID if quick else GRID),
        Step("components chosen", chosen),
        Step("singular values of the chosen model", chosen_components, TOLERANCE),
        Step("lower half from the upper", ridge, TOLERANCE),
        Step("R2 of the lower halves", ridge_r2, TOLERANCE),
        Step("RMS error of the lower halves", ridge_error, TOLERANCE),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--repeat", type=int, default=5, metavar="N", help="times it is run in each library (5)"
    )
    parser.add_argument("--quick", action="store_true", help="time each step once, with a smaller grid")
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")

    import sklearn  # type: ignore[import-untyped, import-not-found, unused-ignore]

    # Without dispatch scikit-learn would convert every input to NumPy arrays and compare NumPy with itself;
    # side_by_side checks the type of each result.
    with sklearn.config_context(array_api_dispatch=True):
        rows, states = run(steps(options.quick), prepare, LIBRARIES, 1 if options.quick else options.repeat)
    same = report(rows, states, LIBRARIES)
    found = float(states[1]["accuracy"])
    if found < WANTED_ACCURACY:
        print(f"\nTOO FEW RIGHT: {found:.4f} of the test digits, not {WANTED_ACCURACY}")
    return 0 if same and found >= WANTED_ACCURACY else 1


if __name__ == "__main__":
    sys.exit(main())
