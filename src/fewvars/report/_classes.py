"""How well the classifier separates the classes of held-out rows: confusion, ROC, precision and recall, calibration."""

from typing import Any

import numpy as np
from sklearn.metrics import auc, confusion_matrix, precision_recall_curve, roc_curve

from fewvars._common.validation import FloatArray
from fewvars.displays.figure import BLUE, GREY, colour_cycle, quiet
from fewvars.displays.names import label
from fewvars.report._facts import Facts
from fewvars.report._figures import half
from fewvars.report._markup import Markup, column, table, tag

_MOST_CLASSES = 12  # in the table, and with curves of their own
_FEWEST_IN_BIN = 20


def classification(facts: Facts) -> Markup:
    """Return the confusion matrix, the curves and the calibration of held-out rows."""
    model: Any = facts.model
    probabilities, numbers = model.held_out_probabilities_, model.held_out_classes_
    names = [str(name) for name in facts.found.classes]
    intro = (
        f"Probabilities of {len(numbers)} held-out rows, by functions that were not fitted to them. These rows were "
        "used to choose the variables, so the figures are somewhat optimistic; measure the accuracy on new data."
    )
    return tag(
        "section",
        tag("h2", "On held-out rows"),
        tag("p", intro),
        _confusion(probabilities, numbers, names),
        tag("div", *_figures(probabilities, numbers, names), class_="pair"),
    )


def _confusion(probabilities: FloatArray, numbers: np.ndarray, names: list[str]) -> Markup:
    if len(names) > _MOST_CLASSES:
        return tag("p", f"{len(names)} classes are too many for a table.", class_="soft")
    counts = confusion_matrix(numbers, probabilities.argmax(axis=1), labels=np.arange(len(names)))
    right = np.trace(counts) / max(counts.sum(), 1)
    head = [column("Class"), *(column(tag("bdi", name), "number") for name in names)]
    rows = [
        tag("tr", tag("th", tag("bdi", name), scope="row"), *(tag("td", str(count), class_="number") for count in row))
        for name, row in zip(names, counts, strict=True)
    ]
    caption = f"Rows by their class (left) and by the most probable class (above); {right:.1%} agree."
    return table(caption, head, rows)


def _figures(probabilities: FloatArray, numbers: np.ndarray, names: list[str]) -> list[Markup]:
    shown = [1] if len(names) == 2 else list(range(len(names)))[:_MOST_CLASSES]
    curves = [(names[k], numbers == k, probabilities[:, k]) for k in shown]

    def roc(ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
        for (name, is_class, p), (colour, style) in zip(curves, colour_cycle(len(curves)), strict=True):
            false, true, _ = roc_curve(is_class, p)
            ax.plot(false, true, color=colour, linestyle=style, label=f"{label(name)}, area {auc(false, true):.3f}")
        _finish(ax, "false positive rate", "true positive rate")

    def precision(ax: Any) -> None:
        for (name, is_class, p), (colour, style) in zip(curves, colour_cycle(len(curves)), strict=True):
            right, found, _ = precision_recall_curve(is_class, p)
            ax.plot(found, right, color=colour, linestyle=style, label=label(name))
        _finish(ax, "recall", "precision")

    def calibration(ax: Any) -> None:
        predicted, observed, errors = calibration_points(
            np.concatenate([p for *_, p in curves]), np.concatenate([c for _, c, _ in curves])
        )
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
        ax.errorbar(predicted, observed, yerr=errors, color=BLUE, marker="o", markersize=3.5, linewidth=1.0)
        _finish(ax, "predicted probability", "observed frequency", legend=False)

    which = f"of {names[1]}" if len(names) == 2 else "of each class against the others"
    bars = "Bars are standard errors. On the diagonal, they agree."
    return [
        half("roc", roc, f"ROC curve {which}.", f"ROC curve {which} on held-out rows."),
        half("precision", precision, f"Precision and recall {which}.", f"Precision against recall {which}."),
        half("calibration", calibration, f"Observed frequency against predicted probability. {bars}", "Calibration."),
    ]


def calibration_points(p: FloatArray, happened: np.ndarray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean probability, observed share and its standard error, in up to ten bins with equally many rows."""
    order = np.argsort(p, kind="stable")
    bins = np.array_split(order, max(1, min(10, len(p) // _FEWEST_IN_BIN)))
    predicted = np.array([p[rows].mean() for rows in bins])
    observed = np.array([happened[rows].mean() for rows in bins])
    sizes = np.array([len(rows) for rows in bins])
    return predicted, observed, np.sqrt(np.maximum(predicted * (1 - predicted), 0.0) / sizes)


def _finish(ax: Any, x: str, y: str, *, legend: bool = True) -> None:
    quiet(ax)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if legend:
        ax.legend(frameon=False, fontsize="small")
