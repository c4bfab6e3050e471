"""From columns of a table to columns of numbers: types, levels, missing values, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from fewvars.columns.encoders import Category, Number
from fewvars.columns.encoding import Encoding
from fewvars.columns.kinds import Kind, kind_of
from fewvars.columns.raw import Raw, raw_columns

SITES = ["north", "south", "north", "east", "north"]
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


def text(*values):
    return Raw(np.array([*values, None], dtype=object)[:-1])


def encoded(columns, names, types=None, **options):
    encoding = Encoding.of(columns, names, types or {}, indicate=options.get("missing") == "indicate")
    return encoding, encoding.apply(columns, names, **options)


class TestRaw:
    @pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
    def test_tables_of_any_library_give_the_same_columns(self, frame):
        site, flag, flow = raw_columns(frame({"site": SITES, "flag": [True, False] * 2 + [True], "flow": range(5)}))
        assert site.values.tolist() == SITES
        assert_array_equal(flag.values, [1.0, 0.0, 1.0, 0.0, 1.0])
        assert_array_equal(flow.values, np.arange(5.0))

    @pytest.mark.parametrize(
        "column",
        [
            pd.Series(pd.Categorical(SITES, categories=["south", "north", "east"], ordered=True)),
            pl.Series(SITES, dtype=pl.Enum(["south", "north", "east"])),
        ],
        ids=FRAMES,
    )
    def test_declared_levels_keep_their_order(self, column):
        frame = (pd if isinstance(column, pd.Series) else pl).DataFrame({"site": column})
        assert raw_columns(frame)[0].levels == ("south", "north", "east")

    @pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT], ids=str)
    def test_every_mark_of_a_missing_value(self, gap):
        column = raw_columns(pd.DataFrame({"site": pd.Series(["a", gap, "b"], dtype=object)}))[0]
        assert_array_equal(column.missing, [False, True, False])
        assert column.texts().tolist() == ["a", None, "b"]

    @pytest.mark.parametrize(
        "plain",
        [
            np.eye(3),
            np.eye(3).astype(object),
            np.eye(3).tolist(),
            pd.DataFrame(np.eye(3)),
            pd.DataFrame({"a": [True, False], "b": [1, 2]}),
            np.array([["1", "2.5"], ["3", "4"]]),
        ],
        ids=["array", "objects", "list", "frame", "booleans", "numerals"],
    )
    def test_plain_numbers_are_left_to_others(self, plain):
        assert raw_columns(plain) is None

    def test_lists_and_arrays_of_text(self):
        rows = [["north", 1.5], ["south", 2]]
        for table in (rows, np.array(rows, dtype=object)):
            site, flow = raw_columns(table)
            assert site.values.tolist() == ["north", "south"]
            assert_array_equal(flow.values, [1.5, 2.0])

    def test_dates_as_numbers_are_days(self):
        days = np.array(["1970-01-02", "1970-01-03T12:00"], dtype="datetime64[us]")
        assert_array_equal(Raw(days).numbers(), [1.0, 2.5])


class TestKinds:
    @pytest.mark.parametrize(
        ("column", "kind"),
        [
            (Raw(np.array([2.0, 3.0, 5.0])), Kind.NUMBER),
            (Raw(np.arange(1.0, 21.0)), Kind.ROW_NUMBER),
            (Raw(np.arange(1001.0, 1021.0)), Kind.ROW_NUMBER),
            (Raw(np.arange(1990.0, 2010.0)), Kind.NUMBER),
            (Raw(np.arange(20.0, 60.0)), Kind.NUMBER),
            (Raw(np.arange(20.0)[::-1]), Kind.NUMBER),
            (Raw(np.full(9, 3.0)), Kind.CONSTANT),
            (Raw(np.full(9, np.nan)), Kind.CONSTANT),
            (text(*SITES * 3), Kind.CATEGORY),
            (text("a", "a", None), Kind.CONSTANT),
            (text(*(f"sample {k}" for k in range(30))), Kind.IDENTIFIER),
            (text(*(f"sample {k}" for k in range(30)), *["control"] * 5), Kind.IDENTIFIER),
            (Raw(np.array(["2024-01-01"], dtype="datetime64[us]")), Kind.DATE),
        ],
    )
    def test_kinds(self, column, kind):
        assert kind_of(column) is kind


class TestEncoding:
    def test_the_most_frequent_level_is_the_base(self):
        encoding, X = encoded([text(*SITES), Raw(np.arange(5.0) ** 2)], ["site", "flow"])
        assert encoding.columns[0] == Category(("north", "east", "south"))
        assert encoding.names(["site", "flow"]) == ["[site = east]", "[site = south]", "flow"]
        assert encoding.sources.tolist() == [0, 0, 1]
        assert_array_equal(X, [[0, 0, 0], [0, 1, 1], [0, 0, 4], [1, 0, 9], [0, 0, 16]])

    def test_missing_values_are_indicated_in_the_same_column_of_the_table(self):
        columns = [text("a", None, "a", "b"), Raw(np.array([1.0, 2.0, np.nan, 6.0]))]
        encoding, X = encoded(columns, ["site", "flow"], missing="indicate")
        assert encoding.names(["site", "flow"]) == ["[site = b]", "[site is missing]", "flow", "[flow is missing]"]
        assert encoding.sources.tolist() == [0, 0, 1, 1]
        assert_array_equal(X, [[0, 0, 1, 0], [0, 1, 2, 0], [0, 0, 3, 1], [1, 0, 6, 0]])

    def test_dropped_rows_hold_nan(self):
        columns = [text("a", None, "a", "b"), Raw(np.array([1.0, 2.0, np.nan, 6.0]))]
        _, X = encoded(columns, ["site", "flow"], missing="drop")
        assert_array_equal(X, [[0, 1], [np.nan, 2], [0, np.nan], [1, 6]])

    def test_numbers_as_levels_are_in_their_order_and_known_as_integers_too(self):
        encoding, _ = encoded([Raw(np.array([10.0, 2.0, 2.0, 1.0]))], ["run"], {0: "category"})
        assert encoding.columns[0].levels == ("2", "1", "10")
        assert_array_equal(encoding.apply([text(10, 1)], ["run"]), [[0, 1], [1, 0]])

    def test_one_level_is_a_column_of_zeros(self):
        encoding, X = encoded([text("a", "a")], ["site"])
        assert encoding.names(["site"]) == ["site"]
        assert_array_equal(X, [[0], [0]])

    def test_unseen_levels(self):
        encoding, _ = encoded([text(*SITES)], ["site"])
        new = [text("east", "west")]
        with pytest.raises(ValueError, match=r"'site': row 1 holds 'west', .* unseen='base' to treat it like 'north'"):
            encoding.apply(new, ["site"])
        assert_array_equal(encoding.apply(new, ["site"], unseen="base"), [[1, 0], [0, 0]])
        assert_array_equal(encoding.apply(new, ["site"], used=np.array([False])), np.zeros((2, 2)))

    def test_text_where_the_fit_saw_numbers(self):
        encoding = Encoding((Number(0.0),))
        with pytest.raises(ValueError, match=r"'flow': row 1 holds 'high' where a number is needed"):
            encoding.apply([text("1.5", "high")], ["flow"])

    @pytest.mark.parametrize("level", ["<script>alert(1)</script>", "{0}", "a`b]", "", "é\n", "[site = x]"])
    def test_levels_of_any_name(self, level):
        columns = [text(level, "b", "b")]
        encoding, X = encoded(columns, ["{site}"])
        assert encoding.names(["{site}"]) == [f"[{{site}} = {level}]"]
        assert_array_equal(X, [[1], [0], [0]])

    @pytest.mark.parametrize(
        ("column", "types", "said"),
        [
            (Raw(np.arange(20.0)), {}, r"only counts the rows.* types=\{'c': 'number'\}"),
            (text(*map(str, "abcdefgh")), {}, r"different in nearly every row.* types=\{'c': 'category'\}"),
            (Raw(np.array(["2024-01-01"] * 9, dtype="datetime64[us]")), {}, r"holds times.* types=\{'c': 'number'\}"),
            (text(*(f"{k // 2}x" for k in range(20_000))), {}, "10000 levels, more than 100"),
            (text("a", "b"), {0: "number"}, "row 0 holds 'a' where a number is needed"),
            (text(*[1.5, 2.5, 1.5, 2.5] * 4, "n.a."), {}, "row 16 holds 'n.a.', but most of it is numbers"),
            (text(None, None), {0: "category"}, "all of its values are missing"),
            (Raw(np.array([1.0, np.inf])), {}, "row 1 holds inf"),
        ],
    )
    def test_what_is_refused(self, column, types, said):
        with pytest.raises(ValueError, match=f"column 'c': .*{said}"):
            encoded([column], ["c"], types)

    def test_names_that_would_be_the_same(self):
        with pytest.raises(ValueError, match=r"would be called '\[site = a\]'"):
            encoded([text("a", "b", "b"), Raw(np.array([1.0, 5.0, 2.0]))], ["site", "[site = a]"])
