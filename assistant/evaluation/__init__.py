"""Evaluation: question set -> answers of the assistant and of plain retrieval -> measures -> report."""
