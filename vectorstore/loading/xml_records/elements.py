"""The texts of elements, as HTML that `cleaning` reads, with formulas in one line. Names are without namespaces."""

import html
import re
from xml.etree.ElementTree import Element

_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_TEX_BODY = re.compile(r"\\begin\{document\}(.*)\\end\{document\}", re.DOTALL)
_RELATION = re.compile(r"[=<>≤≥≈∼±×∈→]")
_TELLING = frozenset(("sup", "p", "sec", "title", "label", "list-item", "break", "br"))
"""Elements whose tags `cleaning` makes something of."""
_SIGNS = {"msub": "_", "msup": "^", "mfrac": "/", "msubsup": "_^"}
"""What stands in one line for the places of MathML."""
_ROWS = frozenset(("mtable", "mtr", "matrix", "matrixrow", "vector"))


class NoPaper(Exception):
    """A record is none of a paper; the words say why."""


class Remark(Exception):
    """What looked like a record says something about the file as a whole."""


def child_at(parent: Element, path: str) -> Element:
    """The element at `path`, an empty one where there is none."""
    found = parent.find(path)
    return Element("") if found is None else found


def texts_at(parent: Element, *paths: str) -> list[str]:
    """The texts of all elements at the paths, with the tags that are telling."""
    texts = (content_of(element).strip() for path in paths for element in parent.findall(path))
    return [text for text in texts if text]


def first_at(parent: Element, *paths: str) -> str:
    """The first of these texts; empty where there is none."""
    return next(iter(texts_at(parent, *paths)), "")


def listed(words: list[str]) -> str:
    """Keywords in one text; the last semicolon keeps one that has commas from being split at these."""
    return "".join(f"{word};" for word in words)


def paragraphs(text: str) -> str:
    """`text` without the line ends that are only its file's layout."""
    return "\n\n".join(" ".join(part.split()) for part in _PARAGRAPH.split(text)).strip()


def content_of(element: Element) -> str:
    """The text of an element and those in it as HTML, with the tags that are telling and its formulas in one line."""
    parts = [html.escape(element.text or "", quote=False)]
    for child in _alternatives(element):
        if child.tag == "math":
            parts.append(html.escape(_formula(child), quote=False))
        elif child.tag == "tex-math":
            parts.append(html.escape(_tex(child), quote=False))
        else:
            content = content_of(child)
            parts.append(f"<{child.tag}>{content}</{child.tag}>" if child.tag in _TELLING else content)
        parts.append(html.escape(child.tail or "", quote=False))
    return "".join(parts)


def _alternatives(element: Element) -> list[Element]:
    """What is in an element; of the same formula in several languages the one in TeX."""
    in_tex = element.findall("tex-math") if element.tag in ("alternatives", "inline-formula", "disp-formula") else []
    return in_tex or list(element)


def _tex(element: Element) -> str:
    """The formula in what some publishers give as a whole document."""
    tex = "".join(element.itertext())
    body = _TEX_BODY.search(tex)
    return " ".join((body[1] if body else tex).split())


def _formula(element: Element) -> str:
    """MathML in one line, such as "x^2 = a/b"."""
    own = (element.text or "").strip()
    if element.tag == "mo" and _RELATION.fullmatch(own):
        return f" {own} "
    parts = [own, *(_formula(child) for child in element if not child.tag.startswith("annotation"))]
    parts = [part for part in parts if part]
    if element.tag in ("msub", "msup", "mfrac", "msubsup") and len(parts) == len(_SIGNS[element.tag]) + 1:
        signs = ("", *_SIGNS[element.tag])
        return "".join(f"{sign}{_grouped(part)}" for sign, part in zip(signs, parts, strict=True))
    joined = (" " if element.tag in _ROWS else "").join(parts)
    return f"√{_grouped(joined)}" if element.tag == "msqrt" else joined


def _grouped(part: str) -> str:
    return part if len(part) == 1 or part.isalnum() else f"({part.strip()})"
