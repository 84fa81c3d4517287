"""Measurements, one command each: `python -m benchmarks.answers`, `.sentences`, `.labels`, `.indexing`."""
