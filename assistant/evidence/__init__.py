"""Is there enough in the papers to answer, and of which kind is the lack?"""

from assistant.evidence.judge import EvidenceJudge

__all__ = ["EvidenceJudge"]
