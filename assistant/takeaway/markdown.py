"""Papers as lines of Markdown; what others wrote stays text in it."""

from vectorstore.addresses import escaped_address
from vectorstore.markup import escaped_markdown, readable
from vectorstore.types import Paper


def paper_markdown(paper: Paper) -> str:
    """Label, title, authors, venue and year, and where it is to be found."""
    title = readable(paper.title or "")
    told = [title if title != paper.label else "", ", ".join(paper.authors), paper.place]
    link = link_of(paper)
    parts = [f"**{escaped_markdown(paper.label)}**", *(escaped_markdown(text.rstrip(".")) for text in told if text)]
    return ". ".join([*parts, *([f"<{link}>"] if link else [])])


def link_of(paper: Paper) -> str | None:
    """Where it is to be found: by its DOI, or else its first page on the web."""
    addresses = [f"https://doi.org/{paper.doi}"] if paper.doi else paper.urls
    return next((escaped_address(url) for url in addresses if url.startswith(("https://", "http://"))), None)
