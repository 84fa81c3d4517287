"""What sources write into their fields -> plain text, names, years, times and identifiers."""

import html
import re
from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cache, lru_cache

from ftfy import TextFixerConfig, fix_text
from ftfy.badness import is_bad
from pylatexenc.latex2text import LatexNodes2Text

from vectorstore.visible import visible

_BLOCKS = r"p|div|br|sec|section|ul|ol|li|list|list-item|h\d|label|abstract|abstracttext"
_INLINE = (
    r"span|b|i|u|em|strong|small|sub|sup|inf|tt|code|a|italic|bold|sc|inline-formula|disp-formula|tex-math|alternatives"
    r"|xref|ext-link|named-content|styled-content|underline|monospace|font"
)
_BREAK = re.compile(rf"\s*</?(?:jats:)?(?:{_BLOCKS})\b[^<>]{{0,500}}>\s*", re.IGNORECASE)
_TITLE = re.compile(r"<(jats:title|title|h\d)\b[^<>]{0,200}>\s*([^<>]{1,100}?)\s*:?\s*</\1>", re.IGNORECASE)
_MATHML = re.compile(r"<((?:mml:)?math)\b[^<>]{0,2000}>(.{0,20000}?)</\1>", re.IGNORECASE | re.DOTALL)
_ANY_TAG = re.compile(r"<[^<>]{0,2000}>")
_RAISED = re.compile(r"(?<=[\w)])<(?:jats:)?sup\b[^<>]{0,200}>\s*([-−+\d]{1,6})\s*</(?:jats:)?sup>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:jats:|mml:)?(?:{_INLINE})\b[^<>]{{0,2000}}>|<!--.{{0,2000}}?-->", re.IGNORECASE | re.DOTALL)
_GOES_ON = "\x00"
_AFTER_TITLE = re.compile(rf"{_GOES_ON}\s*")
_SPACE = re.compile(r"\s*\n\s*")
_FIXES = TextFixerConfig(unescape_html=False, uncurl_quotes=False, max_decode_length=1 << 20)
_ACCENT = re.compile(
    r"\{\\(?:[\"'`^~=.]|[uvHtcdbkr](?![a-zA-Z]))\s*(?:\{\\?[a-zA-Z]?\}|\\[ij](?![a-zA-Z])|[a-zA-Z])\}"
    r"|\\(?:[\"'`^~=.]|[uvHtcdbkr](?![a-zA-Z]))\s*(?:\{\\?[a-zA-Z]?\}|\\[ij](?![a-zA-Z])|[a-zA-Z])"
    r"|\{\\(?:ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j|dh|DH|th|TH|dj|DJ|ng|NG)\}"
    r"|\\(?:ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j|dh|DH|th|TH|dj|DJ|ng|NG)(?![a-zA-Z])(?:\{\}| )?"
    r"|\{\\[&%#_]\}|\\[&%#_]"
)
_MATH = re.compile(r"(\$(?<!\\\$)\$?[^$]{1,2000}\$\$?|\\\(.{1,2000}?\\\)|\\\[.{1,2000}?\\\])", re.DOTALL)
_BRACED = re.compile(r"(?P<command>\\[a-zA-Z]+\*?)?\{(?P<inner>[^{}]*)\}")
_HEADING = re.compile(
    r"(?:abstract|summary)\s*(?:[:\u2014]\s*|\.\s+|\n\s*)|(?-i:Abstract|ABSTRACT)\s+(?=(?-i:[A-Z]))", re.IGNORECASE
)
_NOTHING = frozenset(
    "|n/a|na|none|null|nan|-|--|tba|tbd|no abstract|no abstract available|no abstract available."
    "|[no abstract available]|abstract not available|no author|no authors listed|[not available]".split("|")
)
_LONGEST_NOTHING = 40
_GARBLED = re.compile("[ÂÃâãÐÑïðÅÄÎÏ]")
"""One of these stands in UTF-8 that has been taken for a Western encoding."""
_NUMBERED = re.compile(r"(?<=[\w.]) (?:0\d{3}|\(\d{5,20}\))$")
"""Behind a name, what tells people of one name apart in DBLP and Scopus."""
_INITIALS_LAST = re.compile(r"(?:[^,.;]{1,80} [A-Z]{1,4}, )+[^,.;]{1,80} [A-Z]{1,4}\.")
_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?=\d{4}(?!\d)|\D|$)")
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")
_ARXIV = re.compile(
    r"(?:arxiv\.org/(?:abs|pdf|html)/|arxiv[.:]\s*|^)(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})"
    r"(?:v\d+)?(?:\.pdf)?(?=$|[\s?#/\]),;])",
    re.IGNORECASE,
)
_PUBMED = re.compile(r"(?:^|/|:\s*)(\d{1,9})/?$")
_OPENREVIEW = re.compile(r"openreview\.net/(?:forum|pdf|attachment)\?(?:[^\s#]*&)?id=([\w-]+)")


