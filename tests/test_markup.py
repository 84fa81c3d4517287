import pytest
from hypothesis import given
from hypothesis import strategies as st

from vectorstore.markup import readable


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"from $>90\%$ to $<15\%$", "from >90% to <15%"),
        (r"speed ($\sim 10^3\times$)", "speed (~10³×)"),
        (r"the $\ell_2$-norm", "the ℓ₂-norm"),
        (r"at \url{https://github.com/x_y/Z}.", "at https://github.com/x_y/Z."),
        (r"a \emph{latent flow} policy", "a latent flow policy"),
        (r"only \textbf{$\sim$ 3%} of all", "only ~ 3% of all"),
        (r"up to \textbf{$\sim$ 100% $\uparrow$} on", "up to ~ 100% ↑ on"),
        (r"a gain of 20.6\% here", "a gain of 20.6% here"),
        ("over 20% and 6.08% more", "over 20% and 6.08% more"),
        ("a ``lifted'' space", "a “lifted” space"),
        ("**HiPhO** and *PSR* and _without_ it", "HiPhO and PSR and without it"),
        ("the [code](https://a.org/b)", "the code (https://a.org/b)"),
        ("costs $5 and $10 each", "costs $5 and $10 each"),
        ("snake_case_name and 3 * 4 * 5", "snake_case_name and 3 * 4 * 5"),
        (r"Poincar\'e and Erd\H{o}s and na\"{\i}ve", "Poincaré and Erdős and naïve"),
        ("on\none   line", "on one line"),
    ],
)
def test_markup_is_shown_as_a_reader_expects(source: str, shown: str) -> None:
    assert readable(source) == shown


@given(st.text(alphabet=st.sampled_from("\\${}%^_*[]()abc 12`'\"~&#"), max_size=60) | st.text(max_size=60))
def test_broken_markup_never_fails(text: str) -> None:
    assert isinstance(readable(text), str)


@given(st.text(alphabet=st.characters(categories=["L", "N"], include_characters=" .,;%-"), max_size=80))
def test_plain_text_is_shown_as_it_is(text: str) -> None:
    assert readable(text) == " ".join(text.split())


def test_broken_latex_is_read_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    assert readable(r"A rate of $\frac$ and $\widetilde$ is small.")
    assert not caplog.records


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("![pixel](http://a.example/x.png)", "pixel (http://a.example/x.png)"),
        ("![](x)", "(x)"),
        ("[click](javascript:go)", "click (javascript:go)"),
        ("[it](<//a.example>) [it](http://a.example 'title')", "it (//a.example) it (http://a.example)"),
        ("[it](&#106;avascript&colon;go)", "it (&#106;avascript&colon;go)"),
        ("[![i](http://a.example/i)](http://a.example)", "i (http://a.example/i) (http://a.example)"),
        ("![a][pixel] and ![b][] and good![3]", "[a][pixel] and [b][] and good![3]"),
        ("[click]\u200b(java\u00adscript:go)", "click (javascript:go)"),
        ("f[x](y) on [0, 1](closed) [12] (see)", "f[x](y) on [0, 1](closed) [12] (see)"),
    ],
)
def test_no_link_and_no_image_is_left(source: str, shown: str) -> None:
    assert readable(source) == shown


def test_no_file_is_read_for_latex() -> None:
    assert readable(r"\input{/etc/hostname} and \include{/etc/hostname}").split() == ["and"]
