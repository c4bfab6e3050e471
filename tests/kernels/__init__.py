"""The kernels against a readable NumPy implementation of the same step, compiled and as plain Python."""
