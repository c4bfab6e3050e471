"""Penalties that switch off inputs, directions or units, each with its value, prox and optimality."""

from fewvars.engine.penalties.column_groups import ColumnGroups, InputGroups, SecondLayerColumns, group_labels
from fewvars.engine.penalties.penalty import CompiledProx, Penalty
from fewvars.engine.penalties.singular_values import RANK_TOLERANCE, SingularValues, significant

__all__ = [
    "RANK_TOLERANCE",
    "ColumnGroups",
    "CompiledProx",
    "InputGroups",
    "Penalty",
    "SecondLayerColumns",
    "SingularValues",
    "group_labels",
    "significant",
]
