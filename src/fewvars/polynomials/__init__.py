"""Sparse polynomials: monomials, compressed least squares and paths of ever fewer terms."""