def clean_text(text: str) -> str:
    """`text` without tags, entities, broken encodings and TeX accents; its formulas and line ends stay as they are."""
    if "<" in text or "&" in text:
        text = _without_tags(text)
    if not text.isascii():
        is_garbled = _GARBLED.search(text) is not None and is_bad(text)
        text = fix_text(text, _FIXES) if is_garbled else text.replace("\xa0", " ")
    if "\\" in text:
        text = _outside_formulas(text, lambda part: _ACCENT.sub(lambda match: _letter(match.group()), part))
    return visible(text).strip()


def clean_line(text: str) -> str:
    """The same on one line, for titles, names and the like, without the braces that keep capitals; empty for "n/a"."""
    text = clean_text(text)
    if "{" in text:
        text = _outside_formulas(text, lambda part: _BRACED.sub(_inside, _BRACED.sub(_inside, part)))
    text = " ".join(text.split())
    return "" if len(text) < _LONGEST_NOTHING and text.casefold() in _NOTHING else text


def clean_abstract(text: str) -> str:
    """The abstract in a field, without "Abstract:" before it; empty when the field says that there is none."""
    cleaned = clean_text(text)
    if heading := _HEADING.match(cleaned):
        cleaned = cleaned[heading.end() :]
    return "" if len(cleaned) < _LONGEST_NOTHING and cleaned.casefold() in _NOTHING else cleaned


def names_in(text: str) -> list[str]:
    """The names in a list of authors in one string, each as "Given Family" where that can be told."""
    text = text.strip().rstrip(";|")
    if _INITIALS_LAST.fullmatch(text):
        text = text[:-1]  # PubMed's "Byron A, Gauss CF."
    text = re.sub(r"\s+and\s+", " and ", text)
    before, *behind = re.split(r",? and ", text)
    if (
        "," in before
        and len(behind) == 1
        and "," not in behind[0]
        and all(" " in part.strip() for part in before.split(","))
    ):
        text = f"{before}, {behind[0]}"  # "and" only before the last of several
    for separator in (r"\s*[;|\n]\s*", " and "):
        if len(parts := [part for part in re.split(separator, text) if part.strip()]) > 1:
            return [name for part in parts if (name := name_in_order(part))]
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > 2 and len(parts) % 2 == 0 and all(" " not in part for part in parts[::2]):
        return [f"{given} {family}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    if len(parts) > 1 and all(" " in part for part in parts):
        return [clean_line(part) for part in parts]
    return [name] if (name := name_in_order(text)) else []


@lru_cache(maxsize=1 << 16)
def name_in_order(name: str) -> str:
    """A name like "Family, Given" as "Given Family"; another one as it is; without the number behind it."""
    name = _NUMBERED.sub("", clean_line(name))
    family, comma, given = name.partition(", ")
    return f"{given} {family}".strip() if comma and ", " not in given else name


def year_in(text: str) -> int | None:
    """The first year from 1800 to 2099 in a date of whatever form."""
    match = _YEAR.search(text)
    return int(match[1]) if match else None


def time_in(text: str) -> str | None:
    """A date or time in ISO 8601, as it is given there or as in an e-mail; None for another form."""
    text = text.strip()
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(text).isoformat()
    except ValueError:
        return None


def doi_in(text: str) -> str | None:
    """The first DOI in `text`, in lower case, as DOIs are the same in capitals."""
    match = _DOI.search(text)
    return match.group().rstrip(".,;)]}'").casefold() if match else None


def arxiv_id_in(text: str) -> str | None:
    """The first arXiv identifier in `text` that stands alone or says that it is one, without its version."""
    match = _ARXIV.search(text.strip())
    return match[1].casefold() if match else None


def pubmed_id_in(text: str) -> str | None:
    """The number that PubMed gave, alone or at the end of an address."""
    match = _PUBMED.search(text.strip())
    return match[1] if match else None


def openreview_id_in(text: str) -> str | None:
    """The identifier in an address of OpenReview."""
    match = _OPENREVIEW.search(text)
    return match[1] if match else None


def _without_tags(text: str) -> str:
    for _ in range(2):  # JSON and XML hold HTML that has been escaped once more
        if "<" in text:
            text = _MATHML.sub(lambda match: " ".join(_ANY_TAG.sub("", match[2]).split()), text)
            text = _BREAK.sub("\n", _TITLE.sub(rf"\2:{_GOES_ON}", _RAISED.sub(r"^\1", text)))
            text = _SPACE.sub("\n", _AFTER_TITLE.sub(" ", _TAG.sub("", text)))
        if "&" not in text:
            break
        text = html.unescape(text)
    return text


def _outside_formulas(text: str, changed: Callable[[str], str]) -> str:
    parts = _MATH.split(text)
    return "".join(part if at % 2 else changed(part) for at, part in enumerate(parts))


def _inside(match: re.Match[str]) -> str:
    return match.group() if match["command"] else match["inner"]


@cache
def _letter(accented: str) -> str:
    return str(LatexNodes2Text().latex_to_text(accented)) or accented
