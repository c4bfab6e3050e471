"""`fewvars export`: a saved model as ONNX."""

from pathlib import Path

import click

from fewvars.cli import _files as files
from fewvars.cli._terminal import debug_option, say, warnings_as_notes


@click.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--onnx", type=files.FILE, required=True, metavar="OUT", help="The file to write.")
@click.option("--dtype", type=click.Choice(["float32", "float64"]), default="float64", show_default=True)
@debug_option
def export(model: Path, onnx: Path, dtype: str) -> None:
    """Write MODEL, saved by `fewvars fit --save`, as ONNX."""
    files.check_outputs([model], {"--onnx": onnx})
    from fewvars.files.onnx import export_onnx
    from fewvars.files.persistence import load

    with warnings_as_notes():
        export_onnx(load(model), onnx, dtype=dtype)
    say(f"ONNX: {onnx}")
