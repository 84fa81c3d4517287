"""Asks every system every question, and keeps each outcome at once, so that a run that was stopped can go on."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

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
    """The outcomes so far, one JSON object a line; its first line says which run they belong to."""

    path: Path
    run: str
    """Digest of all that a run depends on; outcomes of another run are not used."""

    def read(self) -> dict[tuple[str, str], Outcome]:
        """Outcomes by system and question id. A last line that was cut off by a crash is left out."""
        lines = self.path.read_text("utf-8").splitlines() if self.path.is_file() else []
        if not lines or _parsed(lines[0]) != {"run": self.run}:
            return {}
        rows = [row for line in lines[1:] if (row := _parsed(line))]
        return {(row["system"], row["outcome"]["question_id"]): _outcome(row["outcome"]) for row in rows}

    def begin(self, known: Mapping[tuple[str, str], Outcome]) -> None:
        """Starts the file with what is known. Raises `ReportError` when it cannot be written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps({"run": self.run}) + "\n", "utf-8")
        except OSError as error:
            raise ReportError(
                f"{self.path} cannot be written: {error.strerror}.", "Give another folder with --output."
            ) from error
        for (system, _), outcome in known.items():
            self.add(system, outcome)

    def add(self, system: str, outcome: Outcome) -> None:
        """Writes one outcome."""
        row = {"system": system, "outcome": _OUTCOME.dump_python(outcome, mode="json")}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def remove(self) -> None:
        """Ends a run that is complete: the next one measures anew."""
        self.path.unlink(missing_ok=True)


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


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return None


def _outcome(row: object) -> Outcome:
    try:
        return _OUTCOME.validate_python(row)
    except ValidationError as error:
        raise ReportError(
            "The journal of the interrupted run cannot be read.", "Remove journal.jsonl from the output folder."
        ) from error
