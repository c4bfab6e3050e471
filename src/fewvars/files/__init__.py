"""Files: tables of data, saved models and ONNX."""

from fewvars.files.onnx import export_onnx
from fewvars.files.persistence import ModelFileError, load, save

__all__ = ["ModelFileError", "export_onnx", "load", "save"]
