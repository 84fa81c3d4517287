import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.visible import is_unseen, visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a plain text\twith a\nline", "a plain text\twith a\nline"),
        ("re\u00adad\u200bable\ufeff", "readable"),
        ("\u202egnp.exe\u202c \u2067x\u2069 \u061cy", "gnp.exe x y"),
        ("ig\U000e0069\U000e0067nore", "ignore"),
        ("pay\U000e0101\ufe0f\ufe00load", "payload"),
        ("a\u115f\u3164\uffa0\u034fb", "ab"),
        ("\ue000\ud800x\U000f0000", "x"),
        ("\x1b[31mred\x1b[0m \x9b2Jx", "red x"),
        ("\x1b]52;c;YmFk\x07y \x1b]8;;http://a.example\x1b\\z", "y z"),
        ("\x1b]0;never ends, and more", "0;never ends, and more"),
        ("a\r\nb\rc\x0cd\u2028e\x85f", "a\nb\nc\nd\ne\nf"),
    ],
)
def test_what_a_reader_cannot_see_is_left_out(text: str, seen: str) -> None:
    assert visible(text) == seen


@pytest.mark.parametrize(
    "text",
    ["می\u200cخواهم", "क्\u200dष", "ক\u200d্ষ", "👩\u200d💻", "Erdős 和 naïve ∼ ≤ 𝔼", "e\u0301"],
)
def test_what_writing_needs_is_kept(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize("text", ["Lift\u200cQuant", "Lift\u200dQuant", "می\u200c\u200cخواهم", "\u200cx\u200d"])
def test_joiners_that_join_nothing_are_left_out(text: str) -> None:
    assert not set(visible(text)) & {"\u200c", "\u200d"}


@given(st.text(max_size=60) | st.text(alphabet="\x1b]\x9b[;m\x07\\ab\u200c\u200d\u202e\r\n👩क्م", max_size=30))
def test_nothing_unseen_is_left_whatever_the_text(text: str) -> None:
    assert not any(is_unseen(char) for char in visible(text))
