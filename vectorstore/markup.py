r"""LaTeX and Markdown as a reader sees them: `$>90\%$` becomes ">90%", `**DMPO**` becomes "DMPO".

The stored text keeps its markup; this is for what is shown, embedded and compared.
"""

import logging
import re
from collections.abc import Iterator
from functools import cache, lru_cache

from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

from vectorstore.visible import visible

logging.getLogger("pylatexenc.latex2text").setLevel(logging.ERROR)
"""It warns of each command without its arguments, of which abstracts are full."""
_URL = re.compile(r"\\url\s*\{([^{}]*)\}")
_LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>[^\[\]\n]{0,200})\]"
    r"\(\s*<?(?P<target>[^\s()<>]{0,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200}){0,5})>?"
    r"(?:\s+(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'))?\s*\)"
)
_IMAGE = re.compile(r"!(?=\[[^\d\]])")
"""Of an image whose address stands elsewhere."""
_NUMBER_MARK = re.compile(r"[\[【](\^?\d[\d,;\s^]*)[\]】]")
_TAG = re.compile(r"<(?=[a-zA-Z/!?])")
_OF_MARKDOWN = re.compile(r"[\\`*\[\]<~$]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])|^[-+=>#]|(?<= )#")
_NUMBERED = re.compile(r"(\d{1,9})([.)])")
"""What begins a list at the beginning of a line."""
_MARKS_OF_ADDRESS = frozenset(":/#&%.")
"""Without any, "f[x](y)" is no link."""
_EMPHASIS = re.compile(r"(?<![\w*])(\*\*|\*|__|_)(?=\S)(.{1,300}?)(?<=\S)\1(?![\w*])", re.DOTALL)
_MATH = re.compile(r"(?<!\\)\$(?:[^$\s]|[^$\s][^$]{0,300}?[^$\s\\])\$(?!\d)")
_FORMULA = re.compile(
    rf"\$\$(?P<a>[^$]{{1,1000}})\$\$|\\\((?P<b>.{{1,1000}}?)\\\)|\\\[(?P<c>.{{1,1000}}?)\\\]|(?P<d>{_MATH.pattern})",
    re.DOTALL,
)
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?(?:\{(?:[^{}]|\{[^{}]*\})*\})*|\\[%&$#_{}]|\\[\"'`^~=.]\{?\\?\w?\}?")
_SCRIPT = re.compile(r"([\^_])(?:\{([^{}]*)\}|(\S))")
_RAISED = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")


def readable(text: str) -> str:
    """`text` as a reader sees it, without its markup, on one line. Plain text comes back as it is; it never fails."""
    text = visible(text)
    if any(mark in text for mark in "\\$`"):
        text = _URL.sub(r"\1", text)
        text = _MATH.sub(lambda match: _math(match.group()[1:-1]), text)
        text = _COMMAND.sub(lambda match: _from_latex(match.group()), text)
        text = text.replace("``", "“").replace("''", "”")
    while (plain := _LINK.sub(_unlinked, text)) != text:  # once more for an image in a link
        text = plain
    text = _IMAGE.sub("", text)
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    return " ".join(text.replace("∼", "~").split())


def formulas(text: str) -> Iterator[tuple[str, bool]]:
    r"""`text` in pieces, each with whether it is a formula; formulas come without what encloses them ("$", "\(").

    Amounts of money are no formulas: "between $5 and $10".
    """
    end = 0
    for match in _FORMULA.finditer(text):
        yield text[end : match.start()], False
        yield next(filter(None, match.group("a", "b", "c")), match.group()[1:-1]), True
        end = match.end()
    yield text[end:], False


def unmarked(text: str) -> str:
    """`text` without what looks like a source number: "[7]" becomes "(7)"."""
    return _NUMBER_MARK.sub(r"(\1)", text)


def as_markdown(text: str) -> str:
    """`text` for a renderer of Markdown, which makes no element of the tags in it."""
    return _TAG.sub("&lt;", text)


def escaped_markdown(text: str) -> str:
    """`text` on one line, as Markdown of which nothing but itself is made; a table has to escape bars as well."""
    line = _OF_MARKDOWN.sub(r"\\\g<0>", " ".join(visible(text).split()))
    return _NUMBERED.sub(r"\1\\\2", line, count=1) if _NUMBERED.match(line) else line


def _unlinked(match: re.Match[str]) -> str:
    """Text and target of a link or an image side by side, so that no renderer of Markdown makes one of them."""
    is_link = match["image"] or _MARKS_OF_ADDRESS & set(match["target"])
    return f"{match['text']} ({match['target']})".lstrip() if is_link else match.group()


def _math(formula: str) -> str:
    return _SCRIPT.sub(_scripted, _from_latex(formula.replace("\\%", "%").replace("%", "\\%")))


def _scripted(match: re.Match[str]) -> str:
    """A raised or lowered digit where Unicode has one, else the mark as it was."""
    content = match[2] if match[2] is not None else match[3]
    table = _RAISED if match[1] == "^" else _LOWERED
    return content.translate(table) if all(ord(char) in table for char in content) else match.group()


@lru_cache(maxsize=4096)
def _from_latex(latex: str) -> str:
    """LaTeX to Unicode; the source itself when it cannot be parsed."""
    braced = re.fullmatch(r"\\[a-zA-Z]+\*?\{(.*)\}", latex, re.DOTALL)
    if braced and "%" in braced[1]:
        latex = re.sub(r"(?<!\\)%", r"\\%", latex)
    try:
        return visible(str(_converter().latex_to_text(latex)))
    except Exception:  # the parser raises many kinds of errors on broken input; the reader then sees the source
        return latex


@cache
def _converter() -> LatexNodes2Text:
    r"""`\cite` and `\ref` have no target in an abstract, so they are shown as nothing."""
    macros = get_default_latex_context_db()
    silent = [MacroTextSpec(name, simplify_repl="") for name in ("cite", "citep", "citet", "ref", "label")]
    macros.add_context_category("without target", prepend=True, macros=silent)
    return LatexNodes2Text(latex_context=macros, math_mode="text", keep_comments=True)
