"""Lists: which words a topic has, what a form of words tells, and that a list is complete however long it is."""

import pytest

from assistant import Answer, Assistant, build_assistant
from assistant.evidence.listing import in_full, introduced, rarity_shared, stems_beside, topic_stems
from vectorstore.collection import CollectionFolder
from vectorstore.embedding import PACKAGED_EMBEDDING, load_embedding
from vectorstore.indexing import index_sources
from vectorstore.types import Paper, PaperRecord, Source

ON_TOPIC = 60
OTHERS = (
    "{a} grasping of {b} by a robot hand with tactile sensors",
    "{a} translation of {b} from speech into text",
    "{a} segmentation of {b} in images of the lung",
    "{a} forecasts of {b} from weather radar",
    "{a} matching of {b} in graphs of molecules",
    "{a} rendering of {b} from few photographs",
)
WAYS = "robust fast private fair sparse adaptive personalised asynchronous hierarchical compressed".split()
THINGS = "phones hospitals banks sensors vehicles languages".split()


def paper(abstract: str) -> Paper:
    return Paper(
        paper_id="p",
        label="P",
        abstract=abstract,
        title=None,
        authors=(),
        venue=None,
        year=None,
        urls=(),
        source="f",
        position=1,
    )


@pytest.mark.parametrize(
    ("question", "abstract", "told"),
    [
        (
            "Which papers introduce a new benchmark?",
            "We present X, a benchmark of Y. It wins.",
            "We present X, a benchmark of Y.",
        ),
        ("Which papers introduce a new benchmark?", "We present X. It wins on each benchmark.", None),
    ],
)
def test_new_things_are_told_by_the_form_of_a_sentence(question: str, abstract: str, told: str | None) -> None:
    find = introduced(question)
    assert find is not None
    span = find(paper(abstract))
    assert (span.of(abstract) if span else None) == told


def test_other_lists_are_not_told_by_form() -> None:
    assert introduced("Which papers are about agents?") is None
    assert introduced("Which papers evaluate on a coding benchmark?") is None


def test_what_a_list_told_by_form_is_about_besides() -> None:
    assert stems_beside("Which compression papers come with public code?") == topic_stems("compression")
    assert stems_beside("Which papers introduce a benchmark for agents?") == topic_stems("agents")
    assert stems_beside("Which papers have public code?") == set()


def test_abbreviations_and_versions_are_the_same_words() -> None:
    rarities = {stem: 1.0 for stem in topic_stems("reinforcement learning with Llama")}
    assert rarity_shared(rarities, "RL of LLaMA3.1-8B") == 3.0
    assert rarity_shared({"rl": 1.0}, "by reinforcement learning") == 1.0


def test_a_topic_that_is_an_abbreviation_is_read_in_full() -> None:
    assert in_full("RL") == "reinforcement learning"
    assert in_full("RL for games") == "RL for games"


def records() -> list[PaperRecord]:
    """60 papers on federated learning among 300; each third one has code."""
    texts = [
        f"We study {WAYS[at % 10]} federated learning across {THINGS[at // 10]}. Clients train a shared model together."
        for at in range(ON_TOPIC)
    ]
    texts += [
        f"We study {OTHERS[at % 6].format(a=WAYS[at // 6 % 10], b=THINGS[at // 60])}. It needs few labels."
        for at in range(240)
    ]
    return [
        PaperRecord(
            abstract=text + (f" Code is available at https://github.com/lab/net{at}." if at % 3 == 0 else ""),
            title=f"Study {at}",
            position=at + 1,
        )
        for at, text in enumerate(texts)
    ]


@pytest.fixture(scope="module")
def of_300(tmp_path_factory: pytest.TempPathFactory) -> Assistant:
    data_dir = tmp_path_factory.mktemp("lists")
    folder = CollectionFolder(data_dir, "studies")
    index_sources(folder, [Source(path="/studies.json", papers=tuple(records()))], load_embedding(PACKAGED_EMBEDDING))
    return build_assistant(data_dir=data_dir, collection="studies", model=None)


def positions(answer: Answer) -> list[int]:
    return [citation.paper.position for citation in answer.citations]


def test_a_list_is_complete_and_only_its_first_papers_are_quoted(of_300: Assistant) -> None:
    answer = of_300.ask("Which papers are about federated learning?")
    assert answer.text.startswith("60 papers on “federated learning”. The first 40:\n\n- ")
    assert len(positions(answer)) == 40
    assert all(position <= ON_TOPIC for position in positions(answer))


def test_a_count_is_not_limited_to_what_is_quoted(of_300: Assistant) -> None:
    assert of_300.ask("How many papers deal with federated learning?").text.startswith("60 papers")
    assert of_300.ask("How many papers are on lung segmentation?").text.startswith("40 papers")


def test_a_short_list_in_a_larger_collection_stays_short(of_300: Assistant) -> None:
    answer = of_300.ask("Which papers study federated learning in hospitals?")
    assert {position for position in positions(answer)[:10]} == set(range(11, 21))


def test_a_list_of_papers_with_code_counts_them_all(of_300: Assistant) -> None:
    assert of_300.ask("Which papers have public code?").text.startswith("100 papers on “public code”. The first 40:")
    answer = of_300.ask("Which federated learning papers come with public code?")
    assert answer.text.startswith("20 papers")
    assert set(positions(answer)) == set(range(1, ON_TOPIC + 1, 3))


def test_few_papers_are_read_however_many_there_are(of_300: Assistant) -> None:
    answer = of_300.ask("Which papers are about federated learning?")
    assert 0 < sum(passage.relevance is not None for passage in answer.passages) <= 16
