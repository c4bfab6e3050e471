"""The few-variables estimator: which inputs an output depends on, and what the function is."""

import warnings
from collections.abc import Iterable, Set
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from fewvars._common.progress import Progress
from fewvars._common.validation import FloatArray, check_choice, check_real, check_whole
from fewvars.columns.encoding import ERROR, MISSING
from fewvars.engine.losses import LOSSES, SQUARED, Loss
from fewvars.engine.penalties import group_labels
from fewvars.estimators.assessment import Assessment
from fewvars.estimators.base import BlockedRegressor
from fewvars.estimators.findings import Findings
from fewvars.estimators.inputs import column_names, positions
from fewvars.estimators.preparation import Prepared
from fewvars.heads import Head, HeadChoice, HeadSettings, PolynomialHead, Trial, agree, choose_head
from fewvars.search.held_out import HeldOut
from fewvars.search.problem import Problem
from fewvars.search.variables.judges import JUDGES
from fewvars.search.variables.ridge_judge import RidgeJudge
from fewvars.search.variables.search import (
    Variables,
    closed_search,
    find_in_closed_form,
    find_variables,
    refitted_errors,
)
from fewvars.search.variables.settings import AUTO, Groups, VariableSettings
from fewvars.search.variables.stand_ins import stand_ins
from fewvars.search.variables.tested import interacting, rates

SOLVERS = ("momentum", "monotone")
MOST_REPEATED = 20_000  # rows, to repeat the whole search without each fold


