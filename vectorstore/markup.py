r"""LaTeX and Markdown as a reader sees them: `$>90\%$` becomes ">90%", `**DMPO**` becomes "DMPO".

The stored text keeps its markup; this is for what is shown, embedded and compared.
"""

import logging
import re
from functools import cache

from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

logging.getLogger("pylatexenc.latex2text").setLevel(logging.ERROR)
"""It warns of each command without its arguments, of which abstracts are full."""
_URL = re.compile(r"\\url\s*\{([^{}]*)\}")
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\((https?://[^()\s]*)\)")
_EMPHASIS = re.compile(r"(?<![\w*])(\*\*|\*|__|_)(?=\S)(.{1,300}?)(?<=\S)\1(?![\w*])", re.DOTALL)
_MATH = re.compile(r"(?<!\\)\$(?:[^$\s]|[^$\s][^$]{0,300}?[^$\s\\])\$(?!\d)")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?(?:\{(?:[^{}]|\{[^{}]*\})*\})*|\\[%&$#_{}]|\\[\"'`^~=.]\{?\\?\w?\}?")
_SCRIPT = re.compile(r"([\^_])(?:\{([^{}]*)\}|(\S))")
_RAISED = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")


def readable(text: str) -> str:
    """`text` without its markup, on one line. Plain text comes back as it is; it never fails."""
    if any(mark in text for mark in "\\$`"):
        text = _URL.sub(r"\1", text)
        text = _MATH.sub(lambda match: _math(match.group()[1:-1]), text)
        text = _COMMAND.sub(lambda match: _from_latex(match.group()), text)
        text = text.replace("``", "“").replace("''", "”")
    text = _LINK.sub(r"\1 (\2)", text)
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    return " ".join(text.replace("∼", "~").split())


def _math(formula: str) -> str:
    return _SCRIPT.sub(_scripted, _from_latex(formula.replace("\\%", "%").replace("%", "\\%")))


def _scripted(match: re.Match[str]) -> str:
    """A raised or lowered digit where Unicode has one, else the mark as it was."""
    content = match[2] if match[2] is not None else match[3]
    table = _RAISED if match[1] == "^" else _LOWERED
    return content.translate(table) if all(ord(char) in table for char in content) else match.group()


def _from_latex(latex: str) -> str:
    """LaTeX to Unicode; the source itself when it cannot be parsed."""
    braced = re.fullmatch(r"\\[a-zA-Z]+\*?\{(.*)\}", latex, re.DOTALL)
    if braced and "%" in braced[1]:
        latex = re.sub(r"(?<!\\)%", r"\\%", latex)
    try:
        return str(_converter().latex_to_text(latex))
    except Exception:  # the parser raises many kinds of errors on broken input; the reader then sees the source
        return latex


@cache
def _converter() -> LatexNodes2Text:
    r"""`\cite` and `\ref` have no target in an abstract, so they are shown as nothing."""
    macros = get_default_latex_context_db()
    silent = [MacroTextSpec(name, simplify_repl="") for name in ("cite", "citep", "citet", "ref", "label")]
    macros.add_context_category("without target", prepend=True, macros=silent)
    return LatexNodes2Text(latex_context=macros, math_mode="text", keep_comments=True)
