"""Problems with known answers: dynamical systems, targets, data sets, and metrics to judge answers."""

from fewvars.problems import metrics, systems, targets
from fewvars.problems.datasets import Dataset, lorenz96_dataset, lorenz96_trajectory
from fewvars.problems.plant import plant_table

__all__ = ["Dataset", "lorenz96_dataset", "lorenz96_trajectory", "metrics", "plant_table", "systems", "targets"]
