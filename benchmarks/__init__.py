"""Measurements, one command each: `python -m benchmarks.sentences`, `.labels`, `.indexing`."""
