"""Tables as NPZ files: each 1-d array is a column, and so is each column of a matrix X."""

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping

import numpy as np

from fewvars.files.tables.source import Column, Source, file_of
from fewvars.files.tables.values import from_array

START = b"PK\x03\x04"
MOST_UNPACKED, MOST_COMPRESSION = 2**30, 100  # unpacked bytes, and their ratio to the size of the file


def columns(source: Source) -> Iterator[tuple[str, Column]]:
    """Yield the names and values of all columns."""
    try:
        with np.load(file_of(source), allow_pickle=False) as archive:
            _check_unpacked_size(archive.zip.infolist())
            names = [name for name in archive.files if not (name == "names" and "X" in archive.files)]
            for name in names:
                array = archive[name]
                if not isinstance(array, np.ndarray):
                    raise ValueError(f"The member {name!r} is not an array. Is it a spreadsheet? Export it as CSV.")
                if name == "X" and array.ndim == 2:
                    given = archive["names"] if "names" in archive.files else None
                    yield from zip(_matrix_names(given, array.shape[1]), map(from_array, array.T), strict=True)
                elif array.ndim == 1:
                    yield name, from_array(array)
                else:
                    raise ValueError(
                        f"Array {name!r} has shape {array.shape}: give one 1-d array for each column, or a matrix X."
                    )
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        raise ValueError(f"The NPZ file is damaged: {error}.") from None
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise ValueError(
            "The NPZ file holds pickled objects, which can run code and are not read: save plain numbers or text."
        ) from None


def _check_unpacked_size(members: list[zipfile.ZipInfo]) -> None:
    """Reject a small file that would fill the memory: measured data do not compress that well."""
    packed, unpacked = (sum(getattr(member, size) for member in members) for size in ("compress_size", "file_size"))
    if unpacked > MOST_UNPACKED and unpacked > MOST_COMPRESSION * packed:
        raise ValueError(
            f"The NPZ file unpacks to {unpacked / 2**30:.1f} GiB, {unpacked / packed:.0f} times its size, unlike "
            "any measured data: if it is what you want, save it with numpy.savez, uncompressed."
        )


def _matrix_names(given: Column | None, width: int) -> list[str]:
    if given is None:
        return [f"x{j}" for j in range(width)]
    if given.shape != (width,):
        raise ValueError(f"names has shape {given.shape}: name each of the {width} columns of X.")
    return [str(name) for name in given]


def content(named: Mapping[str, Column]) -> bytes:
    """Return columns as the content of a file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:  # numpy.savez does not accept a column named `file`
        for name, column in named.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, column, allow_pickle=False)
    return file.getvalue()
