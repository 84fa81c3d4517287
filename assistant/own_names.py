"""What a paper's own system is called in its abstract."""

import re

from vectorstore.markup import readable
from vectorstore.types import Paper


def spelled_out(paper: Paper) -> str:
    """The words that the label stands for, where the abstract writes "Words It Stands For (LABEL)"."""
    found = re.search(rf"((?:[A-Z][\w-]+\s+){{2,8}})\(\W*{re.escape(paper.label)}", readable(paper.abstract))
    return found[1].strip() if found else ""


def own_names(paper: Paper) -> list[str]:
    """The label, and the words it stands for."""
    return [paper.label, *spelled_out(paper).split()]
