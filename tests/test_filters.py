"""Filters: exact, before the search, from options and from the words of a question."""

from pathlib import Path

import pytest

from assistant.confining import confined, read_confined
from tests.fakes import word_vector
from tests.test_indexing import CountingEmbeddings
from vectorstore.collection import CollectionReader
from vectorstore.embedding import EmbeddingModel
from vectorstore.filters import PaperFilter, author_key, is_same_author
from vectorstore.folder import CollectionFolder
from vectorstore.indexing import index_sources
from vectorstore.retrieval import Retriever
from vectorstore.types import PaperRecord, Source

PEOPLE = ("Jane Q. Smith", "Müller, Jürgen", "B.T. Moores", "Li Wei", "José García")
VENUES = ("ICML", "NeurIPS", "ACL", None)


def record(number: int) -> PaperRecord:
    code = f" Code is available at https://github.com/lab/net{number}." if number % 3 == 0 else ""
    return PaperRecord(
        abstract=f"Cats and dogs are told apart. We propose Net{number}X, which sees in the dark.{code}",
        title=f"Net{number}X: a network",
        authors=(PEOPLE[number % 5], "Ann Other"),
        venue=VENUES[number % 4],
        year=2015 + number % 10 if number % 7 else None,
        track="Oral" if number % 5 == 0 else None,
        session=f"Session {number % 6}" if number % 2 else None,
        position=number + 1,
    )


RECORDS = [record(number) for number in range(120)]


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    model = EmbeddingModel("fake:words", "1", CountingEmbeddings())
    folder = CollectionFolder(tmp_path_factory.mktemp("filters"), "nets")
    index_sources(folder, [Source(path="/nets.json", papers=tuple(RECORDS))], model)
    return Retriever(CollectionReader(folder, model), model)


def positions(retriever: Retriever, within: PaperFilter) -> set[int]:
    return {passage.paper.position for passage in retriever.search("networks that see", 1000, within=within)}


@pytest.mark.parametrize(
    ("within", "passes"),
    [
        (PaperFilter(venue="icml"), lambda r: r.venue == "ICML"),
        (PaperFilter(venue="NIPS"), lambda r: r.venue == "NeurIPS"),
        (PaperFilter(first_year=2020), lambda r: r.year is not None and r.year >= 2020),
        (PaperFilter(last_year=2016), lambda r: r.year is not None and r.year <= 2016),
        (PaperFilter(first_year=2018, last_year=2018), lambda r: r.year == 2018),
        (PaperFilter(author="Smith"), lambda r: "Jane Q. Smith" in r.authors),
        (PaperFilter(author="j. smith"), lambda r: "Jane Q. Smith" in r.authors),
        (PaperFilter(author="Jurgen Muller"), lambda r: "Müller, Jürgen" in r.authors),
        (PaperFilter(author="Garcia, José"), lambda r: "José García" in r.authors),
        (PaperFilter(with_code=True), lambda r: "github" in r.abstract),
        (
            PaperFilter(venue="ACL", first_year=2017, author="Ann Other", with_code=True),
            lambda r: r.venue == "ACL" and (r.year or 0) >= 2017 and "github" in r.abstract,
        ),
        (PaperFilter(track="Oral"), lambda r: r.track == "Oral"),
        (
            PaperFilter(session="Session 3", venue="NeurIPS"),
            lambda r: r.session == "Session 3" and r.venue == "NeurIPS",
        ),
        (PaperFilter(paper_ids=()), lambda r: False),
        (PaperFilter(venue="CVPR"), lambda r: False),
        (PaperFilter(author="Nobody"), lambda r: False),
        (PaperFilter(), lambda r: True),
    ],
    ids=lambda given: str(given) if isinstance(given, PaperFilter) else "",
)
def test_a_search_holds_all_papers_that_pass_and_no_other(retriever: Retriever, within: PaperFilter, passes) -> None:
    expected = {record.position for record in RECORDS if passes(record)}
    assert positions(retriever, within) == expected
    assert {paper.position for paper in retriever.papers_within(within)} == expected


