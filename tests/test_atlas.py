"""The map of a collection: where papers lie, which topics they make, and that it is computed once."""

import dataclasses
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assistant import Assistant, build_assistant
from tests.fakes import word_vector
from vectorstore.atlas import Atlas, computed_atlas
from vectorstore.folder import VECTORS
from vectorstore.types import Paper

ROOT = Path(__file__).parents[1]
FIELDS = {
    "graph": "graph neural networks pass messages between the nodes and edges of a graph",
    "speech": "speech recognition of spoken words turns an audio signal into a transcript",
    "robots": "a mobile robot plans its motion around each obstacle by its camera",
    "proteins": "protein folding gives the structure of a molecule from amino acids",
}


def papers_of(texts: list[str]) -> list[Paper]:
    return [
        Paper(paper_id=f"p{at}", label=f"Paper {at}", source="made", position=at, abstract=text, year=2020 + at % 3)
        for at, text in enumerate(texts)
    ]


def vectors_of(texts: list[str]) -> np.ndarray:
    vectors = np.array([word_vector(text) for text in texts], dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def made_atlas(texts: list[str]) -> Atlas:
    return computed_atlas(papers_of(texts), vectors_of(texts))


def texts_of_fields(each: int) -> list[str]:
    return [f"{text}, in study{at} with trait{at % 7}." for at in range(each) for text in FIELDS.values()]


def index_folder(data_dir: Path) -> Path:
    (folder,) = (data_dir / "collections" / "icml2026" / "index").iterdir()
    return folder


def share_of_neighbours_kept(vectors: np.ndarray, points: np.ndarray, k: int) -> float:
    """Of the `k` nearest in all dimensions, the share that is among the `k` nearest of the plane."""
    distances = [np.linalg.norm(each[:, None] - each[None], axis=2) for each in (vectors, points)]
    nearest = [np.argsort(d + np.diag([np.inf] * len(d)), axis=1)[:, :k] for d in distances]
    return float(np.mean([len(set(a) & set(b)) / k for a, b in zip(*nearest, strict=True)]))


def main_plane(vectors: np.ndarray) -> np.ndarray:
    centred = vectors - vectors.mean(axis=0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T


def test_every_paper_of_the_built_in_collection_has_a_place_in_a_named_topic(assistant: Assistant) -> None:
    atlas = assistant.atlas()
    assert [place.paper_id for place in atlas.places] == [paper.paper_id for paper in assistant.papers()]
    assert all(0 <= place.x <= 1 and 0 <= place.y <= 1 for place in atlas.places)
    assert 4 <= len(atlas.topics) <= 6
    counts = [sum(place.topic == at for place in atlas.places) for at in range(len(atlas.topics))]
    assert counts == [topic.papers for topic in atlas.topics]
    assert any("einforcement learning" in topic.name for topic in atlas.topics)


def test_neighbours_stay_neighbours_more_often_than_in_the_plane_of_the_main_components(
    assistant: Assistant, built_in_data: Path
) -> None:
    vectors = np.load(index_folder(built_in_data) / VECTORS)
    points = np.array([(place.x, place.y) for place in assistant.atlas().places])
    assert len(vectors) == len(points)
    kept, by_plane = (share_of_neighbours_kept(vectors, each, 8) for each in (points, main_plane(vectors)))
    assert kept > by_plane + 0.05


def test_two_processes_compute_the_same_numbers(data_dir: Path) -> None:
    code = (
        "import sys; from assistant import build_assistant; "
        "print(build_assistant(data_dir=sys.argv[1], model=None).atlas())"
    )
    kept = index_folder(data_dir) / "atlas.json"
    printed = []
    for _ in range(2):
        kept.unlink(missing_ok=True)
        found = subprocess.run(
            [sys.executable, "-c", code, str(data_dir)], cwd=ROOT, check=True, capture_output=True, text=True
        )
        printed.append(hashlib.sha256(found.stdout.encode()).hexdigest())
    assert kept.is_file()
    assert printed[0] == printed[1]


def test_a_kept_atlas_is_read_instead_of_computed(data_dir: Path) -> None:
    atlas = build_assistant(data_dir=data_dir).atlas()
    kept = index_folder(data_dir) / "atlas.json"
    stored = json.loads(kept.read_text("utf-8"))
    stored["topics"][0]["name"] = "As it was kept"
    kept.write_text(json.dumps(stored), "utf-8")
    again = build_assistant(data_dir=data_dir).atlas()
    assert again.topics[0].name == "As it was kept"
    assert again.places == atlas.places


@pytest.mark.parametrize(
    "content", ["", "{}", '{"schema": 0, "places": [], "topics": []}', '{"schema": 1, "places": 3}']
)
def test_a_damaged_or_outdated_atlas_is_computed_anew(data_dir: Path, content: str) -> None:
    first = build_assistant(data_dir=data_dir).atlas()
    (index_folder(data_dir) / "atlas.json").write_text(content, "utf-8")
    assert build_assistant(data_dir=data_dir).atlas() == first


def test_it_works_where_nothing_can_be_written(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("read-only")

    (index_folder(data_dir) / "atlas.json").unlink(missing_ok=True)
    monkeypatch.setattr("pathlib.Path.write_text", refuse)  # a superuser may write to any folder
    assert len(build_assistant(data_dir=data_dir).atlas().places) == 34
    assert not list(index_folder(data_dir).glob("atlas*"))


def test_a_changed_collection_has_a_new_atlas(data_dir: Path, tmp_path: Path) -> None:
    from assistant.app import embedding_from
    from assistant.settings import load_settings
    from vectorstore.folder import CollectionFolder
    from vectorstore.indexing import index_files

    assistant = build_assistant(data_dir=data_dir)
    assert len(assistant.atlas().places) == 34
    more = tmp_path / "more.txt"
    more.write_text("We study how bees find flowers, and show that they see polarised light.", "utf-8")
    index_files(CollectionFolder(data_dir, "icml2026"), [more], embedding_from(load_settings(data_dir=data_dir)))
    assert len(assistant.atlas().places) == 35


@pytest.mark.parametrize("papers", [1, 2, 3, 4, 5, 6, 9])
def test_a_few_papers_have_places_apart(papers: int) -> None:
    atlas = made_atlas(texts_of_fields(3)[:papers])
    assert len({(place.x, place.y) for place in atlas.places}) == papers
    assert all(0 <= value <= 1 for place in atlas.places for value in (place.x, place.y))
    assert sum(topic.papers for topic in atlas.topics) == papers
    if papers < 6:
        assert [topic.name for topic in atlas.topics] == ["All papers"]


def test_no_paper_has_an_empty_atlas() -> None:
    assert computed_atlas([], np.zeros((0, 8), dtype=np.float32)) == Atlas((), ())


@pytest.mark.parametrize("papers", [2, 5, 40])
def test_papers_of_the_same_text_lie_apart(papers: int) -> None:
    atlas = made_atlas([FIELDS["graph"]] * papers)
    assert len({(place.x, place.y) for place in atlas.places}) == papers
    assert len({topic.name for topic in atlas.topics}) == len(atlas.topics)


def test_topics_are_named_by_what_their_papers_are_about() -> None:
    texts = texts_of_fields(10)
    atlas = made_atlas(texts)
    names = [topic.name.lower() for topic in atlas.topics]
    assert len(set(names)) == len(names)
    words = {word for text in FIELDS.values() for word in text.split()}
    assert all(set(name.replace(",", "").split()) <= words for name in names)
    assert not any(
        word in name.replace(",", "").split() for name in names for word in ("of", "the", "a", "with", "study")
    )


def test_of_many_papers_some_are_laid_out_and_the_others_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = texts_of_fields(40)
    monkeypatch.setattr("vectorstore.layout._LAID_OUT", 60)
    atlas = made_atlas(texts)
    assert atlas == made_atlas(texts)
    points = np.array([(place.x, place.y) for place in atlas.places])
    distances = np.linalg.norm(points[:, None] - points[None], axis=2) + np.diag([np.inf] * len(points))
    same_field = np.mean(distances.argmin(axis=1) % 4 == np.arange(len(points)) % 4)
    assert same_field > 0.9


def test_an_atlas_is_frozen(assistant: Assistant) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        assistant.atlas().topics[0].name = "another"  # type: ignore[misc]
