"""Handwritten digits, learned by gradients of code that does not know its array library.

    python examples/digits_softmax.py                          learning curves in digits_softmax.png
    python examples/digits_softmax.py --epochs 10 --picture curves.png

Softmax regression and a network with one hidden layer, on the data and the split of `digits.py`. The
functions of the first part take their namespace from their input and use only names of the Python array API
standard; `stride0.autograd` differentiates them unchanged. If PyTorch is installed, the same functions also
run on its tensors, and the gradients are compared.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import math
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from digits import CLASSES, load, split, standardise

import stride0
from stride0.autograd import grad, value_and_grad
from stride0.optim import apply_updates, sgd

Array = Any  # an array of any library that follows the standard
Parameters = dict[str, Array]
Model = Callable[[Parameters, Array], Array]

HIDDEN = 32
BATCH = 64
RATE = 0.05
MOMENTUM = 0.9
DECAY = 1e-3
WANTED_ACCURACY = 0.95  # of the network, on rows outside the training set
TOLERANCE = 1e-12


# ------------------------------------------------------------------------------
# Array-agnostic: whatever library the parameters belong to does the work.
# ------------------------------------------------------------------------------


def namespace(x: Array) -> Any:
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__()
    # PyTorch's tensors have no `__array_namespace__`.
    return importlib.import_module("array_api_compat").array_namespace(x)


def softmax_regression(p: Parameters, x: Array) -> Array:
    """Scores of the classes, (n, k), for the rows of x, (n, d)."""
    return x @ p["weights"] + p["bias"]


def two_layers(p: Parameters, x: Array) -> Array:
    xp = namespace(x)
    hidden = xp.tanh(x @ p["hidden weights"] + p["hidden bias"])
    return hidden @ p["weights"] + p["bias"]


def cross_entropy(scores: Array, member: Array) -> Array:
    """Mean of -log(probability of the right class); `member`, (n, k), has 1 there and 0 elsewhere."""
    xp = namespace(scores)
    # With the largest score subtracted, no exponential overflows and probabilities stay the same.
    scores = scores - xp.max(scores, axis=1, keepdims=True)
    log_total = xp.log(xp.sum(xp.exp(scores), axis=1))
    return xp.mean(log_total - xp.sum(scores * member, axis=1))


def loss(model: Model, p: Parameters, x: Array, member: Array) -> Array:
    """Cross-entropy plus a penalty for large weights."""
    xp = namespace(x)
    price = sum(xp.sum(p[name] ** 2) for name in p if name.endswith("weights"))
    return cross_entropy(model(p, x), member) + DECAY * price


def accuracy(scores: Array, labels: Array) -> float:
    xp = namespace(scores)
    return float(xp.mean(xp.astype(xp.argmax(scores, axis=1) == labels, scores.dtype)))


# ------------------------------------------------------------------------------
# Training, with the gradients of stride0.
# ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Some of the pictures, with their labels as numbers and as rows with a single 1."""

    x: Array
    labels: Array
    member: Array


@dataclass
class Training:
    title: str
    model: Model
    parameters: Parameters
    train_loss: list[float] = field(default_factory=list)  # after each epoch
    test_loss: list[float] = field(default_factory=list)
    seconds: float = 0.0
    difference: float | None = None  # from PyTorch's gradient, before training

    def note(self, train: Rows, test: Rows) -> None:
        for losses, rows in ((self.train_loss, train), (self.test_loss, test)):
            losses.append(float(cross_entropy(self.model(self.parameters, rows.x), rows.member)))


def data() -> tuple[Rows, Rows]:
    """Rows to train with and rows to test with, on one scale."""
    xp = stride0
    digits = load()
    pixels = xp.reshape(xp.asarray(digits.pixels), digits.shape)
    labels = xp.asarray(digits.labels)
    train, test = (xp.asarray(numbers) for numbers in split(digits.shape[0]))
    reference = xp.take(pixels, train, axis=0)

    def rows(numbers: Array) -> Rows:
        own = xp.take(labels, numbers, axis=0)
        member = own[:, None] == xp.arange(CLASSES, dtype=own.dtype)[None, :]
        x = standardise(xp.take(pixels, numbers, axis=0), reference)
        return Rows(x, own, xp.astype(member, x.dtype))

    return rows(train), rows(test)


def start(sizes: dict[str, tuple[int, ...]]) -> Parameters:
    """Biases of 0, and random weights, which are smaller for longer sums."""
    generator = random.Random(0)

    def values(shape: tuple[int, ...]) -> Array:
        if len(shape) == 1:
            return stride0.zeros(shape)
        flat = [generator.gauss(0, 1 / math.sqrt(shape[0])) for _ in range(math.prod(shape))]
        return stride0.reshape(stride0.asarray(flat), shape)

    return {name: values(shape) for name, shape in sizes.items()}


def models(width: int) -> list[Training]:
    one = {"weights": (width, CLASSES), "bias": (CLASSES,)}
    two = {
        "hidden weights": (width, HIDDEN),
        "hidden bias": (HIDDEN,),
        "weights": (HIDDEN, CLASSES),
        "bias": (CLASSES,),
    }
    return [
        Training("softmax regression", softmax_regression, start(one)),
        Training("two layers", two_layers, start(two)),
    ]


