import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.app import built_in_files
from vectorstore.loading import load_papers
from vectorstore.sentences import sentence_spans

DATA = Path(__file__).parent / "data"
HARD = [json.loads(line) for line in (DATA / "sentences_hard.jsonl").read_text("utf-8").splitlines()]


def test_every_hand_marked_sentence_of_the_built_in_collection_is_found() -> None:
    gold = [json.loads(line) for line in (DATA / "sentences.jsonl").read_text("utf-8").splitlines()]
    assert sum(len(row["spans"]) for row in gold) == 249
    with built_in_files() as folder:
        for row in gold:
            abstract = load_papers(folder / row["file"])[row["position"] - 1].abstract
            found = [[span.start, span.end] for span in sentence_spans(abstract)]
            assert found == row["spans"], (row["file"], row["position"])


@pytest.mark.parametrize("sentences", HARD, ids=[sentences[0][:40] for sentences in HARD])
def test_full_stops_that_end_no_sentence_are_passed_over(sentences: list[str]) -> None:
    text = "  ".join(sentences)
    assert [span.of(text) for span in sentence_spans(text)] == sentences


def test_a_very_long_text_takes_no_more_than_its_share() -> None:
    sentence = "We study (see https://a.org/x.y) how $a. b$ works, e.g. here."
    start = time.perf_counter()
    assert len(sentence_spans(f"{sentence} " * 5000)) == 5000
    assert time.perf_counter() - start < 10  # it was minutes when the time grew with the square


@given(st.text(alphabet=st.sampled_from("aB1 .!?$\\{}()[]*_\n\"'“”e.g.,"), max_size=200) | st.text(max_size=200))
def test_spans_cover_all_visible_text_once_and_in_order(text: str) -> None:
    spans = sentence_spans(text)
    covered = [at for span in spans for at in range(span.start, span.end)]
    assert covered == sorted(set(covered))
    assert all(text[at].isspace() for at in range(len(text)) if at not in set(covered))
    assert all(span.of(text) == span.of(text).strip() != "" for span in spans)
