"""Dynamical systems whose dependency graphs are known: data on which a selection can be judged.

Each system is one small file with its field, its graph and its usual initial state; `simulate` integrates them.
"""

from fewvars.problems.systems._base import IntegrationError, System, simulate
from fewvars.problems.systems.kuramoto import Kuramoto
from fewvars.problems.systems.lorenz63 import Lorenz63
from fewvars.problems.systems.lorenz96 import Lorenz96
from fewvars.problems.systems.lotka_volterra import LotkaVolterra
from fewvars.problems.systems.rate_network import RateNetwork
from fewvars.problems.systems.roessler import RoesslerRing

__all__ = [
    "IntegrationError",
    "Kuramoto",
    "Lorenz63",
    "Lorenz96",
    "LotkaVolterra",
    "RateNetwork",
    "RoesslerRing",
    "System",
    "simulate",
]
