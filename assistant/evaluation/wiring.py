"""From a question set and settings to an evaluation: which systems, under which circumstances."""

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from assistant.app import assistant_from, embedding_from, load_model_from, reader_from
from assistant.evaluation.baselines import KeywordSystem, PlainSystem
from assistant.evaluation.drafting import drafted_questions
from assistant.evaluation.judging import Judge, agreement
from assistant.evaluation.measures import measures
from assistant.evaluation.question_sets import read_question_set, resolved, sampled, write_question_set
from assistant.evaluation.report import Report
from assistant.evaluation.results import Circumstances, Evaluation, read_report
from assistant.evaluation.running import Journal, run
from assistant.evaluation.scoring import Scored
from assistant.evaluation.systems import AssistantSystem, System
from assistant.evaluation.types import QuestionSet
from assistant.settings import Settings, load_settings
from vectorstore.collection import Collection
from vectorstore.progress import Progress, silent
from vectorstore.types import Paper

_SETTINGS = ("model", "embedding", "timeout_seconds", "context_tokens", "answer_tokens")
"""Those that an answer depends on; none of them is secret."""
_PACKAGES = ("abstract-assistant", "bm25s", "chromadb", "langchain-core", "numpy", "onnxruntime", "tokenizers")


def evaluate(
    question_set: str,
    *,
    output: Path | None = None,
    compare: Path | None = None,
    sample: int | None = None,
    seed: int = 0,
    judge: str | None = None,
    prices: tuple[float, float] | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> Report:
    """Asks the assistant and the baselines the questions of a built-in set or of a file, and writes the reports.

    `output` is their folder, by default `evaluation-NAME` here; outcomes are kept there as they come, and a run that
    was stopped goes on from them. `compare` is the `report.json` of an earlier run. `sample` questions are drawn by
    `seed`. `judge` is a chat model, as "provider:model"; `prices` are dollars per million tokens read and written.
    Other keywords are the names of settings. Raises `UserFacingError` when it cannot begin.
    """
    questions = read_question_set(question_set)
    old = read_report(compare) if compare else None  # before it may be overwritten, and before the work
    folder = output or Path(f"evaluation-{questions.name}")
    loaded = load_settings(**settings)
    embedding = embedding_from(loaded)
    collection = reader_from(loaded, embedding, progress=progress).current()
    papers = {paper.paper_id: paper for paper in collection.library.papers()}
    asked = resolved(questions, list(papers.values()))
    if sample is not None:
        asked = sampled(asked, sample, seed)
    circumstances = _circumstances(asked, sample, seed, collection, papers, loaded, judge)
    second_opinion = Judge(judge, load_model_from(loaded, judge)) if judge else None
    systems: list[System] = [
        AssistantSystem(assistant_from(loaded, progress=progress)),
        PlainSystem(collection, embedding, load_model_from(loaded, loaded.model) if loaded.model else None),
        KeywordSystem(collection),
    ]
    journal = Journal(folder, _digest(asdict(circumstances)))
    outcomes = run(systems, asked.questions, papers, journal, judge=second_opinion, progress=progress)
    scored = {
        name: [Scored(gold, outcome, papers) for gold, outcome in zip(asked.questions, found, strict=True)]
        for name, found in outcomes.items()
    }
    evaluation = Evaluation(
        circumstances=circumstances,
        questions=asked.questions,
        papers=papers,
        measures=measures(prices),
        scored=scored,
        agreement=agreement(judge, next(iter(scored.values()))) if judge else None,
    )
    report = Report(evaluation, evaluation.compared_with(old, str(compare)) if old else None, folder)
    report.write()
    journal.remove()
    return report


def draft_question_set(path: Path, *, progress: Progress = silent, seed: int = 0, **settings: Any) -> int:
    """Writes a draft for the configured collection into a new file; returns how many questions it has."""
    loaded = load_settings(**settings)
    embedding = embedding_from(loaded)
    collection = reader_from(loaded, embedding, progress=progress).current()
    drafts = drafted_questions(collection.library.papers(), seed=seed)
    write_question_set(path, drafts)
    return len(drafts)


def _circumstances(
    questions: QuestionSet,
    sample: int | None,
    seed: int,
    collection: Collection,
    papers: Mapping[str, Paper],
    settings: Settings,
    judge: str | None,
) -> Circumstances:
    used = settings.model_dump(mode="json", include=set(_SETTINGS))
    return Circumstances(
        question_set=questions.name,
        question_set_sha256=questions.sha256,
        sample=sample,
        seed=seed,
        collection=collection.folder.name,
        papers=len(papers),
        collection_sha256=_digest([[p.paper_id, p.label, p.title, p.abstract] for p in papers.values()]),
        fingerprint=collection.index.fingerprint.digest,
        settings=used,
        settings_sha256=_digest(used),
        prompts_sha256=_digest(_prompts()),
        judge=judge,
        code_sha256=_digest(_code()),
        versions=_versions(),
    )


def _prompts() -> Sequence[str]:
    found = [path for path in files("prompts").iterdir() if path.name.endswith(".md")]
    return [path.read_text("utf-8") for path in sorted(found, key=lambda path: path.name)]


def _code() -> Sequence[str]:
    folders = [Path(str(files(package))) for package in ("assistant", "vectorstore")]
    return [path.read_text("utf-8") for folder in folders for path in sorted(folder.rglob("*.py"))]


def _versions() -> Mapping[str, str]:
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    packages = {name: version(name) for name in _PACKAGES}
    return {"machine": machine, "python": platform.python_version(), **packages}


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
