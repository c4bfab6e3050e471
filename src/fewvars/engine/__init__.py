"""Networks and how they are trained: compiled kernels, losses, penalties and solvers."""