@dataclass(frozen=True, eq=False)
class OnInputs:
    """A function of some of the inputs (inputs,)."""

    inputs: np.ndarray
    head: Head

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions (n, outputs) at all inputs (n, inputs)."""
        return self.head.predict(X[:, self.inputs])


class FewVariablesRegressor(SelectorMixin, BlockedRegressor):
    """Find the few inputs that an output depends on, and learn the function of them.

    A forward search tests lines, curves and products of the inputs and proposes a support; inputs whose removal does
    not raise the error on held-out rows are dropped. With many rows a path of the adaptive group lasso proposes more
    supports, and where networks predict held-out rows better than sums of simple terms do, networks compare them.
    Finally the function is fitted on the selected inputs.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int, default=(20, 20, 20)
        Units of the hidden layers of the networks that select.
    activation : str, default="tanh"
        "tanh", "sigmoid", "relu", "softplus", "sin" or "identity".
    smoothing : {"auto", "on", "off"}, default="auto"
        Whether to smooth the columns in time. "auto" does so only when `t` is given and the smoothed inputs
        predict held-out blocks better than the measured ones; discrete columns are always left alone.
    head : {"auto", "network", "dictionary"}, default="auto"
        The function on the selected inputs: a network, or a sparse polynomial; "auto" takes the one that
        does better on the held-out blocks, the polynomial in a tie.
    max_degree : int, default=4
        Largest degree of the polynomial.
    n_variables : int, optional
        Find exactly this many inputs (or groups of inputs); by default the number is found from the data.
    loss : {"squared", "huber", "poisson"}, default="squared"
        What predictions are judged by. "huber" is squared error for small residuals and grows linearly beyond 1.345 of
        their robust standard deviations, so that outliers have little weight. "poisson" is for counts: the logarithm of
        their rate is what is fitted, `equation_` is that logarithm, and `predict` returns the rate. Errors are then in
        units of the squared robust standard deviation of y, or of the deviance of its mean.
    fdr : float, optional
        Select the inputs whose q-value is at most this false discovery rate, instead of by the default rule.
    judge : {"auto", "network", "ridge"}, default="auto"
        What decides between supports on held-out rows: networks, sums of simple terms fitted in closed form, or the
        better of the two. "network" and "ridge" look only at supports along the path.
    exclude : sequence of str or int, optional
        Names or numbers of inputs that are never selected.
    include : sequence of str or int, optional
        Names or numbers of inputs that are never left out.
    feature_groups : array-like of shape (n_features,) or list of lists of int, optional
        Labels of inputs, or lists of their numbers: the inputs of a group enter or leave together.
    types : dict, optional
        Types of columns of X, by name or number, that are not what they seem to be: "number" or "category".
    missing : {"error", "drop", "indicate"}, default="error"
        What to do about missing values in X: complain; leave such rows out, and predict NaN for them; or set them to
        the mean, and let the function know that they were missing. If `t` is given and the columns may be smoothed,
        "indicate" bridges gaps in columns of numbers in time instead.
    unseen : {"error", "base"}, default="error"
        What `predict` does about a level of a category that was not in the fit: complain, or treat it like the base,
        which is the most frequent level.
    cv : splitter, int or list of (train, test), optional
        In place of the held-out blocks. The path sees the training rows of the first split, which also compares
        the supports along it; all splits decide on what is added back or dropped.
    n_blocks : int, default=20
        Blocks of consecutive rows, a quarter of each held out in turn. Fewer if there are few rows.
    shuffle : bool or "auto", default="auto"
        Whether to hold out random quarters of the rows instead. "auto" does so without times and trajectories, unless
        neighbouring rows resemble each other after a linear function of the inputs is taken out. `notes_` says why.
    solver : {"momentum", "monotone"}, default="momentum"
        Of the path: mini-batches with momentum, or full-batch proximal gradient in double precision, slower, whose
        objective never increases. `path_` then holds a certificate for each strength: how stationary it ended, the
        smallest step taken and the largest constant met.
    first_updates, path_updates, refit_updates : int
        Updates of the first stage, of each strength on the path (the most, if monotone), and of each refit.
    path_factor : float, default=1.15
        Ratio of neighbouring strengths on the path.
    batch_size : int, default=128
    learning_rate : float, default=0.005
        Of the first stage and the path; refits start at twice this rate.
    max_candidates : int, default=16
        Supports along the path that are refitted.
    max_inputs : int, default=300
        More inputs than this are screened first, by how much of y polynomials of each alone explain.
    n_resamples : int, default=0
        Repeat the selection on this many resamples of the blocks, for `selection_frequencies_`.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, optional
        Threads over candidates. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    support_ : (n_features,) bool
    feature_importances_ : (n_features,)
        Rise of the held-out mean squared error when an input (with its group) is left out, in units of the
        variance of y; zero for inputs not selected.
    feature_importances_se_ : (n_features,)
        Its standard error over the held-out blocks.
    q_values_ : (n_features,)
        The smallest false discovery rate at which each input would be selected, by tests on rows that have not chosen
        the other inputs. An input that is selected with a value above 0.2 is weakly supported.
    interactions_ : tuple of pairs of str
        Pairs of selected inputs (or groups of inputs) whose effects depend on each other: those that occur together in
        a term of the polynomial, or, with another head, those whose product is significant.
    stand_ins_ : tuple of pairs of str
        A selected input (or group) and another that would predict held-out rows as well in its place: these data cannot
        tell which of the two matters.
    judge_ : str
        What decided: "ridge" if sums of simple terms predict held-out rows as well as networks, or "network".
    head_ : {"network", "dictionary", "mean"}
        What `predict` evaluates; "mean" if nothing was selected.
    equation_ : str or list of str
        The polynomial as text in the names of the inputs; only with a dictionary head.
    path_ : Path
    lambda_ : float
        The largest strength on the path at which at least as many groups were alive as were selected.
    support_sizes_, support_errors_, support_errors_se_ : (candidates,)
        Sizes of the supports that were refitted, their held-out errors and standard errors.
    expected_error_, expected_error_se_ : float
        Mean squared error to expect on new rows, over the variance of y, and its standard error. Where rows are few or
        noisy, search and fit are repeated without each of five parts of the rows, which are then predicted; where
        networks have decided or rows were smoothed, the error is that of the function on rows that it was chosen on.
    expected_rmse_ : (outputs,)
        Root mean squared error to expect on new rows, in units of y.
    residual_quantiles_ : (1001, outputs)
        Quantiles of the errors on these rows, for `predict_interval`.
    notes_ : tuple of str
        What a user should know: how rows were held out, and why.
    held_out_error_ : float
        Held-out mean squared error of the selected support over the variance of y. It was used to choose the
        support, so the error on new rows is larger: see `expected_error_`.
    head_errors_ : dict
        Held-out error of each kind of head that was tried, in the same units, against y as measured.
    smoothed_ : bool
        Whether the inputs were smoothed.
    input_range_ : (2, n_inputs)
        The smallest and the largest value of each input in the training data; see `outside_range`.
    selection_frequencies_ : (n_features,)
        Only with `n_resamples`.
    n_iter_ : int
        Updates of the first stage and the path; with the monotone solver, at most so many.
    levels_ : dict
        The levels of each category by the name of its column, the base first.
    n_features_in_, feature_names_in_

    Notes
    -----
    X may be a table of NumPy, pandas, polars or another library that holds text, truth values or categories besides
    numbers. A column of text is a category: all of its levels but the base become indicators, which enter or leave
    together, and all attributes are about the columns of the table. Text that is different in nearly every row, dates
    and, in tables with names, counters of the rows are refused. Rows in which the target is missing are left out.

    Of columns that are equal up to scale, shift and sign only the first can be selected, unless a later one
    is in `include`. Constant columns are never selected. Rows of zero weight are left out altogether.

    Examples
    --------
    >>> import numpy as np
    >>> from fewvars import FewVariablesRegressor
    >>> X = np.random.default_rng(0).standard_normal((500, 10))
    >>> model = FewVariablesRegressor(random_state=0).fit(X, X[:, 2] * X[:, 7] - X[:, 4])
    >>> model.get_support(indices=True).tolist(), model.equation_
    ([2, 4, 7], '1 x2*x7 - 1 x4')
    """

    _MISSING = MISSING

    def __init__(
        self,
        *,
        hidden_layer_sizes: tuple[int, ...] = (20, 20, 20),
        activation: str = "tanh",
        smoothing: str = "auto",
        head: str = "auto",
        max_degree: int = 4,
        n_variables: int | None = None,
        include: Any = None,
        exclude: Any = None,
        loss: str = "squared",
        fdr: float | None = None,
        judge: str = AUTO,
        feature_groups: Any = None,
        types: Any = None,
        missing: str = ERROR,
        unseen: str = ERROR,
        cv: Any = None,
        n_blocks: int = 20,
        shuffle: bool | str = "auto",
        solver: str = "momentum",
        first_updates: int = 1600,
        path_updates: int = 300,
        refit_updates: int = 3000,
        path_factor: float = 1.15,
        batch_size: int = 128,
        learning_rate: float = 0.005,
        max_candidates: int = 16,
        max_inputs: int = 300,
        n_resamples: int = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.smoothing = smoothing
        self.head = head
        self.max_degree = max_degree
        self.n_variables = n_variables
        self.include = include
        self.exclude = exclude
        self.loss = loss
        self.fdr = fdr
        self.judge = judge
        self.feature_groups = feature_groups
        self.types = types
        self.missing = missing
        self.unseen = unseen
        self.cv = cv
        self.n_blocks = n_blocks
        self.shuffle = shuffle
        self.solver = solver
        self.first_updates = first_updates
        self.path_updates = path_updates
        self.refit_updates = refit_updates
        self.path_factor = path_factor
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.max_candidates = max_candidates
        self.max_inputs = max_inputs
        self.n_resamples = n_resamples
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _null_model = "its mean"  # in words

    interactions_: tuple[tuple[str, str], ...]
    stand_ins_: tuple[tuple[str, str], ...]

    @property
    def _loss(self) -> Loss:  # type: ignore[override]
        return LOSSES[check_choice("loss", self.loss, LOSSES)]

    def _settings(self) -> VariableSettings:
        check_choice("solver", self.solver, SOLVERS)
        check_choice("judge", self.judge, (AUTO, *JUDGES))
        if self.fdr is not None:
            check_real("fdr", self.fdr, strict=True, below=1.0)
        check_whole("max_inputs", self.max_inputs)
        check_whole("max_candidates", self.max_candidates, minimum=2)
        return VariableSettings(
            **self._checked_options(),
            n_variables=self.n_variables,
            max_candidates=self.max_candidates,
            max_inputs=self.max_inputs,
            solver=self.solver,
            judge=self.judge,
        )

    def _column_groups(self) -> np.ndarray:
        """Return the group of each column of X, (n_features,)."""
        return group_labels(self.feature_groups, self.n_features_in_, name="feature_groups")

    def _of_columns(self, values: np.ndarray) -> np.ndarray:
        """Return values of columns of X (n_features,) for the inputs that they became, (inputs,)."""
        return values if self._encoding is None else values[self._encoding.sources]

    def _groups(self, data: Prepared) -> Groups:
        labels = self._column_groups()
        scaling = data.inputs.scaling
        include = labels[self._positions("include", self.include)]
        exclude = labels[self._positions("exclude", self.exclude)]
        both = np.intersect1d(include, exclude)
        if both.size:
            raise ValueError(
                f"include={self.include!r} and exclude={self.exclude!r} name the same input, or inputs of one group: "
                "leave it out of one of them."
            )
        groups = Groups.of(self._of_columns(labels), include, exclude, scaling.apply(data.inputs.X), scaling.constant)
        if self.n_variables is not None:
            check_whole("n_variables", self.n_variables, minimum=0)
            fewest, most = int(groups.included.sum()), int(groups.usable.sum())
            if self.n_variables > most:
                raise ValueError(
                    f"n_variables={self.n_variables}: there are only {most} to choose from that are not constant and "
                    "do not repeat another; ask for at most that many."
                )
            if self.n_variables < fewest:
                raise ValueError(f"n_variables={self.n_variables}: include names {fewest}; ask for at least that many.")
        return groups

    def _positions(self, argument: str, chosen: Any) -> np.ndarray:
        if chosen is None:
            return np.zeros(0, int)
        d = self.n_features_in_
        items = [chosen] if np.ndim(chosen) == 0 and not isinstance(chosen, Set) else list(chosen)
        if len(items) == d and all(isinstance(item, bool | np.bool_) for item in items):
            return np.flatnonzero(items)
        return np.array(positions(self, argument, items, f", or a mask of {d} booleans"), int)

    def _search(self, data: Prepared, problem: Problem, settings: VariableSettings, progress: Progress) -> Variables:
        return find_variables(problem, self._groups(data), settings, progress)

    def _refitted_errors(self, found: Variables, problem: Problem, settings: VariableSettings) -> FloatArray:
        return refitted_errors(found, problem, settings)

    def _store(self, data: Prepared, found: Variables, settings: VariableSettings) -> None:
        groups = self._groups(data)
        q_values = rates(data.problem, groups, settings)
        if self.fdr is not None:
            found = found.with_support(groups.included | (q_values <= self.fdr), data.problem, settings)
        support, labels = found.support, self._column_groups()
        self.q_values_ = q_values[labels]
        self.judge_ = found.judge
        self.support_ = support.groups[labels]
        samples = data.problem.samples
        unit = samples.loss.error_unit(samples.Y, samples.weights)
        self.feature_importances_ = support.importances[labels] / unit
        self.feature_importances_se_ = support.importances_se[labels] / unit
        self.support_sizes_ = support.sizes
        self.support_errors_, self.support_errors_se_ = support.errors / unit, support.errors_se / unit
        self.held_out_error_ = support.held_out_error / unit
        self.path_ = replace(found.path, labels=labels)
        self.n_iter_, self.lambda_ = found.n_updates, found.strength
        if not support.groups.any() and self.n_variables != 0:
            self._warn_of_nothing()

    def _warn_of_nothing(self) -> None:
        reason = f"predicts y on held-out rows better than {self._null_model} does"
        if self.fdr is not None:
            reason = f"has a q-value of at most fdr={self.fdr:g}"
        warnings.warn(
            f"No input {reason}: nothing was selected, and predictions are the same for all rows.",
            UserWarning,
            stacklevel=5,
        )

    def _may_find_nothing(self) -> bool:
        return self.n_variables is None and self.include is None and self.fdr is None and bool(self.support_.any())

    def _find_nothing(self) -> None:
        self.support_ = np.zeros_like(self.support_)
        self.feature_importances_ = np.zeros_like(self.feature_importances_)
        self.feature_importances_se_ = np.zeros_like(self.feature_importances_se_)
        self.interactions_ = self.stand_ins_ = ()
        self._warn_of_nothing()

    def _coordinates(self, X: FloatArray) -> FloatArray:
        return X[:, self._of_columns(self.support_)]

    def _used(self) -> np.ndarray:
        return self.support_

    def _votes(self, found: Variables) -> np.ndarray:
        return found.support.groups[self._column_groups()].astype(float)

    @property
    def levels_(self) -> dict[str, tuple[str, ...]]:
        """The levels of each category by the name of its column, the base first."""
        check_is_fitted(self, "support_")
        names = column_names(self)
        return {} if self._encoding is None else {names[j]: found for j, found in self._encoding.levels().items()}

    def gradient(self, X: ArrayLike) -> FloatArray:
        """Return the derivatives of the prediction by all columns, (n, d) or (n, outputs, d); NaN for categories."""
        some = self._at_whole_rows(self._head.gradient, self._coordinates(self._inputs(X, None, None)))
        full = np.zeros((*some.shape[:2], self.n_features_in_))
        own = self._of_columns(np.arange(self.n_features_in_))[self._of_columns(self.support_)]
        columns, first = np.unique(own, return_index=True)
        full[:, :, columns] = some[:, :, first]
        if self._encoding is not None:
            full[:, :, [j for j in self._encoding.levels() if self.support_[j]]] = np.nan
        return full[:, 0] if self._single_output else full

    def equation(self, names: Any = None) -> str | list[str]:
        """Return the polynomial as text in other names, one for each input of X; one text for each output."""
        check_is_fitted(self, "support_")
        if names is not None and len(names) != self.n_features_in_:
            raise ValueError(f"names has {len(names)} entries: give one for each of the {self.n_features_in_} inputs.")
        return self._equation(self.findings().head_names(names))

    def _fit_head(self, data: Prepared, options: HeadSettings, held_out: HeldOut) -> HeadChoice:
        choice = super()._fit_head(data, options, held_out)
        labels = self._column_groups()
        if isinstance(self._head, PolynomialHead) and self._loss == SQUARED:
            self._agree_with(self._head, choice.trial, data)
        inputs, polynomial = self._of_columns(labels), self._head.as_polynomial()
        mask = np.isin(np.arange(labels.max() + 1), labels[self.support_])
        if polynomial is None:
            pairs = interacting(data.problem, inputs, mask)
        else:  # what the function itself says
            own = inputs[self._of_columns(self.support_)]
            terms = [np.unique(own[exponents > 0]).tolist() for exponents in polynomial.exponents]
            pairs = tuple(sorted({pair for groups in terms for pair in combinations(groups, 2)}))
        self.interactions_ = self._named(pairs)
        search = closed_search(data.problem, inputs, self._settings())
        self.stand_ins_ = self._named(stand_ins(data.problem, inputs, mask, search))
        return choice

    def _agree_with(self, head: PolynomialHead, trial: Trial, data: Prepared) -> None:
        """Let the support follow the polynomial, and measure what each variable adds to it."""
        columns, groups = self._column_groups(), self._groups(data)
        members, labels = np.unique(groups.labels[self._of_columns(self.support_)], return_inverse=True)
        asked = groups.included[members] | (self.n_variables is not None) | (self.fdr is not None)
        agreed = agree(head, replace(trial, held_out=data.problem.reserve), labels, asked)
        self._head, self.head_ = agreed.head, agreed.head.name
        self.support_ = np.isin(columns, members[agreed.used])
        for values, own in (
            (self.feature_importances_, agreed.importances),
            (self.feature_importances_se_, agreed.importances_se),
        ):
            values[:] = 0.0
            for group, value in zip(members, own, strict=True):
                values[columns == group] = value

    def _assessment(self, data: Prepared, found: Variables, choice: HeadChoice, settings: Any) -> Assessment:
        """Repeat search and fit without each fold in turn, where that takes little time."""
        slow = found.judge != RidgeJudge.name or len(data.target.y) > MOST_REPEATED or data.inputs.smooths_target
        if slow or choice.kind is None:
            return super()._assessment(data, found, choice, settings)
        kind = choice.kind
        trial = replace(choice.trial, X=data.inputs.X, held_out=data.outer())

        def fit(k: int, train: np.ndarray) -> OnInputs:
            part = data.part(train)
            inputs = find_in_closed_form(part.problem, self._groups(part), settings).inputs
            own = replace(choice.trial, X=part.inputs.X[:, inputs], y=part.target.y, weight=part.sample_weight)
            fit = choice.fit
            if inputs.sum() > found.inputs.sum():  # a function of more variables may need a lower degree
                fit = choose_head([kind], replace(own, held_out=part.held_out.first())).fit
            elif not inputs.any():
                fit = own.null_model
            return OnInputs(inputs, fit(own.X, own.y, own.weight))

        return Assessment.of(trial.score_splits(fit), trial)

    def _named(self, pairs: Iterable[tuple[int, int]]) -> tuple[tuple[str, str], ...]:
        """Return pairs of groups by name: that of an input, or those of the inputs of a group."""
        names, labels = column_names(self), self._column_groups()
        of_group = [" + ".join(names[j] for j in np.flatnonzero(labels == g)) for g in range(labels.max() + 1)]
        return tuple((of_group[g], of_group[h]) for g, h in pairs)

    def findings(self) -> Findings:
        """Return which variables were found, and the evidence for them."""
        common = self._common_findings()
        chosen = np.flatnonzero(self.support_)
        order = chosen[np.argsort(-self.feature_importances_[chosen], kind="stable")]
        return Findings(
            kind="variables",
            names=tuple(common["inputs"][j] for j in order),
            selected=self.support_,
            order=order,
            importances=self.feature_importances_[order],
            importances_se=self.feature_importances_se_[order],
            q_values=getattr(self, "q_values_", None),  # models from older files have none
            interactions=getattr(self, "interactions_", ()),
            stand_ins=getattr(self, "stand_ins_", ()),
            sizes=self.support_sizes_,
            errors=self.support_errors_,
            errors_se=self.support_errors_se_,
            chosen_size=np.unique(self.path_.labels[self.support_]).size,
            **common,
        )

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_
