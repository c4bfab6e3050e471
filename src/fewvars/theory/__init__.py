"""The paper's three theorems as code: their constants, and both sides of each inequality along a run."""

from fewvars.theory.constants import SLOPES, lipschitz_constant, local_lipschitz
from fewvars.theory.decay import LossDecay, check_loss_decay
from fewvars.theory.stationarity import StationarityBound, check_stationarity, stationarity

__all__ = [
    "SLOPES",
    "LossDecay",
    "StationarityBound",
    "check_loss_decay",
    "check_stationarity",
    "lipschitz_constant",
    "local_lipschitz",
    "stationarity",
]
