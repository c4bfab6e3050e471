"""The shared checks: what they let through, and what they say about the rest."""

import numpy as np
import pytest

from fewvars._common.validation import check_choice, check_matrix, check_real, check_whole


@pytest.mark.parametrize("value", [1, 7, np.int32(7), np.uint8(1)], ids=repr)
def test_whole_numbers(value):
    found = check_whole("count", value)
    assert found == value
    assert type(found) is int


@pytest.mark.parametrize("value", [0, -3, 2.0, 2.5, np.float64(3), True, "3", None, np.nan, [2]], ids=repr)
def test_not_whole_numbers(value):
    with pytest.raises(ValueError, match=r"^count=.*: give a whole number of at least 1\.$") as caught:
        check_whole("count", value)
    assert repr(value) in str(caught.value)


def test_the_least_whole_number_can_be_chosen():
    assert check_whole("count", 0, minimum=0) == 0
    with pytest.raises(ValueError, match="count=1: give a whole number of at least 2"):
        check_whole("count", 1, minimum=2)


@pytest.mark.parametrize("value", [0, 0.0, 3, 2.5, np.float32(0.5), np.int64(2), 1e300], ids=repr)
def test_reals(value):
    found = check_real("size", value)
    assert found == value
    assert type(found) is float


@pytest.mark.parametrize("value", [-1, -1e-300, np.nan, np.inf, -np.inf, "1", None, True, 1j, [1.0]], ids=repr)
def test_not_reals(value):
    with pytest.raises(ValueError, match=r"^size=.*: give a finite number of at least 0\.$") as caught:
        check_real("size", value)
    assert repr(value) in str(caught.value)


def test_the_range_of_reals_can_be_chosen():
    assert check_real("size", 0.5, minimum=0.5) == 0.5
    assert check_real("size", 0.999, below=1.0) == 0.999
    with pytest.raises(ValueError, match=r"size=0: give a finite number above 0\."):
        check_real("size", 0, strict=True)
    with pytest.raises(ValueError, match=r"size=1.0: give a finite number of at least 0 and below 1\."):
        check_real("size", 1.0, below=1.0)
    with pytest.raises(ValueError, match=r"size=-2: give a finite number of at least -1\."):
        check_real("size", -2, minimum=-1.0)


def test_choices():
    assert check_choice("colour", "red", ("red", "blue")) == "red"
    with pytest.raises(ValueError, match="colour='green': choose one of 'red', 'blue'"):
        check_choice("colour", "green", ("red", "blue"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "value",
    [[[1, 2], [3, 4]], np.array([[1, 2], [3, 4]], order="F"), np.arange(1, 9).reshape(2, 4)[:, :2]],
    ids=["lists", "Fortran order", "view"],
)
def test_matrices(value, dtype):
    found = check_matrix("X", value, dtype=dtype, columns=2)
    assert found.dtype == dtype
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, value)


def test_a_matrix_that_fits_is_not_copied():
    X = np.ones((3, 2))
    assert check_matrix("X", X, dtype=np.float64) is X


@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        (np.ones(3), np.float64, r"X has shape \(3,\): give a matrix"),
        (np.ones((2, 2, 2)), np.float64, r"X has shape \(2, 2, 2\)"),
        (5.0, np.float64, r"X has shape"),
        (np.ones((0, 2)), np.float64, r"X has no samples \(shape \(0, 2\)\)"),
        (np.ones((2, 3)), np.float64, "X has 3 columns: this model needs 2"),
        ([["a", "b"]], np.float64, "X is not numeric"),
        ([[1.0, 2.0], [3.0]], np.float64, "X is not numeric"),
        ([[None, object()]], np.float64, "X is not numeric"),
        ([[0.0, 1.0], [2.0, np.nan]], np.float64, r"X holds nan in row 1, column 1 \(1 such"),
        ([[-np.inf, np.nan]], np.float64, r"X holds -inf in row 0, column 0 \(2 such entries\)"),
        ([[1.0, 1e40]], np.float32, r"X holds inf in row 0, column 1 .* as float32: .*rescale"),
    ],
)  # fmt: skip
def test_bad_matrices(value, dtype, message):
    with pytest.raises(ValueError, match=message):
        check_matrix("X", value, dtype=dtype, columns=2)
