"""Dynamical systems whose dependency graphs are known: data on which a selection can be judged.

A system is one small file: its field, its graph, its usual start. `simulate` integrates any of them.
"""

from fewvars.systems._base import IntegrationError, System, simulate
from fewvars.systems.kuramoto import Kuramoto
from fewvars.systems.lorenz63 import Lorenz63
from fewvars.systems.lorenz96 import Lorenz96
from fewvars.systems.lotka_volterra import LotkaVolterra
from fewvars.systems.rate_network import RateNetwork
from fewvars.systems.roessler import RoesslerRing

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
