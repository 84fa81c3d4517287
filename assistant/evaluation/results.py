"""An evaluation: what was asked under which circumstances, what came of it, and how it compares with an earlier one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from assistant.errors import ReportError
from assistant.evaluation.judging import Agreement
from assistant.evaluation.measures import Measure
from assistant.evaluation.resampling import Difference, Estimate, estimate, paired_difference
from assistant.evaluation.scoring import Scored
from assistant.evaluation.systems import AssistantSystem
from assistant.evaluation.types import GoldQuestion
from vectorstore.types import Paper

OURS = AssistantSystem.name
FORMAT = 1
"""Of the JSON report; raised when a field changes its meaning."""


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """All that an evaluation depends on; digests are SHA-256 in hexadecimal."""

    question_set: str
    question_set_sha256: str
    sample: int | None
    """How many questions were drawn from the set; None when all were asked."""
    seed: int
    collection: str
    papers: int
    collection_sha256: str
    fingerprint: str
    """Of the index (`Fingerprint.digest`)."""
    settings: Mapping[str, Any]
    settings_sha256: str
    prompts_sha256: str
    judge: str | None
    code_sha256: str
    versions: Mapping[str, str]

    def differences(self, old: Mapping[str, Any]) -> list[str]:
        """One phrase for each of these that an earlier report has otherwise."""
        new = asdict(self)
        hidden = {"settings_sha256", "fingerprint"}  # the settings themselves say more
        return [
            f"{name}: {old.get(name)} before, {new[name]} now"
            for name in new
            if name not in hidden and new[name] != old.get(name)
        ]


@dataclass(frozen=True)
class Comparison:
    """This evaluation beside an earlier one, over the questions that both asked."""

    old: str
    """What the earlier report is called."""
    shared: int
    differences: Mapping[str, Difference]
    """By the name of the measure: mean of new minus old per question."""
    changed: Sequence[str]
    """What is not as it was, other than the answers."""


@dataclass(frozen=True)
class Evaluation:
    """What came of the questions of one set, for each system."""

    circumstances: Circumstances
    questions: tuple[GoldQuestion, ...]
    papers: Mapping[str, Paper]
    measures: tuple[Measure, ...]
    scored: Mapping[str, Sequence[Scored]]
    """By the name of the system, ours first; in the order of the questions."""
    agreement: Agreement | None

    @property
    def ours(self) -> Sequence[Scored]:
        """The assistant's outcomes."""
        return next(iter(self.scored.values()))

    @cached_property
    def figures(self) -> Mapping[str, Mapping[str, Estimate | None]]:
        """By measure, then by system; None where a measure applies to no question or its data are unknown."""
        return {
            measure.name: {system: measure.estimate(scored) for system, scored in self.scored.items()}
            for measure in self.measures
        }

    @cached_property
    def slices(self) -> Mapping[str, Mapping[str, Estimate]]:
        """The share of right answers by slice (kind, status, tag), then by system."""
        names = dict.fromkeys(name for question in self.questions for name in slices_of(question))
        return {
            name: {
                system: found
                for system, scored in self.scored.items()
                if (found := estimate([not s.why_wrong for s in scored if name in slices_of(s.gold)]))
            }
            for name in names
        }

    def unmet(self, thresholds: Mapping[str, float]) -> list[str]:
        """One phrase for each threshold that the assistant does not meet; an unknown figure meets none."""
        found = {measure.name: measure for measure in self.measures}
        phrases = []
        for name, threshold in thresholds.items():
            figure = next(iter(self.figures[name].values()))
            if figure is None or not found[name].is_met(figure.value, threshold):
                sign = ">=" if found[name].better == "higher" else "<="
                value = f"{figure.value:.3f}" if figure else "unknown"
                phrases.append(f"{name} is {value}, to be {sign} {threshold:g}")
        return phrases

    def compared_with(self, old: Mapping[str, Any], name: str) -> Comparison:
        """Beside an earlier report, as `read_report` gives it; `name` is what it is called."""
        before = {(row["id"], row["question"]): row["systems"][OURS]["values"] for row in old["questions"]}
        pairs = [(one, values) for one in self.ours if (values := before.get((one.gold.id, one.gold.question)))]
        once = {measure.value: measure for measure in reversed(self.measures)}  # two may summarise the same values
        differences = {
            measure.name: difference
            for measure in once.values()
            if measure.paired and (difference := paired_difference(*_both_values(measure, pairs)))
        }
        changed = self.circumstances.differences(old["circumstances"])
        return Comparison(name, len(pairs), differences, changed)

    def to_dict(self) -> dict[str, Any]:
        """The JSON report."""
        return {
            "format": FORMAT,
            "circumstances": asdict(self.circumstances),
            "measures": [
                {
                    "name": measure.name,
                    "definition": measure.definition,
                    "unit": measure.unit,
                    "better": measure.better,
                    "systems": {name: found and asdict(found) for name, found in self.figures[measure.name].items()},
                }
                for measure in self.measures
            ],
            "slices": {
                name: {system: asdict(found) for system, found in by_system.items()}
                for name, by_system in self.slices.items()
            },
            "agreement": self.agreement
            and {**asdict(self.agreement), "share": self.agreement.share, "kappa": self.agreement.kappa},
            "questions": [self._question_dict(at) for at in range(len(self.questions))],
        }

    def _question_dict(self, at: int) -> dict[str, Any]:
        gold = self.questions[at]
        systems = {
            name: {
                **asdict(scored[at].outcome),
                "why_wrong": list(scored[at].why_wrong),
                "values": {measure.name: measure.value(scored[at]) for measure in self.measures},
            }
            for name, scored in self.scored.items()
        }
        return {**gold.model_dump(mode="json"), "systems": systems}


def slices_of(question: GoldQuestion) -> tuple[str, ...]:
    """The slices that a question belongs to: its kind when it is answerable, else its status; and its tags."""
    first = question.kind if question.status == "answered" else question.status
    return tuple(dict.fromkeys((first, *question.tags)))


def _is_report(report: Any) -> bool:
    """Whether it has all that a comparison looks at."""
    try:
        rows = [(row["id"], row["question"], dict(row["systems"][OURS]["values"])) for row in report["questions"]]
        return bool(rows) and report["format"] == FORMAT and bool(dict(report["circumstances"]))
    except (LookupError, TypeError, ValueError):
        return False


def _both_values(
    measure: Measure, pairs: Sequence[tuple[Scored, Mapping[str, float | None]]]
) -> tuple[list[float], list[float]]:
    """The new and the old values of the questions that have both."""
    new, old = [], []
    for scored, values in pairs:
        now, before = measure.value(scored), values.get(measure.name)
        if now is not None and before is not None:
            new.append(now)
            old.append(before)
    return new, old


def read_report(path: Path) -> Mapping[str, Any]:
    """An earlier `report.json`. Raises `ReportError` when it cannot be read as one."""
    try:
        report = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ReportError(
            f"The report {path} cannot be read ({type(error).__name__}).", "Give the report.json of an earlier run."
        ) from error
    if not _is_report(report):
        raise ReportError(f"{path} is no report of this version.", "Give the report.json of an earlier run.")
    return dict(report)