def train(training: Training, rows: Rows, test: Rows, epochs: int) -> None:
    """Gradient descent with momentum, on batches in a random order that is the same in every run."""
    from tqdm import tqdm  # type: ignore[import-untyped, import-not-found, unused-ignore]

    xp = stride0
    value_and_gradient = value_and_grad(functools.partial(loss, training.model))
    optimizer = sgd(RATE, momentum=MOMENTUM)
    state = optimizer.init(training.parameters)
    generator = random.Random(1)
    order = list(range(rows.x.shape[0]))
    bar = tqdm(desc=f"{training.title:>18}", total=epochs, unit=" epochs")
    training.note(rows, test)
    for _ in range(epochs):
        generator.shuffle(order)
        began = time.perf_counter()
        for first in range(0, len(order), BATCH):
            batch = xp.asarray(order[first : first + BATCH])
            x, member = xp.take(rows.x, batch, axis=0), xp.take(rows.member, batch, axis=0)
            _, gradient = value_and_gradient(training.parameters, x, member)
            updates, state = optimizer.update(gradient, state)
            training.parameters = apply_updates(training.parameters, updates)
        training.seconds += time.perf_counter() - began
        training.note(rows, test)
        bar.set_postfix(loss=f"{training.train_loss[-1]:.4f}", refresh=False)
        bar.update()
    bar.close()


# ------------------------------------------------------------------------------
# The same loss in PyTorch.
# ------------------------------------------------------------------------------


def compare(training: Training, rows: Rows) -> float:
    """The largest difference of stride0's gradient from PyTorch's, relative to the largest element."""
    torch = importlib.import_module("torch")
    objective = functools.partial(loss, training.model)
    ours = grad(objective)(training.parameters, rows.x, rows.member)

    x, member = torch.from_dlpack(rows.x), torch.from_dlpack(rows.member)
    parameters = {
        name: torch.from_dlpack(p).clone().requires_grad_() for name, p in training.parameters.items()
    }
    objective(parameters, x, member).backward()

    size = difference = 0.0
    for name, p in parameters.items():
        theirs = stride0.from_dlpack(p.grad)
        size = max(size, float(stride0.max(stride0.abs(theirs))))
        difference = max(difference, float(stride0.max(stride0.abs(ours[name] - theirs))))
    return difference / size


def missing_for_comparison() -> list[str]:
    return [name for name in ("torch", "array_api_compat") if importlib.util.find_spec(name) is None]


# ------------------------------------------------------------------------------
# What came out.
# ------------------------------------------------------------------------------


def draw(trainings: list[Training], picture: Path) -> None:
    from matplotlib.figure import Figure  # type: ignore[import-not-found, unused-ignore]

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for k, training in enumerate(trainings):
        for losses, style, which in (
            (training.train_loss, "-", "training"),
            (training.test_loss, "--", "test"),
        ):
            axes.plot(range(len(losses)), losses, style, color=f"C{k}", label=f"{training.title}, {which}")
    axes.set(xlabel="epoch", ylabel="cross-entropy", yscale="log")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(picture, dpi=120)


def report(trainings: list[Training], rows: Rows, test: Rows) -> bool:
    """Print the table; return whether the network is good enough and gradients equal PyTorch's."""

    def accuracies(where: Rows) -> list[float]:
        return [accuracy(t.model(t.parameters, where.x), where.labels) for t in trainings]

    def difference(training: Training) -> str:
        return "not compared" if training.difference is None else f"{training.difference:.1e}"

    tested = accuracies(test)
    table = [
        ("parameters", [f"{sum(p.size for p in t.parameters.values())}" for t in trainings]),
        ("cross-entropy, training", [f"{t.train_loss[-1]:.4f}" for t in trainings]),
        ("cross-entropy, test", [f"{t.test_loss[-1]:.4f}" for t in trainings]),
        ("accuracy, training", [f"{share:.4f}" for share in accuracies(rows)]),
        ("accuracy, test", [f"{share:.4f}" for share in tested]),
        ("difference from PyTorch's gradient", [difference(t) for t in trainings]),
        ("time of training", [f"{t.seconds:.2f} s" for t in trainings]),
    ]
    print(f"\n{'':<36}" + "".join(f"{t.title:>22}" for t in trainings))
    for title, cells in table:
        print(f"{title:<36}" + "".join(f"{cell:>22}" for cell in cells))

    good = True
    if tested[-1] < WANTED_ACCURACY:
        good = False
        print(f"\nTOO FEW RIGHT: {tested[-1]:.4f} of the test rows, not {WANTED_ACCURACY}")
    for training in trainings:
        if training.difference is not None and not training.difference <= TOLERANCE:
            good = False
            print(
                f"\nGRADIENTS DIFFER: {training.title}, by {training.difference:.1e} of the largest element"
            )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--epochs", type=int, default=40, metavar="N", help="times all rows are gone through (40)"
    )
    parser.add_argument(
        "--picture", type=Path, default=Path("digits_softmax.png"), metavar="FILE", help="where the curves go"
    )
    options = parser.parse_args()
    if options.epochs < 1:
        parser.error("--epochs must be at least 1")

    rows, test = data()
    print(
        f"{rows.x.shape[0]} digits of {rows.x.shape[1]} pixels to train with, {test.x.shape[0]} to test with"
    )
    trainings = models(rows.x.shape[1])
    missing = missing_for_comparison()
    for training in trainings:
        if not missing:
            training.difference = compare(training, rows)
        train(training, rows, test, options.epochs)
    draw(trainings, options.picture)
    good = report(trainings, rows, test)
    if missing:
        print(f"\nPyTorch's gradients were not computed: there is no {' and no '.join(missing)} here.")
    print(f"\nLearning curves: {options.picture}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
