"""Dynamical systems whose dependency graphs are known: data on which a selection can be judged.

Each system is one small file with its field, its graph and its usual initial state; `simulate` integrates them.
"""

from fewvars.problems.systems._base import IntegrationError, System, simulate
from fewvars.problems.systems.double_pendulum import DoublePendulum
from fewvars.problems.systems.fitzhugh_nagumo import FitzHughNagumo
from fewvars.problems.systems.forced_oscillator import ForcedOscillator
from fewvars.problems.systems.gene_network import GeneNetwork
from fewvars.problems.systems.kuramoto import Kuramoto
from fewvars.problems.systems.lorenz63 import Lorenz63
from fewvars.problems.systems.lorenz96 import Lorenz96
from fewvars.problems.systems.lotka_volterra import LotkaVolterra
from fewvars.problems.systems.oscillator_ring import OscillatorRing
from fewvars.problems.systems.rate_network import RateNetwork
from fewvars.problems.systems.roessler import RoesslerRing
from fewvars.problems.systems.seir import SEIR
from fewvars.problems.systems.van_der_pol import VanDerPol

__all__ = [
    "SEIR",
    "DoublePendulum",
    "FitzHughNagumo",
    "ForcedOscillator",
    "GeneNetwork",
    "IntegrationError",
    "Kuramoto",
    "Lorenz63",
    "Lorenz96",
    "LotkaVolterra",
    "OscillatorRing",
    "RateNetwork",
    "RoesslerRing",
    "System",
    "VanDerPol",
    "simulate",
]