def test_chosen_papers_are_searched_and_no_others(retriever: Retriever) -> None:
    chosen = [paper for paper in retriever.papers() if paper.position % 11 == 0]
    within = PaperFilter(paper_ids=tuple(paper.paper_id for paper in chosen))
    assert positions(retriever, within) == {paper.position for paper in chosen}
    assert retriever.ids_within(within) == list(within.paper_ids or ())


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (PaperFilter(venue="ICML"), None, PaperFilter(venue="ICML")),
        (PaperFilter(venue="ICML"), PaperFilter(track="Oral"), PaperFilter(venue="ICML", track="Oral")),
        (PaperFilter(first_year=2018), PaperFilter(first_year=2020), PaperFilter(first_year=2020)),
        (PaperFilter(last_year=2018), PaperFilter(last_year=2020), PaperFilter(last_year=2018)),
        (PaperFilter(paper_ids=("a", "b")), PaperFilter(paper_ids=("b", "c")), PaperFilter(paper_ids=("b",))),
        (PaperFilter(paper_ids=("a",)), PaperFilter(with_code=True), PaperFilter(paper_ids=("a",), with_code=True)),
        (PaperFilter(venue="ICML"), PaperFilter(venue="ACL"), PaperFilter(venue="ICML", paper_ids=())),
    ],
    ids=str,
)
def test_two_filters_let_pass_what_passes_both(one: PaperFilter, other: PaperFilter | None, both: PaperFilter) -> None:
    assert one.also(other) == both


def test_choices_are_counted_by_paper(retriever: Retriever) -> None:
    choices = retriever.choices()
    assert choices.venues == {"ICML": 30, "NeurIPS": 30, "ACL": 30}
    assert choices.tracks == {"Oral": 24}
    assert list(choices.years) == sorted({record.year for record in RECORDS if record.year}, reverse=True)
    assert choices.sessions["Session 3"] == sum(record.session == "Session 3" for record in RECORDS)
    assert choices.with_code == 40


def test_neighbours_are_other_papers_nearest_first(retriever: Retriever) -> None:
    paper = retriever.papers()[0]
    nearest = retriever.neighbours(paper.paper_id, 5)
    assert len(nearest) == 5
    assert paper not in nearest
    assert retriever.neighbours("no-such-paper", 5) == []


def test_a_filter_comes_before_the_search(retriever: Retriever) -> None:
    """The nearest of few papers is found, however many others are nearer."""
    within = PaperFilter(author="Moores", first_year=2017, last_year=2017)
    (first, *_) = retriever.search("Net0X Net3X Net6X code is available", 1, within=within)
    assert "B.T. Moores" in first.paper.authors
    assert not retriever.search("Net7X", 1, within=PaperFilter(author="Nobody"))
    named = retriever.search("What is Net7X?", 5, within=PaperFilter(venue="ICML"))
    assert "Net7X" not in {passage.paper.label for passage in named}


def test_similarities_under_a_filter_are_those_without(retriever: Retriever) -> None:
    free = {p.paper.paper_id: p.similarity for p in retriever.search("networks that see", 1000)}
    for passage in retriever.search("networks that see", 1000, within=PaperFilter(venue="ICML")):
        assert passage.similarity == pytest.approx(free[passage.paper.paper_id], abs=1e-4)


@pytest.mark.parametrize(
    ("asked", "known", "same"),
    [
        ("Smith", "Jane Q. Smith", True),
        ("Jane Smith", "J. Q. Smith", True),
        ("J. B. Smith", "Jane Q. Smith", False),
        ("John Smith", "Jane Smith", False),
        ("Smithson", "Jane Smith", False),
        ("Jane", "Jane Smith", False),
        ("Ødegård, Kari", "kari ødegård", True),
        ("van den Berg", "Rianne van den Berg", False),
        ("Berg", "Rianne van den Berg", True),
    ],
)
def test_names_are_one_when_nothing_in_them_differs(asked: str, known: str, same: bool) -> None:
    assert is_same_author(asked, author_key(known)) is same


