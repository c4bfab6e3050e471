"""The few-variables classifier: which inputs the class of a row depends on, and its probabilities."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import _check_sample_weight, _num_samples

from fewvars._common.validation import FloatArray, check_seed
from fewvars.engine.losses import CrossEntropy, Loss
from fewvars.estimators.assessment import Assessment
from fewvars.estimators.findings import Findings
from fewvars.estimators.labels import checked_labels, class_weights, classes_of, mixed_order, targets
from fewvars.estimators.preparation import Prepared
from fewvars.estimators.rows import Rows
from fewvars.estimators.variables import FewVariables
from fewvars.heads import HeadChoice

MOST_KEPT = 5000  # held-out rows


@dataclass(kw_only=True, repr=False, eq=False)
class FewVariablesClassifier(ClassifierMixin, FewVariables):
    """Find the few inputs that the class of a row depends on, and learn the probabilities of the classes.

    The search is that of `FewVariablesRegressor`, under the log loss: variables are proposed by score tests in a
    logistic model and by a regularisation path, and chosen by their log loss on held-out rows. Finally log-odds (of
    several classes, logits) are fitted on the selected inputs, as a sparse polynomial or by networks.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Weights of the classes by label, which multiply the sample weights; "balanced" gives every class the same total
        weight. Probabilities are those of data with such weights.
    shuffle : bool, default=False
        Without `t`, `trajectory` and `cv`, the order of the rows is ignored, and random rows are held out, the same
        share of each class. With times or trajectories, blocks of consecutive rows are held out, unless `shuffle` is
        True. If your rows are in time order but you have no times, fit with ``t=1.0``.
    hidden_layer_sizes, activation, smoothing, head, max_degree, n_variables, include, exclude, fdr, judge, \
feature_groups, types, missing, unseen, cv, n_blocks, solver, first_updates, path_updates, refit_updates, \
path_factor, batch_size, learning_rate, max_candidates, max_inputs, n_resamples, random_state, n_jobs, verbose
        As in `FewVariablesRegressor`.

    Attributes
    ----------
    classes_ : (n_classes,)
        The labels, sorted.
    feature_importances_, feature_importances_se_ : (n_features,)
        Rise of the held-out log loss when an input (with its group) is left out, and its standard error; zero for
        inputs not selected.
    held_out_error_, support_errors_, head_errors_
        Log loss (in nats) on held-out rows.
    held_out_probabilities_, held_out_classes_ : (rows, n_classes) and (rows,)
        Probabilities of held-out rows, by functions that were not fitted to them, and the numbers of their classes.
        These rows were used to choose the function. If there are more than 5000, some of them are kept.
    equation_ : str or list of str
        The log-odds of the second class as text, or the logit of each class; only with a dictionary head.
    support_, q_values_, interactions_, judge_, head_, path_, lambda_, support_sizes_, smoothed_, \
selection_frequencies_, n_iter_, n_features_in_, feature_names_in_
        As in `FewVariablesRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from fewvars import FewVariablesClassifier
    >>> X = np.random.default_rng(0).standard_normal((600, 20))
    >>> y = np.where(X[:, 3] * X[:, 7] + X[:, 11] > 0, "above", "below")
    >>> model = FewVariablesClassifier(random_state=0).fit(X, y)
    >>> model.get_support(indices=True).tolist(), model.classes_.tolist()
    ([3, 7, 11], ['above', 'below'])
    """

    class_weight: Any = None
    shuffle: bool = False

    _null_model = "the shares of the classes"

    @property
    def _loss(self) -> Loss:
        return CrossEntropy()

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, t: Any, trajectory: Any) -> None:
        labels, present = checked_labels(type(self).__name__, y, _num_samples(X))
        weight = _check_sample_weight(sample_weight, labels[:, None], dtype=np.float64, ensure_non_negative=True)
        self.classes_, numbers = classes_of(labels, present & (weight > 0))
        weight[present] *= class_weights(self.class_weight, labels[present])
        super()._fit(X, targets(numbers, self.classes_.size, present), weight, t, trajectory)

    def _ordered(self, rows: Rows, outputs: FloatArray) -> Rows:
        """Mix the classes, unless rows are in time order."""
        if rows.t is not None or rows.trajectory is not None or rows.splits is not None:
            return rows
        order = mixed_order(outputs[rows.chosen], np.random.default_rng(check_seed(self.random_state)))
        return replace(rows, chosen=rows.chosen[order], sample_weight=rows.sample_weight[order])

    def _store_assessment(self, data: Prepared, choice: HeadChoice, assessment: Assessment) -> None:
        super()._store_assessment(data, choice, assessment)
        trial = choice.trial
        tests = [test for _, test in trial.held_out.splits]
        pairs = zip(choice.chosen.scored.models, tests, strict=True)
        means = np.concatenate([trial.loss.mean(model.predict(trial.X[test])) for model, test in pairs])
        truth = np.concatenate([trial.y[test] for test in tests])
        self.held_out_probabilities_ = _of_classes(means)[:MOST_KEPT]
        self.held_out_classes_ = _of_classes(truth)[:MOST_KEPT].argmax(axis=1)

    def findings(self) -> Findings:
        """Return which variables were found, and the evidence for them."""
        return replace(super().findings(), classes=tuple(map(str, self.classes_.tolist())), expected_rmse=np.empty(0))

    def decision_function(
        self, X: ArrayLike, *, t: ArrayLike | float | None = None, trajectory: ArrayLike | None = None
    ) -> FloatArray:
        """Return the log-odds of the second of two classes, (n,), or the logits of several, (n, classes)."""
        return self._shaped(self._evaluate("predict", X, t, trajectory))

    def predict_proba(
        self, X: ArrayLike, *, t: ArrayLike | float | None = None, trajectory: ArrayLike | None = None
    ) -> FloatArray:
        """Return the probabilities of the classes, (n, classes); `t` and `trajectory` as for `predict`."""
        return _of_classes(self._means(X, t, trajectory))

    def predict(
        self, X: ArrayLike, *, t: ArrayLike | float | None = None, trajectory: ArrayLike | None = None
    ) -> np.ndarray:
        """Return the most probable class of each row, (n,).

        With `t`, the rows are smoothed first, like those of the fit, unless the fit used rows as measured (`smoothed_`
        is False). Without `t`, they are never smoothed.
        """
        probabilities = self.predict_proba(X, t=t, trajectory=trajectory)
        unknown = np.isnan(probabilities).any(axis=1)
        if unknown.any():
            raise ValueError(
                f"X lacks a value that the classifier needs in row {int(unknown.argmax())}, and there is no class for "
                "such rows: fit with missing='indicate', or ask for predict_proba, which is NaN there."
            )
        return self.classes_[probabilities.argmax(axis=1)]


def _of_classes(outputs: FloatArray) -> FloatArray:
    """Return one column for each class, (n, classes), given these, or only that of the second of two classes."""
    return np.column_stack([1.0 - outputs, outputs]) if outputs.shape[1] == 1 else outputs
