"""Asks every system every question, and keeps each outcome at once, so that a run that was stopped can go on."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from assistant.errors import ModelError, ReportError
from assistant.evaluation.judging import Judge
from assistant.evaluation.systems import System, outcome_of
from assistant.evaluation.types import GoldQuestion, Outcome
from vectorstore.types import Paper

_OUTCOME = TypeAdapter(Outcome)
Outcomes = Mapping[str, Sequence[Outcome]]
"""By the name of the system, in the order of the questions."""


@dataclass(frozen=True)
class Journal:
    """The outcomes so far of one run, one JSON object a line."""

    folder: Path
    run: str
    """Digest of all that a run depends on; each run has a journal of its own."""

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / f"journal-{self.run[:12]}.jsonl"

    def read(self) -> dict[tuple[str, str], Outcome]:
        """Outcomes by system and question id, without those that failed: they are tried again.

        What a crash left of a line is passed over.
        """
        lines = self.path.read_bytes().split(b"\n") if self.path.is_file() else []
        known = {(system, outcome.question_id): outcome for line in lines for system, outcome in _outcomes_in(line)}
        return {key: outcome for key, outcome in known.items() if outcome.error is None}

    def begin(self, known: Mapping[tuple[str, str], Outcome]) -> None:
        """Starts the file with what is known. Raises `ReportError` when it cannot be written."""
        lines = [_line(system, outcome) for (system, _), outcome in known.items()]
        beside = self.path.with_suffix(".new")
        with self._translating_errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text("".join(lines), "utf-8")
            beside.replace(self.path)

    def add(self, system: str, outcome: Outcome) -> None:
        """Writes one outcome."""
        with self._translating_errors(), self.path.open("a", encoding="utf-8") as file:
            file.write(_line(system, outcome))

    def remove(self) -> None:
        """Ends a run that is complete: the next one measures anew."""
        self.path.unlink(missing_ok=True)

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ReportError(
                f"{self.path} cannot be written: {error.strerror}.", "Make room, or give another folder with --output."
            ) from error


def run(
    systems: Sequence[System],
    questions: Sequence[GoldQuestion],
    papers: Mapping[str, Paper],
    journal: Journal,
    *,
    judge: Judge | None,
    progress: Callable[[str, int, int], None],
) -> Outcomes:
    """The outcomes of all systems; the judge is asked about the first system's."""
    known = journal.read()
    journal.begin(known)
    done: dict[str, list[Outcome]] = {system.name: [] for system in systems}
    for at, gold in enumerate(questions, start=1):
        for system in systems:
            outcome = known.get((system.name, gold.id))
            if outcome is None:
                outcome = outcome_of(system, gold)
                if judge and system is systems[0] and outcome.error is None:
                    outcome = _judged(judge, gold, outcome, papers)
                journal.add(system.name, outcome)
            done[system.name].append(outcome)
        progress("asking", at, len(questions))
    return done


def _judged(judge: Judge, gold: GoldQuestion, outcome: Outcome, papers: Mapping[str, Paper]) -> Outcome:
    try:
        return replace(outcome, judged=judge.opinion(gold, outcome, papers))
    except ModelError:  # the answer is there all the same; the report counts it as unreadable
        return replace(outcome, judged="unreadable")


def _line(system: str, outcome: Outcome) -> str:
    row = {"system": system, "outcome": _OUTCOME.dump_python(outcome, mode="json")}
    return json.dumps(row, ensure_ascii=False) + "\n"


def _outcomes_in(line: bytes) -> list[tuple[str, Outcome]]:
    """The system and its outcome; nothing when the line is not whole."""
    try:
        row = json.loads(line)
        return [(str(row["system"]), _OUTCOME.validate_python(row["outcome"]))]
    except (ValueError, TypeError, KeyError):  # pydantic's errors are ValueErrors too
        return []
