"""Files of fitted models: what is read is what was written, and nothing else gets in."""

import copy
import itertools
import json
import pickle
import subprocess
import sys
import textwrap
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from safetensors import safe_open
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

import fewvars as fv
from fewvars.estimators.few_directions import FewDirectionsRegressor
from fewvars.files.persistence import ModelFileError, load, save
from fewvars.files.persistence.container import FORMAT, pack, unpack
from fewvars.files.persistence.migration import migrate
from fewvars.files.persistence.models import ESTIMATORS
from fewvars.files.persistence.records import RECORDS
from fewvars.files.persistence.values import decode, encode
from fewvars.paper import AdaptiveDirectionsRegressor, AdaptiveGroupLassoRegressor
from fewvars.series.lags import LagTransformer
from problems import LITERAL, PLAIN, QUICK, QUICK_DIRECTIONS

TWO = {**QUICK, "random_state": 0, "n_variables": 2}
DIRECTIONS = {**QUICK_DIRECTIONS, "random_state": 0}
MODELS = {
    "dictionary head": fv.FewVariablesRegressor(**TWO, head="dictionary", n_resamples=2),
    "network head": fv.FewVariablesRegressor(**TWO, head="network", feature_groups=[[0, 1], [2], [3], [4], [5]]),
    "mean head": fv.FewVariablesRegressor(**{**TWO, "n_variables": 0}),
    "directions": FewDirectionsRegressor(**DIRECTIONS, head="dictionary", n_directions=1, n_resamples=1),
    "no directions": FewDirectionsRegressor(**DIRECTIONS, n_directions=0),
    "dictionary": fv.SparseDictionaryRegressor(),
    "plain network": fv.NeuralRegressor(**PLAIN),
    "group lasso": fv.GroupLassoRegressor(**LITERAL),
    "Algorithm 1": AdaptiveGroupLassoRegressor(**LITERAL),
    "Algorithm 2": AdaptiveDirectionsRegressor(**LITERAL),
    "lags": LagTransformer([0, 2]),
}
NAMES = ["p", "q ü", "r/~", '"s"', "<t>", "u\n"]


def data(outputs=1, n=120):
    rng = np.random.default_rng(100)
    X = 2.0 + 3.0 * rng.standard_normal((n, 6))
    y = np.column_stack([X[:, 1] * X[:, 4] - X[:, 3], 1e3 * X[:, 4]])
    return X, y[:, 0] if outputs == 1 else y


@pytest.fixture(scope="module")
def fitted():
    """Return fitted models by name; with two outputs where the name is followed by 2, with names by a frame."""
    found = {}

    def fit(name, outputs=1, frame=False):
        key = name, outputs, frame
        if key not in found:
            X, y = data(outputs)
            found[key] = clone(MODELS[name]).fit(pd.DataFrame(X, columns=NAMES) if frame else X, y)
        return copy.deepcopy(found[key])

    return fit


