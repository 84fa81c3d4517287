from hypothesis import given
from hypothesis import strategies as st

from vectorstore.chunking import chunk_papers, chunk_spans, span_of_chunk
from vectorstore.sentences import sentence_spans
from vectorstore.types import Paper


def paper(abstract: str, title: str | None = None) -> Paper:
    return Paper(
        paper_id="p1",
        label="L",
        abstract=abstract,
        title=title,
        authors=(),
        venue=None,
        year=None,
        urls=(),
        source="s",
        position=1,
    )


def test_an_abstract_is_one_chunk() -> None:
    (chunk,) = chunk_papers([paper("We study nets. They sleep.")])
    assert (chunk.text, chunk.span.start, chunk.span.end) == ("We study nets. They sleep.", 0, 26)


def test_a_title_is_embedded_with_the_text_but_is_no_part_of_it() -> None:
    (chunk,) = chunk_papers([paper(r"We use $\ell_2$.", title="On Norms")])
    assert chunk.embedded_text == "On Norms. We use ℓ₂."
    assert chunk.text == r"We use $\ell_2$."


def test_a_chunk_id_names_paper_and_span() -> None:
    (chunk,) = chunk_papers([paper("We study nets.")])
    assert span_of_chunk(chunk.chunk_id) == ("p1", chunk.span)


@given(st.lists(st.integers(1, 900), min_size=1, max_size=30))
def test_long_texts_are_cut_between_sentences_and_lose_none(lengths: list[int]) -> None:
    abstract = " ".join("W" + "o" * length + "." for length in lengths)
    spans = chunk_spans(abstract)
    for sentence in sentence_spans(abstract):
        assert any(span.start <= sentence.start and sentence.end <= span.end for span in spans)
    starts = [sentence.start for sentence in sentence_spans(abstract)]
    assert all(span.start in starts for span in spans)
    assert len({span.start for span in spans}) == len(spans)
