"""The predictions that plots show: numbers, which are probabilities for a classifier."""

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
