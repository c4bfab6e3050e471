"""Encode values as JSON and tensors, and decode them: only plain values, arrays and listed records."""

import math
from dataclasses import fields
from typing import Any

import numpy as np

from fewvars._common.kinds import require
from fewvars.files.persistence.records import ENUMS, descriptions

Tensors = dict[str, np.ndarray]
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
_DEEPEST = 50  # nested values; a list may hold itself
_MOST_CHARACTERS = 2**24
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_ENUMS = {kind.__name__: kind for kind in ENUMS}


def encode(value: Any, place: str, tensors: Tensors) -> Any:
    """Return a value as JSON; arrays go to `tensors`, named after their place in the value.

    Raises ValueError for what a file cannot hold.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        _check_integer(place, value)
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, np.ndarray):
        return _encode_array(value, place, tensors)
    if type(value) in ENUMS:
        return {"enum": type(value).__name__, "member": value.name}
    if type(value) in descriptions():
        return _encode_record(value, place, tensors)
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return {"dict": {str(key): encode(entry, _below(place, key), tensors) for key, entry in value.items()}}
    if type(value) in (list, tuple):
        entries = [encode(entry, _below(place, i), tensors) for i, entry in enumerate(value)]
        return entries if type(value) is list else {"tuple": entries}
    raise ValueError(f"{place} is a {type(value).__name__}, which a file cannot hold")


def decode(code: Any, place: str, tensors: Tensors) -> Any:
    """Undo `encode` and check records; tensors are taken out of `tensors` when they are used.

    Raises ValueError for anything that `encode` does not write, and for records that are not as described.
    """
    if code is None or isinstance(code, bool | str | float):
        return code
    if isinstance(code, int):
        _check_integer(place, code)
        return code
    if isinstance(code, list):
        return [decode(entry, _below(place, i), tensors) for i, entry in enumerate(code)]
    match code:
        case {"float": str(name)} if len(code) == 1 and name in _NOT_FINITE:
            return _NOT_FINITE[name]
        case {"tuple": list(entries)} if len(code) == 1:
            return tuple(decode(entry, _below(place, i), tensors) for i, entry in enumerate(entries))
        case {"dict": dict(entries)} if len(code) == 1:
            return {key: decode(entry, _below(place, key), tensors) for key, entry in entries.items()}
        case {"texts": list(entries), "dtype": "object" | "str" as dtype} if len(code) == 2:
            _check_texts(place, entries, dtype)
            return np.array(entries, dtype=object if dtype == "object" else str)
        case {"array": str(dtype), "shape": list(shape), "order": "C" | "F" as order} if len(code) == 3:
            return _decode_array(dtype, shape, order, place, tensors)
        case {"enum": str(name), "member": str(member)} if len(code) == 2:
            require(name in _ENUMS and member in _ENUMS[name].__members__, f"{place} is an unknown {name}.{member}")
            return _ENUMS[name][member]
        case {"record": str(name), "fields": dict(entries)} if len(code) == 2:
            return _decode_record(name, entries, place, tensors)
    raise ValueError(f"{place} is not in a form that this format knows")


def _encode_array(value: np.ndarray, place: str, tensors: Tensors) -> dict[str, Any]:
    if value.dtype.kind in "OU":
        require(value.ndim == 1, f"{place} is an array of text with {value.ndim} axes, which a file cannot hold")
        dtype = "object" if value.dtype.kind == "O" else "str"
        _check_texts(place, value.tolist(), dtype)
        return {"texts": [str(entry) for entry in value], "dtype": dtype}
    require(value.dtype.name in DTYPES, f"{place} is an array of {value.dtype}, which a file cannot hold")
    # The bytes are written in C order, which safetensors assumes. Columns that were contiguous are so
    # again on the way back: BLAS may round differently along rows and along columns.
    tensors[place] = np.array(value, dtype=value.dtype.newbyteorder("="), order="C")
    order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
    return {"array": value.dtype.name, "shape": list(value.shape), "order": order}


def _decode_array(dtype: str, shape: list[Any], order: Any, place: str, tensors: Tensors) -> np.ndarray:
    require(place in tensors, f"{place} has no tensor")
    tensor = tensors.pop(place)
    found = f"{tensor.dtype.name} {list(tensor.shape)}"
    # Compared as text: 2.0 and True are equal to whole numbers, but not valid in a shape.
    require(f"{dtype} {shape}" == found, f"{place} is declared as {dtype} {shape}, but its tensor is {found}")
    return np.array(tensor, order=order)  # a copy of its own, aligned and writeable


def _encode_record(value: Any, place: str, tensors: Tensors) -> dict[str, Any]:
    values = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    code = {name: encode(entry, _below(place, name), tensors) for name, entry in values.items()}
    return {"record": type(value).__name__, "fields": code}


def _decode_record(name: str, entries: dict[str, Any], place: str, tensors: Tensors) -> Any:
    known = {kind.__name__: (kind, description) for kind, description in descriptions().items()}
    require(name in known, f"{place} is an unknown kind of record, {name!r}")
    kind, description = known[name]
    values = {field: decode(entry, _below(place, field), tensors) for field, entry in entries.items()}
    description.check_fields(name, values)
    record = kind(**values)
    description.check(record)
    return record


def _below(place: str, key: str | int) -> str:
    """Return the place of an entry; slashes in keys are escaped as in a JSON pointer, so places are unique."""
    require(place.count("/") < _DEEPEST, f"{place[:40]}... is nested too deeply")
    return f"{place}/{str(key).replace('~', '~0').replace('/', '~1')}"


def _check_texts(place: str, entries: list[Any], dtype: str) -> None:
    require(all(isinstance(entry, str) for entry in entries), f"{place} holds something other than text")
    if dtype == "str":  # NumPy reserves room for the longest text in every entry
        longest = max(map(len, entries), default=0)
        require(len(entries) * longest <= _MOST_CHARACTERS, f"{place} needs too much memory as an array of text")


def _check_integer(place: str, value: int) -> None:
    require(-(2**63) <= value < 2**63, f"{place} is a whole number of more than 64 bits")
