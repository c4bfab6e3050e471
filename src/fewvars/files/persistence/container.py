"""One safetensors file: a JSON description in its metadata, tensors, and a checksum over both."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save as serialize

from fewvars._common.kinds import require
from fewvars.files.persistence.migration import migrate
from fewvars.files.persistence.values import Tensors

FORMAT = 2
_KEY = "fewvars"
_TYPES = {
    **{"BOOL": "bool", "F32": "float32", "F64": "float64"},
    **{
        f"{letter}{bits}": f"{kind}{bits}" for letter, kind in (("I", "int"), ("U", "uint")) for bits in (8, 16, 32, 64)
    },
}


def pack(description: dict[str, Any], tensors: Tensors) -> bytes:
    """Return the bytes of a file."""
    signed = {"format": FORMAT, "sha256": _digest(description, tensors), **description}
    return serialize(tensors, {_KEY: json.dumps(signed, allow_nan=False)})


def unpack(data: bytes) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors.

    Raises ValueError saying what is wrong with the bytes, or RecursionError if their JSON is nested too deeply.
    """
    header = _header(data)
    metadata = header.pop("__metadata__", None)
    require(isinstance(metadata, dict) and isinstance(metadata.get(_KEY), str), "it isn't a fewvars file")
    description = _parsed(metadata[_KEY])
    require(isinstance(description, dict), "its description is not a mapping")
    version = description.pop("format", None)
    require(type(version) is int and version > 0, "it does not say which format it has")
    require(
        version <= FORMAT,
        f"it has format {version} and this version of fewvars reads formats up to {FORMAT}; install a newer one",
    )
    try:
        tensors = {name: _array(tensor) for name, tensor in deserialize(data)}
    except SafetensorError as error:
        raise ValueError(f"it is damaged ({one_line(error)})") from None
    require(tensors.keys() == header.keys(), "its header can be read in two ways")
    checksum = description.pop("sha256", None)
    require(checksum == _digest(description, tensors), "it is damaged: its checksum does not agree with its contents")
    if version == 1:
        migrate(description, tensors)
    return description, tensors


def _header(data: bytes) -> dict[str, Any]:
    """Return the JSON header, whose length is in the first eight bytes."""
    length = int.from_bytes(data[:8], "little")
    require(len(data) > 8 and length <= len(data) - 8, "it ends within its header, or isn't a fewvars file")
    try:
        header = _parsed(data[8 : 8 + length].decode())
    except ValueError as error:
        raise ValueError(f"it is damaged, or isn't a fewvars file ({one_line(error)})") from None
    require(isinstance(header, dict), "it isn't a fewvars file")
    return header


def _parsed(text: str) -> Any:
    """Return parsed JSON; reject keys that occur twice, because readers differ in which of them they use."""
    return json.loads(text, object_pairs_hook=_table, parse_constant=_not_finite)


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    require(len(table) == len(pairs), "a key of its JSON occurs twice")
    return table


def _not_finite(name: str) -> None:
    raise ValueError(f"its JSON holds {name}")


def _array(tensor: Mapping[str, Any]) -> np.ndarray:
    require(tensor["dtype"] in _TYPES, f"it has a tensor of type {one_line(tensor['dtype'])}")
    require(max(tensor["shape"], default=0) < 2**48, "it has a tensor of an impossible shape")
    dtype = np.dtype(_TYPES[tensor["dtype"]])
    values = np.frombuffer(tensor["data"], dtype.newbyteorder("<"))
    if dtype.kind == "b":
        require((values.view(np.uint8) <= 1).all(), "a truth value is neither 0 nor 1")
    return values.astype(dtype).reshape(tensor["shape"])


def _digest(description: dict[str, Any], tensors: Tensors) -> str:
    """Return a checksum of the contents, which does not depend on spaces or on the order of the tensors."""
    digest = hashlib.sha256(json.dumps(description, allow_nan=False).encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(json.dumps([name, array.dtype.name, array.shape]).encode())
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()


def one_line(text: Any) -> str:
    """Return text from a file, or about it, as one short line of printable characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)[:500]).split())
