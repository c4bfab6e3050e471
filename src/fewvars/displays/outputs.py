"""The values that plots show: numbers, which are probabilities if a classifier predicts them."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from fewvars._common.validation import FloatArray


def outputs_of(estimator: Any, X: Any, **times: Any) -> FloatArray:
    """Return predictions (n, outputs); for classes, the probability of the second of two, or of each of several."""
    if is_classifier(estimator):
        probabilities = estimator.predict_proba(X, **times)
        return probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities
    found = np.asarray(estimator.predict(X, **times), float)
    return found.reshape(len(found), -1)


def predictions(estimator: Any, X: Any, t: Any = None, trajectory: Any = None) -> FloatArray:
    """Return predictions (n, outputs); if the model was fitted to smoothed inputs, X is smoothed too."""
    smoothed = t is not None and getattr(estimator, "smoothed_", False)
    return outputs_of(estimator, X, t=t, trajectory=trajectory) if smoothed else outputs_of(estimator, X)


def measured_and_predicted(
    estimator: Any, X: Any, y: Any, output: int, t: Any = None, trajectory: Any = None
) -> tuple[FloatArray, FloatArray]:
    """Return the measured values (n,) of one of several outputs, and its predictions (n,)."""
    predicted = predictions(estimator, X, t, trajectory)
    return np.asarray(y, float).reshape(len(predicted), -1)[:, output], predicted[:, output]
