"""From text to HTML. What papers, models and users wrote passes through here and comes out as text, never as markup."""

import re
from html import escape

from vectorstore.markup import formulas, readable
from vectorstore.visible import visible

_ADDRESS = re.compile(r"https?://[\w-]+(?:\.[\w-]+)*(?::\d{1,5})?(?:[/?#][^\s\"'<>\\^`{|}]*)?", re.IGNORECASE)
"""No user name before the host: "https://trusted.org@evil.org" leads to evil.org."""
_LONGEST_SHOWN = 60
"""Characters of an address."""


def escaped(text: str) -> str:
    """`text` as HTML that shows it and does nothing else, for elements and for quoted attributes alike."""
    return escape(visible(text), quote=True)


def button(text: str, act: str, look: str, /, *, label: str = "", **data: str) -> str:
    """A button that starts `act` with `data` (see acts.py); `look` is its CSS class, `label` what is read aloud."""
    given = "".join(f' data-{name.replace("_", "-")}="{escaped(value)}"' for name, value in data.items())
    aloud = f' aria-label="{escaped(label)}" title="{escaped(label)}"' if label else ""
    return f'<button type="button" class="{look}" data-act="{act}"{given}{aloud}>{escaped(text)}</button>'


def rich(text: str) -> str:
    """`text`, which may hold LaTeX and Markdown, as HTML: formulas are marked to be drawn, the rest is readable."""
    return "".join(_formula(piece) if is_formula else _plain(piece) for piece, is_formula in formulas(text)).strip()


def _formula(latex: str) -> str:
    """A formula, which reads well enough where it is not drawn."""
    return f'<span class="math" data-tex="{escaped(latex)}">{escaped(readable(f"${latex}$"))}</span>'


def _plain(text: str) -> str:
    before, after = (" " if text[:1].isspace() else ""), (" " if text[-1:].isspace() else "")
    return f"{before}{escaped(readable(text))}{after}"


def link(address: str) -> str:
    """A link to an http(s) address, on a new page; the address as plain text when it is anything else."""
    shown = re.sub(r"^https?://(?:www\.)?", "", address).rstrip("/")
    if len(shown) > _LONGEST_SHOWN:
        shown = shown[: _LONGEST_SHOWN - 1] + "…"
    if not _ADDRESS.fullmatch(address):
        return escaped(address[:_LONGEST_SHOWN])
    return f'<a class="link" href="{escaped(address)}" target="_blank" rel="noopener noreferrer">{escaped(shown)}</a>'


def shortened(text: str, characters: int) -> str:
    """`text`, cut at a word when it is longer."""
    return text if len(text) <= characters else text[:characters].rsplit(" ", 1)[0] + " …"


def counted(number: int, noun: str) -> str:
    """Such as "1 paper" or "34 papers"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
