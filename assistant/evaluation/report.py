"""The HTML report: one file that needs nothing else, with a page for each question (`:target` shows one at a time)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from assistant.errors import ReportError
from assistant.evaluation.measures import Measure
from assistant.evaluation.plots import latency_plot, refusal_plot, slices_plot
from assistant.evaluation.resampling import Difference, Estimate
from assistant.evaluation.results import Comparison, Evaluation, slices_of
from assistant.evaluation.scoring import Scored
from assistant.evaluation.types import GoldQuestion

_UNKNOWN, _DOES_NOT_APPLY = "unknown", "–"


@dataclass(frozen=True)
class Report:
    """An evaluation, what it is compared with, and where both are written."""

    evaluation: Evaluation
    comparison: Comparison | None
    folder: Path

    @property
    def paths(self) -> tuple[Path, Path]:
        """Of the JSON and the HTML report."""
        return self.folder / "report.json", self.folder / "report.html"

    def to_dict(self) -> dict[str, Any]:
        """The JSON report."""
        return {**self.evaluation.to_dict(), "comparison": self.comparison and asdict(self.comparison)}

    def write(self) -> None:
        """Writes both files. Raises `ReportError` when that cannot be done."""
        as_json = json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
        as_html = html_report(self.evaluation, self.comparison)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for path, text in zip(self.paths, (as_json, as_html), strict=True):
                path.write_text(text, "utf-8")
        except OSError as error:
            raise ReportError(
                f"The report cannot be written to {self.folder}: {error.strerror}.", "Give another folder."
            ) from error


def html_report(evaluation: Evaluation, comparison: Comparison | None) -> str:
    """The report as one HTML page. All text in it is escaped; only the plots are put in as they are."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["figure"] = figure
    template = environment.from_string((files("assistant.evaluation") / "report.html.j2").read_text("utf-8"))
    return template.render(
        evaluation=evaluation,
        comparison=comparison,
        measures={measure.name: measure for measure in evaluation.measures},
        pages=[_Page(evaluation, at) for at in range(len(evaluation.questions))],
        plots={
            "slices": Markup(slices_plot(evaluation.slices)),  # made by matplotlib, which escapes
            "refusal": Markup(refusal_plot(evaluation.scored)),
            "latency": Markup(latency_plot(evaluation.scored)),
        },
        drafts=sum("draft" in question.tags for question in evaluation.questions),
    )


def figure(found: Estimate | Difference | None, measure: Measure, *, signed: bool = False) -> str:
    """A figure with its interval, such as "0.956 (0.897–1.000)"; without one that has no width."""
    if found is None:
        return _UNKNOWN if measure.needs_all else _DOES_NOT_APPLY
    value, low, high = (_number(number, measure, signed=signed) for number in (found.value, found.low, found.high))
    if low == high:
        return value
    to = " to " if signed else "–"
    return f"{value} ({low}{to}{high})"


def _number(value: float, measure: Measure, *, signed: bool) -> str:
    digits = {"share": 3, "words": 0, "seconds": 3, "tokens": 0, "dollars": 5}[measure.unit]
    return f"{value:{'+' if signed else ''},.{digits}f}"


@dataclass(frozen=True)
class _Page:
    """What the report shows of one question."""

    evaluation: Evaluation
    at: int

    @property
    def anchor(self) -> str:
        return f"q{self.at + 1}"

    @cached_property
    def neighbours(self) -> tuple[str | None, str | None]:
        """The anchors of the questions before and after."""
        last = len(self.evaluation.questions)
        return (f"q{self.at}" if self.at else None, f"q{self.at + 2}" if self.at + 1 < last else None)

    @property
    def gold(self) -> GoldQuestion:
        return self.evaluation.questions[self.at]

    @property
    def slices(self) -> Sequence[str]:
        return slices_of(self.gold)

    @cached_property
    def scored(self) -> Mapping[str, Scored]:
        """By system."""
        return {name: scored[self.at] for name, scored in self.evaluation.scored.items()}

    @property
    def ours(self) -> Scored:
        return next(iter(self.scored.values()))

    def label(self, paper_id: str) -> str:
        """What a reader knows the paper by."""
        return self.evaluation.papers[paper_id].label

    def shows_whole_abstracts(self, system: str) -> bool:
        """Whether the answer is nothing but abstracts, which a report need not repeat with every question."""
        quotations = self.scored[system].outcome.quotations
        papers = self.evaluation.papers
        return bool(quotations) and all(q.text == papers[q.paper_id].abstract for q in quotations)

    def values(self, system: str) -> Sequence[tuple[str, str]]:
        """Name and value of each measure that applies, for one system."""
        found = ((m, m.value(self.scored[system])) for m in self.evaluation.measures)
        return [(m.name, _number(value, m, signed=False)) for m, value in found if value is not None]
