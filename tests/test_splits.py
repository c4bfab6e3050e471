"""The blocked split against its definition, row by row."""

import itertools

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

from fewvars.series.splits import BlockedSplit, pieces, sample_times, trajectory_rows

RNG = np.random.default_rng(0)
GROUPS = {
    "one run": None,
    "two runs": np.repeat(["b", "a"], [170, 70]),
    "interleaved": np.tile([3, 1, 2], 80),
    "scattered": RNG.integers(0, 3, 240),
    "very unequal": np.repeat([0, 1, 2], [225, 2, 13]),
}


def runs_of(groups, n=240):
    labels = np.zeros(n) if groups is None else groups
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]


@pytest.mark.parametrize("gap", [0, 1, 7])
@pytest.mark.parametrize("n_splits", [2, 4, 5])
@pytest.mark.parametrize("groups", GROUPS)
def test_every_row_is_held_out_once_and_training_keeps_its_distance(groups, n_splits, gap):
    labels = GROUPS[groups]
    folds = list(BlockedSplit(n_splits, gap=gap).split(np.zeros(240), groups=labels))
    assert len(folds) == n_splits
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(240))
    for train, test in folds:
        expected = []
        for run in runs_of(labels):
            held = np.flatnonzero(np.isin(run, test))
            expected += [row for i, row in enumerate(run) if not held.size or np.abs(held - i).min() > gap]
        np.testing.assert_array_equal(train, np.sort(expected))
        assert len(train) > 0


@pytest.mark.parametrize(
    ("n", "options", "blocks"),
    [
        (8000, {}, 20),
        (8000, {"n_blocks": 7}, 7),
        (8000, {"n_splits": 2}, 20),
        (100, {}, 5),  # pieces of at least 5 rows
        (30, {}, 1),
        (8000, {"gap": 100}, 14),  # 300 training rows for 400 of gap: pieces of at least 134
    ],
)
def test_number_of_blocks(n, options, blocks):
    splitter = BlockedSplit(**options)
    for _, test in splitter.split(np.zeros((n, 2))):
        labels, counts = np.unique(pieces(test), return_counts=True)
        assert len(labels) == blocks
        assert np.ptp(counts) <= 1
        assert abs(counts.mean() - n / blocks / splitter.n_splits) < 1


def test_the_last_fold_holds_out_the_end_of_each_block():
    *_, (_, test) = BlockedSplit(4, n_blocks=5).split(np.zeros(200))
    expected = np.concatenate([np.arange(start + 30, start + 40) for start in range(0, 200, 40)])
    np.testing.assert_array_equal(test, expected)


def test_blocks_are_shared_by_length_and_every_run_has_one():
    labels = np.repeat([0, 1, 2], [600, 300, 6])
    *_, (_, test) = BlockedSplit(3, n_blocks=9).split(labels, groups=labels)
    number = [len(np.unique(pieces(test, labels)[labels[test] == k])) for k in range(3)]
    assert number == [6, 3, 1]


@pytest.mark.parametrize("groups", GROUPS)
def test_pieces_are_runs_of_neighbours(groups):
    labels = GROUPS[groups]
    test = np.random.default_rng(1).permutation(240)[:150]
    piece = pieces(test, labels)
    place = {row: (k, i) for k, run in enumerate(runs_of(labels)) for i, row in enumerate(run)}
    held = {place[row] for row in test}

    def joined(a, b):
        (run_a, i), (run_b, j) = sorted((place[a], place[b]))
        return run_a == run_b and all((run_a, m) in held for m in range(i, j))

    assert set(piece) == set(range(piece.max() + 1))
    for a, b in itertools.combinations(range(60), 2):
        assert (piece[a] == piece[b]) == joined(test[a], test[b])


def test_pieces_of_nothing():
    assert pieces([]).shape == (0,)
    np.testing.assert_array_equal(pieces([5, 6, 9, 4]), [0, 0, 1, 0])


