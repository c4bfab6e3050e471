"""Whole systems from trajectories: graphs, fields and simulations compared with the truth and with PySINDy."""
