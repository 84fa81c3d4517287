"""Checks each sentence that a model wrote against the abstracts, before it is shown."""

from assistant.verification.verifier import Verifier

__all__ = ["Verifier"]