@pytest.mark.parametrize("n_splits", [2, 3, 4])
@pytest.mark.parametrize("groups", [None, np.repeat([0, 1], [37, 20])])
def test_too_large_a_gap_names_the_largest_that_works(groups, n_splits):
    X = np.zeros(57)
    with pytest.raises(ValueError, match="gap=1000 leaves no training rows") as caught:
        list(BlockedSplit(n_splits, gap=1000).split(X, groups=groups))
    largest = int(str(caught.value).split("gap=")[2].split(".")[0])
    assert all(len(train) for train, _ in BlockedSplit(n_splits, gap=largest).split(X, groups=groups))
    with pytest.raises(ValueError, match=f"gap={largest + 1} leaves"):
        list(BlockedSplit(n_splits, gap=largest + 1).split(X, groups=groups))


BAD = {
    "one split": ({"n_splits": 1}, np.zeros(9), None, "n_splits=1"),
    "half a split": ({"n_splits": 2.5}, np.zeros(9), None, r"n_splits=2\.5"),
    "no blocks": ({"n_blocks": 0}, np.zeros(9), None, "n_blocks=0"),
    "negative gap": ({"gap": -1}, np.zeros(9), None, "gap=-1"),
    "too few rows": ({"n_splits": 4}, np.zeros(3), None, "n_splits=4 is more than the rows"),
    "short runs": ({"n_splits": 4}, np.zeros(9), np.repeat([0, 1, 2], 3), "n_splits=4 is more than the rows"),
    "labels": ({}, np.zeros(9), [0, 1], r"groups has shape \(2,\)"),
    "missing labels": ({}, np.zeros(8), ["a", None] * 4, "groups mixes labels .* give every row a label"),
}


@pytest.mark.parametrize("case", BAD)
def test_mistakes_are_named(case):
    options, X, groups, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        list(BlockedSplit(**options).split(X, groups=groups))


@pytest.mark.parametrize(
    ("test", "groups", "message"),
    [
        ([1, 1], None, "each once"),
        ([[1, 2]], None, r"shape \(1, 2\)"),
        ([-1], None, "distinct row numbers"),
        ([4], [0, 0], "row 4, but groups has 2"),
    ],
)
def test_mistakes_in_pieces_are_named(test, groups, message):
    with pytest.raises(ValueError, match=message):
        pieces(test, groups)


def test_works_inside_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y, groups = X @ [1.0, 2.0, 3.0], np.repeat([0, 1], 60)
    search = GridSearchCV(Ridge(), {"alpha": [1e-3, 1e3]}, cv=BlockedSplit(gap=2)).fit(X, y, groups=groups)
    assert search.best_params_ == {"alpha": 1e-3}
    assert search.n_splits_ == 4
    assert len(cross_val_score(Ridge(), X, y, cv=BlockedSplit(3))) == 3
    assert repr(BlockedSplit(3, gap=2)) == "BlockedSplit(gap=2, n_blocks=20, n_splits=3, random_state=None)"


def test_parts_drawn_at_random_do_not_leave_out_one_phase_of_a_period():
    phase = np.arange(240) % 40  # as long as a block of six
    for _, test in BlockedSplit(4, n_blocks=6, random_state=0).split(phase):
        assert len(test) == 60
        assert np.unique(phase[test]).size > 20
    for _, test in BlockedSplit(4, n_blocks=6).split(phase):
        assert np.unique(phase[test]).size == 10


def test_groups_are_routed_to_it():
    X, groups = np.random.default_rng(0).standard_normal((40, 2)), np.tile([0, 1], 20)
    with config_context(enable_metadata_routing=True):
        result = cross_validate(Ridge(), X, X[:, 0], cv=BlockedSplit(2), params={"groups": groups}, return_indices=True)
    expected = [test for _, test in BlockedSplit(2).split(X, groups=groups)]
    for found, wanted in zip(result["indices"]["test"], expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_rows_and_times_of_trajectories():
    rows = trajectory_rows(["b", "a", "b", "a", "b"], 5)
    assert [run.tolist() for run in rows] == [[1, 3], [0, 2, 4]]
    np.testing.assert_array_equal(sample_times(0.5, rows), [0, 0, 0.5, 0.5, 1.0])
    np.testing.assert_array_equal(sample_times(None, rows), [0, 0, 1, 1, 2])
    np.testing.assert_array_equal(sample_times([5, 1, 6, 2, 9], rows), [5, 1, 6, 2, 9])
