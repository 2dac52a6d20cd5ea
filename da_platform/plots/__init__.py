"""Plots: their common style, rendering, and HTTP responses."""