def same(a, b):
    """Return whether two values are alike in type and content, to the last bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        alike = a.dtype == b.dtype and a.shape == b.shape and a.flags.c_contiguous == b.flags.c_contiguous
        return alike and (a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes())
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Enum):
        return a is b
    return a == b or (a != a and b != b)


def assert_same_model(model, other, X):
    assert type(other) is type(model)
    for name, value in vars(model).items():
        assert same(value, getattr(other, name)), name
    assert vars(other).keys() == vars(model).keys()
    methods = ["predict", "gradient", "transform", "get_support", "get_feature_names_out"]
    for method in methods:
        selects_nothing = not getattr(model, "support_", np.ones(1)).any()  # scikit-learn warns then
        if hasattr(model, method) and not (method == "transform" and selects_nothing):
            arguments = (X,) if method in ("predict", "gradient", "transform") else ()
            assert same(getattr(model, method)(*arguments), getattr(other, method)(*arguments)), method
    if hasattr(model, "equation_"):
        assert model.equation_ == other.equation_


cases = pytest.mark.parametrize("name", MODELS)


class TestRoundTrip:
    @pytest.mark.slow
    @cases
    @pytest.mark.parametrize(("outputs", "frame"), [(1, False), (2, True)])
    def test_every_model(self, fitted, tmp_path, name, outputs, frame):
        model = fitted(name, outputs, frame)
        before = copy.deepcopy(vars(model))
        save(model, tmp_path / "model")
        assert same(vars(model), before)
        X = data()[0][:50]
        assert_same_model(model, load(tmp_path / "model"), pd.DataFrame(X, columns=NAMES) if frame else X)

    @cases
    def test_every_model_by_pickle_and_joblib(self, fitted, tmp_path, name):
        model, X = fitted(name), data()[0][:50]
        assert_same_model(model, pickle.loads(pickle.dumps(model)), X)
        joblib.dump(model, tmp_path / "model.joblib")
        assert_same_model(model, joblib.load(tmp_path / "model.joblib"), X)

    def test_heads_are_what_they_are_called(self, fitted):
        for kind in ("dictionary", "network", "mean"):
            assert fitted(f"{kind} head").head_ == kind

    def test_a_loaded_model_can_be_fitted_and_saved_again(self, fitted, tmp_path):
        model = fitted("dictionary head")
        save(model, tmp_path / "a")
        again = load(tmp_path / "a")
        save(again, tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
        assert_same_model(again.fit(*data()), model, data()[0])

    def test_output_of_transform(self, fitted, tmp_path):
        model = fitted("Algorithm 1", frame=True).set_output(transform="pandas")
        save(model, tmp_path / "a")
        frame = pd.DataFrame(data()[0], columns=NAMES)
        pd.testing.assert_frame_equal(load(tmp_path / "a").transform(frame), model.transform(frame))

    def test_any_safetensors_reader_can_open_it(self, fitted, tmp_path):
        model = fitted("network head")
        save(model, tmp_path / "a")
        with safe_open(tmp_path / "a", framework="np") as file:
            description = json.loads(file.metadata()["fewvars"])
            assert_array_equal(file.get_tensor("fitted/_head/thetas"), model._head.thetas)
        assert description["estimator"] == "FewVariablesRegressor"
        assert description["fewvars"] == fv.__version__
        assert description["fitted"]["_head"]["fields"]["network"]["fields"]["widths"] == {
            "tuple": list(model._head.network.widths)
        }


class TestEarlierFiles:
    """Files in ``saved/format-N`` are of the code that introduced format N: add new kinds, never write one again."""

    folders = sorted((Path(__file__).parent / "saved").iterdir())

    @pytest.mark.parametrize("folder", folders, ids=lambda folder: folder.name)
    def test_are_read_and_predict_as_they_did(self, folder):
        X = data()[0][:5]
        outputs = json.loads((folder / "outputs.json").read_text())
        assert {path.stem for path in folder.glob("*.fewvars")} == outputs.keys()
        kinds = set()
        for name, output in outputs.items():
            model = load(folder / f"{name}.fewvars")
            evaluate = model.transform if isinstance(model, LagTransformer) else model.predict
            assert_allclose(evaluate(X), output, rtol=1e-9, atol=1e-9, err_msg=name)
            kinds.add(type(model))
        assert kinds <= set(ESTIMATORS)
        assert folder is not self.folders[-1] or kinds == set(ESTIMATORS)

    @pytest.mark.parametrize("path", sorted(folders[0].glob("*.fewvars")), ids=lambda path: path.stem)
    def test_nonsense_in_format_1_is_refused(self, path):
        """The migration meets values of all kinds before anything has been checked."""
        with safe_open(path, framework="np") as file:
            description = json.loads(file.metadata()["fewvars"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no dict
        everywhere = list(itertools.product(places(description), [None, True, -1, "x", [], {}, {"fields": 3}]))
        chosen = np.random.default_rng(0).permutation(len(everywhere))[:300]
        for place, value in (everywhere[i] for i in chosen):
            changed, left = copy.deepcopy(description), dict(tensors)
            put("/".join(map(str, place)), value)(changed, left)
            migrate(changed, left)

    def test_there_are_some_of_every_format(self):
        assert [folder.name for folder in self.folders] == [f"format-{n}" for n in range(1, FORMAT + 1)]


class TestParameters:
    def stored(self, tmp_path, **parameters):
        model = fv.SparseDictionaryRegressor().fit(*data())
        save(model.set_params(**parameters), tmp_path / "a")
        return load(tmp_path / "a").get_params()

    @pytest.mark.parametrize(
        "value",
        [
            *(None, 5, -0.0, float("inf"), "text", True, (1, (2.5,)), [], {"a": [None]}),
            *([(np.arange(5), np.arange(5, 9))], np.array([["x"]])[0], np.array(["a", "b"], object)),
            *(np.float32([[1, 2], [3, 4]]).T, np.zeros((0, 3), bool), np.array(1.5), np.uint8([3])),
        ],
        ids=repr,
    )
    def test_plain_values_and_arrays(self, tmp_path, value):
        assert same(self.stored(tmp_path, cv=value)["cv"], value)

    def test_scalars_of_numpy_become_plain(self, tmp_path):
        found = self.stored(tmp_path, max_degree=np.int64(3), strength=np.float32(0.5), fit_intercept=np.True_)
        assert same([found["max_degree"], found["strength"], found["fit_intercept"]], [3, 0.5, True])

    recursive: list = []  # noqa: RUF012
    recursive.append(recursive)

    @pytest.mark.parametrize(
        "value",
        [
            *(KFold(3), np.random.RandomState(0), (i for i in range(3)), len, {1: 2}, 2**80, 1j, b"bytes"),
            *(np.array([None]), np.array([["a", "b"]]), np.array([1j]), np.array(["2020"], "datetime64[D]"), recursive),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_objects_give_way_to_the_default_and_the_fit_survives(self, tmp_path, value):
        X, y = data()
        model = fv.SparseDictionaryRegressor(max_degree=3).fit(X, y).set_params(cv=value, max_memory=value)
        save(model, tmp_path / "a")
        with pytest.warns(UserWarning, match=r"the parameter (cv|max_memory) was .*, which a file cannot hold") as said:
            other = load(tmp_path / "a")
        assert len(said) == 2
        assert other.get_params() == {**model.get_params(), "cv": None, "max_memory": 2**31}
        assert_array_equal(other.predict(X), model.predict(X))


class TestRefusedModels:
    def test_not_fitted(self, tmp_path):
        with pytest.raises(NotFittedError):
            save(fv.FewVariablesRegressor(), tmp_path / "a")

    @pytest.mark.parametrize("model", [Ridge().fit([[1.0]], [1.0]), None, fv.FewVariablesRegressor], ids=repr)
    def test_not_ours(self, tmp_path, model):
        with pytest.raises(ValueError, match="give a fitted FewVariablesRegressor"):
            save(model, tmp_path / "a")
        assert not list(tmp_path.iterdir())

    def test_not_finite(self, fitted, tmp_path):
        model = fitted("plain network")
        (tmp_path / "a").write_text("old")
        model.parameters_[3] = np.nan
        with pytest.raises(ValueError, match=r"cannot be saved: NeuralRegressor.parameters_ is not finite"):
            save(model, tmp_path / "a")
        assert (tmp_path / "a").read_text() == "old"

    def test_attributes_of_others_are_left_out_and_named(self, fitted, tmp_path):
        model = fitted("dictionary")
        model.note = "mine"
        with pytest.warns(UserWarning, match="note of this SparseDictionaryRegressor"):
            save(model, tmp_path / "a")
        assert not hasattr(load(tmp_path / "a"), "note")

    def test_all_fields_of_all_records_are_described(self):
        for record, description in RECORDS.items():
            assert list(description.kinds) == [f.name for f in fields(record) if f.init], record


plain = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text()
keys = st.text(st.sampled_from("ab/~01"), max_size=3)


@pytest.mark.slow
@given(
    st.recursive(
        plain | st.lists(st.floats(width=32), max_size=3).map(np.float32),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.lists(inner, max_size=3).map(tuple)
            | st.dictionaries(keys, inner, max_size=3)
        ),
        max_leaves=5,
    )
)
def test_any_nest_of_values_survives(value):
    tensors = {}
    code = json.loads(json.dumps(encode(value, "place", tensors), allow_nan=False))
    assert same(decode(code, "place", tensors), value)
    assert not tensors


def contents(model, tmp_path):
    save(model, tmp_path / "original")
    return (tmp_path / "original").read_bytes()


def refused(data, path, match="cannot be loaded"):
    """Assert that these bytes are refused by the one error, in one line that names the file."""
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=match) as error:
        load(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


class TestDamage:
    def test_truncated(self, fitted, tmp_path):
        whole = contents(fitted("dictionary"), tmp_path)
        for length in {*range(30), *np.linspace(0, len(whole) - 1, 200).astype(int)}:
            refused(whole[:length], tmp_path / "a")
        refused(whole + b"\0", tmp_path / "a")

    @pytest.mark.parametrize(
        "other",
        [b"", b"{}", b"\x02" + bytes(7) + b"{}", b"\x89PNG\r\n", bytes(100), b"\xff" * 100, b"[1]" * 50],
        ids=str,
    )
    def test_other_files(self, tmp_path, other):
        refused(other, tmp_path / "a")

    def test_other_safetensors(self, tmp_path):
        from safetensors.numpy import save as serialize

        refused(serialize({"a": np.zeros(3)}), tmp_path / "a", "it isn't a fewvars file")
        refused(serialize({"a": np.zeros(3)}, {"fewvars": "[]"}), tmp_path / "a", "not a mapping")
        refused(serialize({"a": np.zeros(3)}, {"fewvars": '{"format": NaN}'}), tmp_path / "a", "its JSON holds NaN")

    def test_folders_and_missing_files(self, tmp_path):
        with pytest.raises(IsADirectoryError):
            load(tmp_path)
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "missing")

    def test_pickles_are_not_opened(self, fitted, tmp_path):
        refused(pickle.dumps(fitted("dictionary")), tmp_path / "a")
        joblib.dump(fitted("dictionary"), tmp_path / "b")
        refused((tmp_path / "b").read_bytes(), tmp_path / "a")

    @pytest.mark.parametrize("name", ["dictionary head", "network head", "plain network"])
    def test_flipped_bytes(self, fitted, tmp_path_factory, name):
        model, folder = fitted(name), tmp_path_factory.mktemp("flips")
        whole = contents(model, folder)
        header = 8 + int.from_bytes(whole[:8], "little")
        places = st.integers(0, header - 1) | st.integers(0, len(whole) - 1)

        @given(st.lists(st.tuples(places, st.integers(1, 255)), min_size=1, max_size=3))
        def flip(changes):
            damaged = bytearray(whole)
            for place, mask in changes:
                damaged[place] ^= mask
            (folder / "a").write_bytes(damaged)
            try:
                found = load(folder / "a")
            except ModelFileError:
                return
            assert_same_model(model, found, data()[0][:5])

        flip()

    def test_keys_that_occur_twice(self, fitted, tmp_path):
        whole = contents(fitted("plain network"), tmp_path)
        length = int.from_bytes(whole[:8], "little")
        header, rest = whole[8 : 8 + length].decode(), whole[8 + length :]
        for before, after in [
            (r"\"n_features_in_\": 6", r"\"n_features_in_\": 6, \"n_features_in_\": 7"),
            ('{"__metadata__"', '{"__metadata__":{"fewvars":"{}"},"__metadata__"'),
        ]:
            assert before in header
            changed = header.replace(before, after).encode()
            refused(len(changed).to_bytes(8, "little") + changed + rest, tmp_path / "a", "occurs twice")

    @pytest.mark.parametrize("huge", [10**5, 10**18, 2**63, 2**64 - 1, 10**30])
    def test_huge_shapes_in_the_header(self, fitted, tmp_path, huge):
        whole = contents(fitted("plain network"), tmp_path)
        length = int.from_bytes(whole[:8], "little")
        header = json.loads(whole[8 : 8 + length])
        for shape in ([huge], [huge, huge], [0, huge]):
            header["fitted/parameters_"]["shape"] = shape
            changed = json.dumps(header).encode()
            refused(len(changed).to_bytes(8, "little") + changed + whole[8 + length :], tmp_path / "a")

    @pytest.mark.parametrize("huge", [2**47, 2**62, 2**63, 2**64 - 1])
    def test_huge_shapes_without_bytes(self, fitted, tmp_path, huge):
        whole = contents(fitted("plain network"), tmp_path)
        length = int.from_bytes(whole[:8], "little")
        header = json.loads(whole[8 : 8 + length])
        for shape in ([0, huge], [huge, 0, huge], [0] * 70):
            header["extra"] = {"dtype": "F64", "shape": shape, "data_offsets": [0, 0]}
            changed = json.dumps(header).encode()
            refused(len(changed).to_bytes(8, "little") + changed + whole[8 + length :], tmp_path / "a")

    def test_nests_without_end(self, tmp_path):
        from safetensors.numpy import save as serialize

        for deep in ("[" * 200_000, '{"format": 1, "a": ' + "[" * 900 + "]" * 900 + "}"):
            refused(serialize({}, {"fewvars": deep}), tmp_path / "a")

    def test_values_nested_too_deeply_to_decode(self, fitted, tmp_path):
        description, tensors = unpack(contents(fitted("lags"), tmp_path))
        value = 1
        for _ in range(100):
            value = {"tuple": [value]}
        description["parameters"]["lags"] = value
        refused(pack(description, tensors), tmp_path / "a", "nested too deeply")


def forged(model, tmp_path, change):
    """Return a file with a right checksum after a change of its description and tensors."""
    description, tensors = unpack(contents(model, tmp_path))
    change(description, tensors)
    return pack(description, tensors)


def put(place, value):
    """Return a change that puts a value at a place of the description."""

    def change(description, tensors):
        *above, last = place.split("/")
        for key in above:
            description = description[int(key) if isinstance(description, list) else key]
        description[int(last) if isinstance(description, list) else last] = value

    return change


def put_tensor(place, function):
    """Return a change that puts another array, rightly declared, in place of one."""

    def change(description, tensors):
        tensors[place] = np.array(function(tensors[place]), order="C")
        section, *rest = place.split("/")
        code = description[section][rest[0]]
        for key in rest[1:]:
            code = code.get("fields", code.get("tuple", code))
            code = code[int(key)] if isinstance(code, list) else code[key]
        code["array"], code["shape"] = tensors[place].dtype.name, list(tensors[place].shape)

    return change


def remove_tensor(place):
    return lambda description, tensors: tensors.pop(place)


def filled(value, index=0):
    def function(array):
        array.reshape(-1)[index] = value
        return array

    return function


HEAD = "fitted/_head/fields"
FORGERIES = [
    ("lags", put("estimator", "os.system"), "unknown kind of model"),
    ("lags", put("estimator", ["LagTransformer"]), "unknown kind of model"),
    ("lags", put("more", 1), "a section"),
    ("lags", lambda description, tensors: description.pop("fitted"), "a section"),
    ("lags", put("fitted", []), "'fitted' is not a mapping"),
    ("lags", put("parameters/steps", 1), "no parameter 'steps'"),
    ("lags", put("not_stored/steps", "1"), "no parameter 'steps'"),
    ("lags", put("not_stored/lags", 1), "other than text"),
    ("lags", put("fitted/transform", 1), "unknown transform"),
    ("lags", put("fitted/__class__", 1), "unknown __class__"),
    ("lags", put("fitted/a\n\x1b[31m", 1), r"unknown a \[31m\."),
    ("lags", put("parameters/lags", {"texts": ["x"] * 10_000 + ["x" * 10_000], "dtype": "str"}), "too much memory"),
    ("lags", put("fitted/lags_", {"tuple": [0, 0]}), "repeats a lag"),
    ("lags", put("fitted/lags_", {"tuple": []}), "at least 1"),
    ("lags", put("fitted/lags_", {"tuple": [0, 10**19]}), "64 bits"),
    ("lags", put("fitted/n_features_in_", 10**15), "does not fit the lags"),
    ("lags", put("fitted/n_features_in_", True), "whole number"),
    ("lags", put_tensor("fitted/feature_groups_", lambda a: a[::-1]), "not in order"),
    ("lags", put_tensor("fitted/feature_groups_", lambda a: a.astype(float)), "float64, not of int64"),
    ("lags", lambda description, tensors: tensors.update(extra=np.zeros(2)), r"nothing refers to .*'extra'"),
    ("lags", remove_tensor("fitted/feature_groups_"), "has no tensor"),
    ("lags", put("fitted/feature_groups_/shape", [6, 2]), "is declared as"),
    ("lags", put("fitted/feature_groups_/shape", [12.0]), "is declared as"),
    ("lags", put("fitted/feature_groups_/array", "float64"), "is declared as"),
    ("lags", put("fitted/feature_groups_/order", "K"), "form"),
    ("plain network", put("fitted/outcome_/enum", "Thread"), "unknown Thread"),
    ("plain network", put("fitted/outcome_/member", "mro"), "unknown Outcome.mro"),
    ("plain network", put("fitted/network_/record", "Popen"), "unknown kind of record, 'Popen'"),
    ("plain network", put("fitted/network_/fields/more", 1), "unknown more"),
    ("plain network", put("fitted/network_/fields/n_inputs", 7), "another number of inputs"),
    ("plain network", put("fitted/network_/fields/n_outputs", 2), "another number of outputs"),
    ("plain network", put("fitted/network_/fields/widths", {"tuple": [6, 6, 5]}), "parameters: the network needs"),
    # In 64 bits (2^32 + 1) 2^32 overflows to 2^32, and so on to few.
    ("plain network", put("fitted/network_/fields/widths", {"tuple": [2**32] * 3}), "the network needs"),
    ("plain network", put("fitted/network_/fields/activation", {"tuple": ["tanh"] * 2}), "one for each"),
    ("plain network", put("fitted/network_/fields/activation", {"tuple": ["eval"] * 3}), "not one of tanh"),
    ("plain network", put("fitted/network_/fields/activation", "tanh"), "not a list"),
    ("plain network", put_tensor("fitted/parameters_", filled(np.nan)), "parameters_ is not finite"),
    ("plain network", put_tensor("fitted/parameters_", filled(-np.inf, -1)), "parameters_ is not finite"),
    ("plain network", put_tensor("fitted/parameters_", lambda a: a[:-1]), "parameters: the network needs"),
    ("plain network", put_tensor("fitted/parameters_", lambda a: a.astype(np.int64)), "array of int64"),
    ("plain network", put_tensor("fitted/x_scale_", filled(0.0)), "not above 0"),
    ("plain network", put_tensor("fitted/x_scale_", filled(np.nan)), "not above 0"),
    ("plain network", put_tensor("fitted/y_scale_", filled(np.inf)), "y_scale_ is not finite"),
    ("plain network", put_tensor("fitted/support_", lambda a: a[:-1]), "5 for the inputs, but other values have 6"),
    ("Algorithm 1", put_tensor("fitted/initial_norms_", lambda a: a[:-1]), "does not fit the network"),
    ("Algorithm 1", put_tensor("fitted/path_/magnitudes", lambda a: a[:, 1:]), "columns for 6 groups"),
    ("Algorithm 2", put_tensor("fitted/directions_", lambda a: a[:, 1:]), "for the inputs"),
    ("Algorithm 2", put_tensor("fitted/path_/magnitudes", lambda a: a[:, 1:]), "does not fit the network"),
    ("directions", put_tensor("fitted/mean_", filled(np.nan)), "mean_ is not finite"),
    ("directions", put_tensor("fitted/directions_", lambda a: np.vstack([a, a])), "2 for the directions"),
    ("directions", put_tensor("fitted/directions_", lambda a: a[:, 1:]), "5 for the inputs"),
    ("dictionary", put_tensor("fitted/path_/polynomial/exponents", lambda a: a[:, :-1]), "for the variables"),
    ("dictionary", put("fitted/feature_names_in_", {"texts": ["a"], "dtype": "object"}), "for the inputs"),
    ("dictionary", put("fitted/feature_names_in_", {"texts": [1] * 6, "dtype": "object"}), "other than text"),
    ("dictionary", put_tensor("fitted/path_/polynomial/coefficients", filled(np.nan)), "not finite"),
    ("dictionary", put_tensor("fitted/path_/polynomial/exponents", filled(-1)), "below 0"),
    ("dictionary", put_tensor("fitted/path_/polynomial/exponents", filled(10**12)), "has degree 10000000000"),
    ("dictionary", put_tensor("fitted/path_/polynomial/exponents", lambda a: a.astype(np.int8)), "array of int8"),
    ("network head", put_tensor("fitted/_head/thetas", filled(np.inf)), "thetas is not finite"),
    ("network head", put_tensor("fitted/_head/thetas", lambda a: a[:0]), "thetas is empty"),
    ("network head", put_tensor("fitted/_head/thetas", lambda a: a[:, :-1]), "the network needs"),
    ("network head", put_tensor("fitted/_head/inputs/scale", filled(-1.0)), "not above 0"),
    ("network head", put_tensor("fitted/_head/inputs/mean", lambda a: a[:-1]), "for the columns"),
    ("network head", put_tensor("fitted/support_", np.ones_like), "variables for the"),
    ("network head", put("fitted/head_", "dictionary"), "another head is stored"),
    ("network head", put("fitted/_head", None), "is not a MeanHead or PolynomialHead or CurvesHead"),
    ("network head", put_tensor("fitted/path_/labels", filled(10**15)), "columns for"),
    (
        "dictionary head",
        put_tensor("fitted/_head/polynomial/coefficients", lambda a: np.zeros((0, 10**9))),
        "for the terms",
    ),
    ("mean head", put_tensor("fitted/_head/mean", lambda a: np.r_[a, a]), "outputs"),
]


class TestForgeries:
    @pytest.mark.parametrize(("name", "change", "message"), FORGERIES, ids=[f"{n}: {m}" for n, _, m in FORGERIES])
    def test_is_refused(self, fitted, tmp_path, name, change, message):
        refused(forged(fitted(name), tmp_path, change), tmp_path / "a", message)

    def test_newer_format(self, fitted, tmp_path):
        from safetensors.numpy import save as serialize

        for version in (FORMAT + 1, 10**6):
            text = json.dumps({"format": version, "model": "in a form unknown today"})
            refused(serialize({}, {"fewvars": text}), tmp_path / "a", f"format {version} .* install a newer one")
        for version in (0, -1, True, 1.0, "1", None):
            refused(
                serialize({}, {"fewvars": json.dumps({"format": version})}), tmp_path / "a", "does not say which format"
            )

    def test_truth_values_other_than_0_and_1(self, fitted, tmp_path):
        model = fitted("plain network")
        whole = contents(model, tmp_path)
        length = int.from_bytes(whole[:8], "little")
        place = 8 + length + json.loads(whole[8 : 8 + length])["fitted/support_"]["data_offsets"][0]
        refused(whole[:place] + b"\x02" + whole[place + 1 :], tmp_path / "a", "neither 0 nor 1")

    @pytest.mark.slow
    @cases
    def test_no_change_of_the_description_leads_to_a_crash(self, fitted, tmp_path, name):
        """Values of the description become all kinds of nonsense: refused, or the model still works."""
        model, X = fitted(name), data()[0][:3]
        description, tensors = unpack(contents(model, tmp_path))
        poison = [None, True, -1, 3, 2**62, 1e308, "x", [], {}, {"tuple": []}, {"dict": {}}, {"float": "nan"}]
        everywhere = list(itertools.product(places(description), poison))
        chosen = np.random.default_rng(0).permutation(len(everywhere))[:150]
        for place, value in (everywhere[i] for i in chosen):
            changed = copy.deepcopy(description)
            target = changed
            for key in place[:-1]:
                target = target[key]
            target[place[-1]] = value
            works_or_refused(pack(changed, tensors), tmp_path / "a", X)

    @pytest.mark.slow
    @cases
    def test_no_change_of_a_tensor_leads_to_a_crash(self, fitted, tmp_path, name):
        model, X = fitted(name), data()[0][:3]
        whole = contents(model, tmp_path)
        functions = [
            lambda a: a[..., :0],
            lambda a: a[:0],
            lambda a: np.concatenate([a, a]),
            lambda a: a.T if a.ndim > 1 else a[None],
            lambda a: np.zeros_like(a),
            lambda a: np.full_like(a, np.array(2**62).astype(a.dtype)),
            lambda a: a.astype(np.float32),
            lambda a: np.zeros((0, *a.shape[1:-1], 10**9), a.dtype),
        ]
        for place in unpack(whole)[1]:
            for function in functions:
                description, tensors = unpack(whole)
                put_tensor(place, function)(description, tensors)
                works_or_refused(pack(description, tensors), tmp_path / "a", X)


def places(code, above=()):
    """Yield the places of all values in nested dicts and lists."""
    entries = code.items() if isinstance(code, dict) else enumerate(code) if isinstance(code, list) else ()
    for key, value in entries:
        yield (*above, key)
        yield from places(value, (*above, key))


def works_or_refused(data, path, X):
    path.write_bytes(data)
    try:
        model = load(path)
    except ModelFileError:
        return
    if isinstance(model, LagTransformer):
        assert model.transform(X).shape == (3, X.shape[1] * len(model.lags_))
    else:
        assert len(model.predict(X)) == 3


class TestAtomicity:
    def test_a_failing_write_leaves_the_old_file(self, fitted, tmp_path, monkeypatch):
        old, new = fitted("dictionary"), fitted("plain network")
        save(old, tmp_path / "a")

        def full(descriptor):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", full)
            with pytest.raises(OSError, match="No space"):
                save(new, tmp_path / "a")
        assert [entry.name for entry in tmp_path.iterdir()] == ["a"]
        assert_same_model(old, load(tmp_path / "a"), data()[0])

    @pytest.mark.slow
    def test_a_killed_process_leaves_a_whole_file(self, tmp_path):
        """Processes that do nothing but save are killed until one of them was in the middle of it."""
        script = """
            import os, signal, sys, time
            import numpy as np
            from fewvars import NeuralRegressor
            from fewvars.files.persistence import load, save
            path = os.path.join(sys.argv[1], "model")
            X = np.random.default_rng(0).standard_normal((50, 3))
            models = [
                NeuralRegressor(hidden_layer_sizes=(width,) * 3, n_first=1, random_state=0).fit(X, X[:, 0])
                for width in (100, 200)
            ]
            save(models[0], path)
            expected = [model.parameters_.tobytes() for model in models]
            for k in range(200):
                child = os.fork()
                if child == 0:
                    while True:
                        save(models[1], path)
                        save(models[0], path)
                time.sleep(0.02 + 0.007 * (k % 13))
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                assert load(path).parameters_.tobytes() in expected
                if k >= 5 and len(os.listdir(sys.argv[1])) > 1:
                    print("killed while writing")
                    break
        """
        command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout == "killed while writing\n", done.stderr


def test_every_public_estimator_is_described():
    for name in fv.__all__:
        if name.endswith("Regressor"):
            assert getattr(fv, name) in ESTIMATORS
