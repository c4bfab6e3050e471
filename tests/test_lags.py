"""Lagged columns against their definition, row by row, and the scikit-learn contract."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from fewvars.series.lags import LagTransformer

LAGS = [(0, (0,)), (2, (0, 1, 2)), ([3, 1], (3, 1)), ((0, 5), (0, 5)), (np.array([1, 40]), (1, 40))]
TRAJECTORIES = [None, np.repeat(["b", "a"], [13, 7]), np.tile([0, 1], 10)]


@pytest.mark.parametrize("trajectory", TRAJECTORIES)
@pytest.mark.parametrize(("lags", "listed"), LAGS)
def test_columns_are_the_past_of_the_same_run(lags, listed, trajectory):
    X = np.random.default_rng(0).standard_normal((20, 3))
    labels = np.zeros(20) if trajectory is None else trajectory
    lagged = LagTransformer(lags).fit(X)
    output, complete = lagged.transform(X, trajectory=trajectory), lagged.complete_rows(20, trajectory)
    assert lagged.lags_ == listed
    assert output.shape == (20, 3 * len(listed))
    np.testing.assert_array_equal(lagged.fit_transform(X, trajectory=trajectory), output)
    for row in range(20):
        past = [earlier for earlier in range(row + 1) if labels[earlier] == labels[row]]
        for k, lag in enumerate(listed):
            source = past[-1 - lag] if lag < len(past) else past[0]
            np.testing.assert_array_equal(output[row, 3 * k : 3 * k + 3], X[source])
        assert complete[row] == (max(listed) < len(past))


@pytest.mark.parametrize(("lags", "listed"), LAGS)
def test_groups_and_names_say_where_a_column_comes_from(lags, listed):
    X = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=["u", "v", "w"])
    lagged = LagTransformer(lags).fit(X)
    names = lagged.get_feature_names_out()
    assert names.tolist() == [f"{x}[t-{lag}]" if lag else x for lag in listed for x in "uvw"]
    assert [name[0] for name in names] == ["uvw"[j] for j in lagged.feature_groups_]


def test_unnamed_inputs_are_numbered():
    lagged = LagTransformer([0, 2]).fit(np.zeros((4, 2)))
    assert lagged.get_feature_names_out().tolist() == ["x0", "x1", "x0[t-2]", "x1[t-2]"]


@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_in_and_out(library, frame):
    X = frame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})
    output = LagTransformer().set_output(transform=library).fit_transform(X)
    assert isinstance(output, frame)
    assert list(output.columns) == ["a", "b", "a[t-1]", "b[t-1]"]
    assert output["b[t-1]"].to_list() == [4.0, 4.0, 5.0]


def test_single_precision_is_kept():
    assert LagTransformer().fit_transform(np.zeros((3, 2), dtype=np.float32)).dtype == np.float32


# Both checks shuffle or cut the rows, which here are a series in time; without lags there is no such series.
ORDER_MATTERS = dict.fromkeys(
    ["check_methods_sample_order_invariance", "check_methods_subset_invariance"],
    "the past of a row is its own",
)


@pytest.mark.parametrize(("lags", "expected"), [(0, {}), (1, ORDER_MATTERS)])
def test_scikit_learn_contract(lags, expected):
    results = check_estimator(LagTransformer(lags), expected_failed_checks=expected, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failed == set(expected)


def test_trajectories_are_routed_through_a_pipeline():
    x = np.tile(np.arange(1.0, 6.0), 2)
    previous = np.array([1.0, 1, 2, 3, 4] * 2)
    trajectory = np.repeat([0, 1], 5)
    with config_context(enable_metadata_routing=True):
        lagged = LagTransformer([1]).set_transform_request(trajectory=True)
        model = make_pipeline(lagged, LinearRegression()).fit(x[:, None], previous, trajectory=trajectory)
        np.testing.assert_allclose(model.predict(x[:, None], trajectory=trajectory), previous)


BAD = [(-1, "lags=-1"), ([0, -2], "lags=-2"), (1.5, r"lags=1\.5"), ([], "empty"), ([1, 1], "repeats")]


@pytest.mark.parametrize(("lags", "message"), BAD)
def test_mistakes_are_named(lags, message):
    with pytest.raises(ValueError, match=message):
        LagTransformer(lags).fit(np.zeros((3, 1)))


def test_wrong_labels_are_named():
    with pytest.raises(ValueError, match=r"trajectory has shape \(2,\)"):
        LagTransformer().fit_transform(np.zeros((3, 1)), trajectory=[0, 1])