@pytest.mark.parametrize(
    ("question", "rest", "within"),
    [
        ("papers by Jane Smith in 2018", "papers", PaperFilter(author="Jane Smith", first_year=2018, last_year=2018)),
        ("Which papers by Smith are on cats?", "Which papers are on cats?", PaperFilter(author="Smith")),
        ("Jane Smith's papers on cats", "papers on cats", PaperFilter(author="Jane Smith")),
        ("Which papers did Jane Smith publish?", "Which papers?", PaperFilter(author="Jane Smith")),
        ("work by li wei on cats", "work on cats", PaperFilter(author="li wei")),
        (
            "Which ICML 2024 papers are about cats?",
            "Which papers are about cats?",
            PaperFilter(venue="ICML", first_year=2024, last_year=2024),
        ),
        (
            "Which papers were published at NIPS since 2020?",
            "Which papers?",
            PaperFilter(venue="NeurIPS", first_year=2020),
        ),
        ("papers on cats from 2023", "papers on cats", PaperFilter(first_year=2023, last_year=2023)),
        ("2021 papers on cats", "papers on cats", PaperFilter(first_year=2021, last_year=2021)),
        ("papers between 2016 and 2018 on cats", "papers on cats", PaperFilter(first_year=2016, last_year=2018)),
        ("Which papers treat cats after 2015?", "Which papers treat cats?", PaperFilter(first_year=2016)),
        ("papers on cats before 2016", "papers on cats", PaperFilter(last_year=2015)),
        (
            "How many papers are there by Li Wei at ACL?",
            "How many papers are there?",
            PaperFilter(author="Li Wei", venue="ACL"),
        ),
    ],
)
def test_a_question_says_what_it_is_confined_to(
    retriever: Retriever, question: str, rest: str, within: PaperFilter
) -> None:
    found = confined(question, retriever)
    assert (found.text, found.within) == (rest, within)


@pytest.mark.parametrize(
    "question",
    [
        "How does Net3X improve on methods optimised by Adam?",
        "What won the 2012 challenge?",
        "Which papers use data from 2019?",
        "Which papers compare models of 2023 and later ones?",
        "Papers about bias in news from 2016 elections",
        "Which papers treat alt text?",
        "Is the acl important in knees?",
        "Which papers are by people we do not know, such as Jane Doe?",
        "Is it better than GPT-4 in 2024?",
    ],
)
def test_years_venues_and_names_that_are_content_confine_nothing(retriever: Retriever, question: str) -> None:
    assert confined(question, retriever).within is None


def test_a_question_for_papers_alone_is_a_list_or_a_count(retriever: Retriever) -> None:
    assert read_confined("papers by Jane Smith", retriever).kind == "list"
    assert read_confined("How many papers are there by Jane Smith?", retriever).kind == "count"
    about = read_confined("How does the work by Jane Smith see cats?", retriever)
    assert (about.kind, about.text) == ("fact", "How does the work see cats?")
    assert about.standalone == "How does the work by Jane Smith see cats?"


def test_vectors_of_any_length_are_compared_by_angle(tmp_path: Path) -> None:
    class Long(CountingEmbeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[7.0 * value for value in word_vector(text)] for text in texts]

    model = EmbeddingModel("fake:long", "1", Long())
    folder = CollectionFolder(tmp_path, "nets")
    index_sources(folder, [Source(path="/nets.json", papers=tuple(RECORDS[:9]))], model)
    retriever = Retriever(CollectionReader(folder, model), model)
    for passage in retriever.search("networks", 9, within=PaperFilter(first_year=2000)):
        assert passage.similarity is not None
        assert -1.001 <= passage.similarity <= 1.001
