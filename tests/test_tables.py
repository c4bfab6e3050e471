"""Reading tables: what is read, and what is said when it is not a table."""

import gzip
import io
import os
import subprocess
import sys
import threading

import numpy as np
import polars as pl
import pytest

from fewvars.files.tables import column_names, naming_hint, read_table, source, table_bytes


@pytest.fixture(params=["polars", "plain"])
def reader(request, monkeypatch):
    """Both readers must agree: with polars, and as if it were not installed."""
    if request.param == "plain":
        monkeypatch.setattr(source, "polars_or_none", lambda: None)
    return request.param


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def parquet(**columns):
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()


NAN, INF = np.nan, np.inf
NUMBERS = {
    "plain": (b"a,b\n1,2.5\n-3,4e-3\n", {"a": [1, -3], "b": [2.5, 0.004]}),
    "no newline at the end": (b"a,b\n1,2", {"a": [1], "b": [2]}),
    "byte order mark and CRLF": (b"\xef\xbb\xbfa,b\r\n1,2\r\n3,4\r\n", {"a": [1, 3], "b": [2, 4]}),
    "quoted numbers": (b'a,"b"\n"1","2.5"\n"3","4"\n', {"a": [1, 3], "b": [2.5, 4]}),
    "spaces": (b"a, b\n1, 2\n 3 , 4 \n", {"a": [1, 3], "b": [2, 4]}),
    "missing": (b"a,b\n1,\nNA,2\nNaN,null\n3,4\n", {"a": [1, NAN, NAN, 3], "b": [NAN, 2, NAN, 4]}),
    "all missing": (b"a,b\n1,\n2,\n", {"a": [1, 2], "b": [NAN, NAN]}),
    "short row": (b"a,b\n1,2\n3\n", {"a": [1, 3], "b": [2, NAN]}),
    "blank lines": (b"\na,b\n1,2\n\n3,4\n\n", {"a": [1, 3], "b": [2, 4]}),
    "row of nothing": (b"a,b\n1,2\n,\n", {"a": [1, NAN], "b": [2, NAN]}),
    "infinite": (b"a,b\n1,inf\n2,-Infinity\n1e400,0\n", {"a": [1, 2, INF], "b": [INF, -INF, 0]}),
    "very large integers": (b"a,b\n1,99999999999999999999999\n2,-1\n", {"a": [1, 2], "b": [1e23, -1]}),
    "booleans": (b"a,b\ntrue,False\nfalse,True\n", {"a": [1, 0], "b": [0, 1]}),
    "compressed": (gzip.compress(b"a,b\n1,2\n"), {"a": [1], "b": [2]}),
    "name over two lines": (b'"a\nc",b\n1,2\n', {"a\nc": [1], "b": [2]}),
    "late fraction": (b"a,b\n" + b"1,2\n" * 1500 + b"1.5,2\n", {"a": [1] * 1500 + [1.5], "b": [2] * 1501}),
    "late gap": (b"a,b\n" + b"1,2\n" * 1500 + b",2\n", {"a": [1] * 1500 + [NAN], "b": [2] * 1501}),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_csv_numbers(reader, case):
    content, expected = NUMBERS[case]
    table = read_table(content)
    assert table.names == list(expected)
    for name, values in expected.items():
        assert table.columns[name].dtype == np.float64
        np.testing.assert_array_equal(table.columns[name], values)
    assert table.n_rows == len(values)


def test_both_readers_round_alike(reader):
    rng = np.random.default_rng(0)
    values = rng.standard_normal(2000) * 10.0 ** rng.integers(-300, 300, 2000)
    table = read_table(table_bytes({"a": values, "b": -values}, ".csv"))
    np.testing.assert_array_equal(table.matrix(["b", "a"]), np.column_stack([-values, values]))
    assert table.matrix(["b", "a"]).flags.c_contiguous


TIMES = {
    "dates": (["2024-01-31", "2024-02-01"], ["2024-01-31", "2024-02-01"]),
    "datetimes": (["2024-01-31T12:00:00", "2024-01-31 13:30"], ["2024-01-31T12:00", "2024-01-31T13:30"]),
    "fractions": (
        ["2024-01-31T12:00:00.25", "2024-01-31T12:00:00.5"],
        ["2024-01-31T12:00:00.25", "2024-01-31T12:00:00.5"],
    ),
    "offsets": (["2024-01-31T12:00:00+02:00", "2024-01-31T12:00:00Z"], ["2024-01-31T10:00", "2024-01-31T12:00"]),
    "slashes": (["2024/01/31", "2024/02/01"], ["2024-01-31", "2024-02-01"]),
    "dots": (["31.01.2024 12:30", "01.02.2024 00:00"], ["2024-01-31T12:30", "2024-02-01T00:00"]),
    "missing": (["2024-01-31", "NA"], ["2024-01-31", "NaT"]),
}


@pytest.mark.parametrize("case", TIMES)
def test_times(reader, case):
    texts, expected = TIMES[case]
    column = read_table(("t,a\n" + "".join(f"{text},1\n" for text in texts)).encode()).columns["t"]
    assert column.dtype == "datetime64[us]"
    np.testing.assert_array_equal(column, np.array(expected, "datetime64[us]"))


@pytest.mark.parametrize(
    "texts",
    [
        ["north", "south"],
        ["1", "x"],
        ["1_000", "2"],
        ['"1,5"', '"2,5"'],
        ["01/02/2024", "03/02/2024"],
        ["2024-01-31T12:00:00Z", "2024-01-31T12:00:00"],  # one in UTC, one who knows where
    ],
)
def test_text_stays_text(reader, texts):
    column = read_table(("s,a\n" + "".join(f"{text},1\n" for text in texts)).encode()).columns["s"]
    assert column.dtype == object
    assert column.tolist() == [text.strip('"') for text in texts]


NO_TABLES = {
    "empty": (b"", "empty"),
    "only newlines": (b"\n\n", "empty"),
    "only a header": (b"a,b\n", "no rows"),
    "two of one name": (b"a,b,a\n1,2,3\n", "Several columns are named 'a'"),
    "two of one name but for spaces": (b"a, a\n1,2\n", "Several columns are named 'a'"),
    "no name": (b"a,,c\n1,2,3\n", "Column 2 has no name"),
    "long row": (b"a,b\n1,2\n3,4,5\n", "Row 2 has 3 fields and the header 2"),
    "latin-1 name": (b"\xe9,b\n1,2\n", "0xe9"),
    "latin-1 text": (b"a,b\n1,\xe9\n", "0xe9"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
    "damaged gzip": (gzip.compress(b"a,b\n" + b"".join(b"%d,2\n" % (k * k) for k in range(1000)))[:-50], "damaged"),
    "damaged zip": (npz(a=[1.0])[:100], "damaged|zip"),
    "damaged Parquet": (b"PAR1nonsensePAR1", "Parquet file cannot be read"),
    "npy": (b"\x93NUMPY", "numpy.savez"),
    "pickled": (npz(a=np.array([{}], dtype=object)), "pickled"),
    "matrix of another name": (npz(Z=np.zeros((3, 2))), r"'Z' has shape \(3, 2\)"),
    "scalar": (npz(a=3.0), r"'a' has shape \(\)"),
    "lengths": (npz(a=np.zeros(3), b=np.zeros(2)), "differ in length"),
    "names of the wrong number": (npz(X=np.zeros((3, 2)), names=["a"]), "name each of the 2"),
    "names that repeat": (npz(X=np.zeros((3, 2)), names=["a", "a"]), "named 'a'"),
    "no arrays": (npz(X=np.zeros((3, 0))), "no columns"),
}


@pytest.mark.parametrize("case", NO_TABLES)
def test_no_table(reader, case):
    content, said = NO_TABLES[case]
    if reader == "plain" and content.startswith(b"PAR1"):
        pytest.skip("Parquet needs polars")
    with pytest.raises(ValueError, match=said):
        read_table(content)


def test_spreadsheet_is_not_npz(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "book.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(ValueError, match="not an array"):
        read_table(tmp_path / "book.xlsx")


@pytest.mark.parametrize(
    ("content", "delimiter", "name"),
    [
        (b"a;b\n1;2\n", ";", "data"),
        (b"a\tb\n1\t2\n", None, "data.tsv"),
        (b"a;b\n1;2\n", None, "data.csv"),
        (b"a\tb\n1\t2\n", None, "data.csv"),
        (b"a|b\n1|2\n", None, "data.csv"),
        (b"a;b\n1,0;2,0\n", None, "data.csv"),
        (b'"a";"b"\n"1,0";2\n', None, "data.csv"),
    ],
)
def test_delimiters(reader, tmp_path, content, delimiter, name):
    (tmp_path / name).write_bytes(content)
    assert read_table(tmp_path / name, delimiter=delimiter).matrix("ab").tolist() == [[1, 2]]
    assert column_names(tmp_path / name, delimiter=delimiter) == ["a", "b"]


def test_a_comma_in_doubt(reader):
    assert read_table(b"a;b,c\n1;2,3\n").names == ["a;b", "c"]
    assert read_table(b"a;b,c\n1,3\n").names == ["a;b", "c"]


def test_decimal_commas(reader):
    rows = "".join(f"{k},5;1.{k:03d},25;{k};1.5;1,5 m;1.234\n" for k in range(100, 300))
    table = read_table(f"a;b;c;d;e;f\n{rows}\n;;;;;\n".encode())
    assert table.columns["a"][0] == 100.5
    assert table.columns["b"][0] == 1100.25
    assert (table.columns["c"][0], table.columns["d"][0], table.columns["f"][0]) == (100, 1.5, 1.234)
    assert table.columns["e"][0] == "1,5 m"


def test_delimiter_is_one_character():
    with pytest.raises(ValueError, match="single character"):
        read_table(b"a,b\n1,2\n", delimiter="::")


def test_npz_that_would_fill_the_memory(monkeypatch):
    zeros = io.BytesIO()
    np.savez_compressed(zeros, y=np.zeros(100_000))
    assert read_table(zeros.getvalue()).n_rows == 100_000
    monkeypatch.setattr("fewvars.files.tables.npz.MOST_UNPACKED", 500_000)
    with pytest.raises(ValueError, match="times its size"):
        read_table(zeros.getvalue())
    assert read_table(npz(y=np.zeros(100_000))).n_rows == 100_000  # not compressed


def test_npz():
    table = read_table(npz(X=np.arange(6).reshape(3, 2), y=[1, 0, 1], t=np.array(["2024-01-01"] * 3, "datetime64[D]")))
    assert table.names == ["x0", "x1", "y", "t"]
    np.testing.assert_array_equal(table.matrix(["x0", "x1"]), [[0, 1], [2, 3], [4, 5]])
    assert table.columns["t"].dtype.kind == "M"
    named = read_table(npz(X=np.zeros((3, 2)), names=["p", "q"], s=["u", "v", "w"], z=np.ones(3) * 1j))
    assert named.names == ["p", "q", "s", "z"]
    assert named.columns["s"].dtype == named.columns["z"].dtype == object


def test_parquet():
    from datetime import date, datetime, timedelta, timezone

    content = parquet(
        i=[1, None],
        u=pl.Series([2**64 - 1, 0], dtype=pl.UInt64),
        f=pl.Series([1.5, 2.5], dtype=pl.Float32),
        b=[True, False],
        day=[date(2024, 1, 1), None],
        moment=[datetime(2024, 1, 1, 12, tzinfo=timezone(timedelta(hours=2))) for _ in range(2)],
        span=[timedelta(seconds=1), timedelta(seconds=2)],
        s=["x", None],
        c=pl.Series(["u", "v"], dtype=pl.Categorical),
        n=[None, None],
        nested=[[1], [2]],
        numbers_as_text=["1", "2"],
    )
    columns = read_table(content).columns
    np.testing.assert_array_equal(columns["i"], [1, NAN])
    np.testing.assert_array_equal(columns["u"], [2.0**64, 0])
    np.testing.assert_array_equal(columns["f"], [1.5, 2.5])
    np.testing.assert_array_equal(columns["b"], [1, 0])
    np.testing.assert_array_equal(columns["day"], np.array(["2024-01-01", "NaT"], "datetime64[us]"))
    assert columns["moment"][0] == np.datetime64("2024-01-01T10:00")
    assert columns["span"][1] == np.timedelta64(2, "s")
    assert columns["s"].tolist() == ["x", None]
    assert columns["c"].tolist() == ["u", "v"]
    assert np.isnan(columns["n"]).all()
    assert columns["nested"].dtype == object
    np.testing.assert_array_equal(columns["numbers_as_text"], [1, 2])


def test_parquet_without_polars(monkeypatch):
    monkeypatch.setattr(source, "polars_or_none", lambda: None)
    with pytest.raises(ImportError, match=r"fewvars\[parquet\]"):
        read_table(parquet(a=[1]))
    with pytest.raises(ImportError, match=r"fewvars\[parquet\]"):
        table_bytes({"a": np.ones(2)}, ".parquet")


@pytest.mark.slow
def test_without_polars_in_a_fresh_process(tmp_path):
    """As a user without the extra: the import itself fails."""
    (tmp_path / "d.csv").write_text("a,b\n1,2\n3,\n")
    code = (
        "import sys; sys.modules['polars'] = None\n"
        "from fewvars.files.tables import read_table\n"
        f"print(read_table({os.fspath(tmp_path / 'd.csv')!r}).columns['a'].tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[1.0, 3.0]\n"


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_written_tables_read_back(suffix):
    columns = {
        "when, exactly": np.array(["2024-01-01T00:00:00.5", "2024-01-02"], "datetime64[us]"),
        "file": np.array([0.1, 1e-300]),
        "é": np.array([1 / 3, -0.0]),
    }
    table = read_table(table_bytes(columns, suffix))
    assert table.names == list(columns)
    for name, column in columns.items():
        np.testing.assert_array_equal(table.columns[name], column)


def test_durations_and_missing_texts_in_csv():
    columns = {
        "after": np.array([1500000, 2], "timedelta64[us]"),
        "place": np.array(["north", None], dtype=object),
    }
    assert table_bytes(columns, ".csv") == b"after,place\n1.5,north\n2e-06,\n"


def test_kind_is_told_by_content_and_names_are_no_patterns(tmp_path):
    path = tmp_path / "a*[b]?.csv"
    path.write_bytes(parquet(a=[1, 2]))
    assert read_table(path).names == column_names(path) == ["a"]
    path.write_bytes(b"a,b\n1,2\n")
    assert read_table(path).names == column_names(path) == ["a", "b"]
    path.write_bytes(npz(a=[1], b=[2]))
    assert read_table(path).names == column_names(path) == ["a", "b"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe_is_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(b"a,b\n1,2\n"), daemon=True)
    writer.start()
    assert read_table(tmp_path / "pipe").matrix("ab").tolist() == [[1, 2]]
    writer.join()


def test_header_alone_is_read_for_names(tmp_path):
    (tmp_path / "d.csv").write_bytes(b"a,b\n1,2\n3,4,5,6\n")  # no table, but it has names
    assert column_names(tmp_path / "d.csv") == ["a", "b"]


def test_naming_hints():
    assert "--delimiter ';'" in naming_hint(["a;b"])
    assert "--delimiter tab" in naming_hint(["a\tb"])
    assert "first row" in naming_hint(["0.5", "2"])
    assert "looks like a comment" in naming_hint(["# made by a; b"])
    assert "only names the separator" in naming_hint(["sep=;"])
    with pytest.raises(ValueError, match=r"no name.* only names the separator: remove it"):
        read_table(b"sep=,\na,b\n1,2\n")
    with pytest.raises(ValueError, match=r"2 fields and the header 1.* looks like a comment: if it is, remove it"):
        read_table(b"# made by hand\na,b\n1,2\n")
    assert naming_hint(["a", "b;c"]) == naming_hint(["0", "1"]) == ""
