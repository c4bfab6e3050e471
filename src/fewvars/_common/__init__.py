"""Helpers of every layer: argument checks, atomic writes, threads and progress bars."""
