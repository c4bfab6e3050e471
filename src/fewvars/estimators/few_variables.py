"""The few-variables estimator: which inputs an output depends on, and what the function is."""

from dataclasses import dataclass

from fewvars.estimators.fitted import FittedRegressor
from fewvars.estimators.variables import FewVariables


@dataclass(kw_only=True, repr=False, eq=False)
class FewVariablesRegressor(FittedRegressor, FewVariables):
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
        Whether to smooth the columns in time, which needs `t`. "auto" does so only when `t` is given and the smoothed
        inputs predict held-out blocks better than the measured ones; discrete columns are always left alone.
    head : {"auto", "dictionary", "curves", "network"}, default="auto"
        The function on the selected inputs: a sparse polynomial; one with curves, which are functions of single inputs
        that bend too sharply for a polynomial; or a network. "auto" chooses the one that predicts the held-out blocks
        best, and in a tie the simplest. Curves need squared error, and "auto" tries them on up to 5000 rows.
    max_degree : int, default=4
        Largest degree of the polynomial.
    n_variables : int, optional
        Find exactly this many inputs (or groups of inputs); by default the number is found from the data.
    loss : {"squared", "huber", "poisson"}, default="squared"
        How predictions are scored. "huber" is squared error for small residuals and grows linearly beyond 1.345 robust
        standard deviations, so that outliers have little weight; errors are then in units of the squared robust
        standard deviation of y. "poisson" is for counts: it models the logarithm of the rate, `equation_` is that
        logarithm, and `predict` returns the rate; errors are then in units of the deviance of the mean of y.
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
        "number" or "category" for columns of X, by name or number, whose type would be detected wrongly.
    missing : {"error", "drop", "indicate"}, default="error"
        What to do about missing values in X: raise an error; leave such rows out, and predict NaN for them; or replace
        them by the mean, and add an indicator that they were missing. If `t` is given and the columns may be smoothed,
        "indicate" interpolates gaps in numeric columns in time instead.
    unseen : {"error", "base"}, default="error"
        What `predict` does with a level of a category that was not in the fit: raise an error, or treat it like the
        base, which is the most frequent level.
    cv : splitter, int or list of (train, test), optional
        Splits to use instead of the held-out blocks. The path sees the training rows of the first split, which also
        compares the supports along it; all splits decide on what is added back or dropped.
    n_blocks : int, default=20
        Blocks of consecutive rows, a quarter of each held out in turn. Fewer if there are few rows.
    shuffle : bool or "auto", default="auto"
        Whether to hold out random quarters of the rows instead. "auto" does so without times and trajectories, unless
        the residuals of neighbouring rows in a linear fit are clearly correlated. `notes_` says why.
    solver : {"momentum", "monotone"}, default="momentum"
        How the path is computed: by mini-batches with momentum, or by the slower full-batch proximal gradient method in
        double precision, whose objective never increases. With "monotone", `path_` holds a certificate for each
        strength: its distance to stationarity, the smallest step and the largest estimate of the Lipschitz constant.
    first_updates, path_updates, refit_updates : int
        Updates of the first stage, of each strength on the path (at most, if monotone), and of each refit.
    path_factor : float, default=1.15
        Ratio of neighbouring strengths on the path; its square where the previous strength has removed no input.
    batch_size : int, default=128
    learning_rate : float, default=0.005
        Of the first stage and the path; refits start at twice this rate.
    max_candidates : int, default=16
        Supports along the path that are refitted.
    max_inputs : int, default=300
        If there are more inputs, they are screened before the path, by how well a polynomial of each alone explains y.
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
        The smallest false discovery rate at which each input would be selected, by tests on rows that were not
        used to choose the other inputs. An input that is selected with a value above 0.2 is weakly supported.
    interactions_ : tuple of pairs of str
        Pairs of selected inputs (or groups of inputs) whose effects depend on each other: those that occur together in
        a term of the polynomial, or, with a network, those whose product is significant.
    stand_ins_ : tuple of pairs of str
        A selected input (or group) and another that would predict held-out rows as well in its place: these data cannot
        tell which of the two matters.
    judge_ : str
        What decided: "ridge" if sums of simple terms predict held-out rows as well as networks, or "network".
    head_ : {"dictionary", "curves", "network", "mean"}
        What `predict` evaluates; "mean" if nothing was selected.
    equation_ : str or list of str
        The polynomial as text in the names of the inputs, with "curve(x)" for each curve; not with a network.
    path_ : Path
    lambda_ : float
        The largest strength on the path at which at least as many groups were alive as were selected.
    support_sizes_, support_errors_, support_errors_se_ : (candidates,)
        Sizes of the supports that were refitted, their held-out errors and standard errors.
    expected_error_, expected_error_se_ : float
        Mean squared error to expect on new rows, over the variance of y, and its standard error. If the variables were
        chosen in closed form, the search and the fit are repeated without each of five parts of the rows in turn, and
        that part is predicted. If networks chose them, if rows were smoothed or if there are very many, the error is
        measured on the held-out rows that also chose the function.
    expected_rmse_ : (outputs,)
        Root mean squared error to expect on new rows, in units of y.
    residual_quantiles_ : (1001, outputs)
        Quantiles of the errors of these predictions, for `predict_interval`.
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
        Updates of the first stage and the path; an upper bound with the monotone solver.
    levels_ : dict
        The levels of each category by the name of its column, the base first.
    n_features_in_, feature_names_in_

    Notes
    -----
    X may be a table of NumPy, pandas, polars or another library that holds text, truth values or categories besides
    numbers. A column of text is a category: all of its levels but the base become indicators, which enter or leave
    together, and all attributes are about the columns of the table. Text that is different in nearly every row, dates
    and, in tables with names, row numbers are rejected. Rows in which the target is missing are left out.

    Of columns that are equal up to scale, shift and sign only the first that is not excluded can be selected, unless a
    later one is in `include`. Constant columns are never selected. Rows of zero weight are left out altogether.

    Examples
    --------
    >>> import numpy as np
    >>> from fewvars import FewVariablesRegressor
    >>> X = np.random.default_rng(0).standard_normal((500, 10))
    >>> model = FewVariablesRegressor(random_state=0).fit(X, X[:, 2] * X[:, 7] - X[:, 4])
    >>> model.get_support(indices=True).tolist(), model.equation_
    ([2, 4, 7], '1 x2*x7 - 1 x4')
    """

    _null_model = "its mean"
