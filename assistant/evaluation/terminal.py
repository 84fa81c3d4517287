"""An evaluation on the terminal."""

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from assistant.evaluation.report import Report, figure
from assistant.evaluation.results import Comparison, Evaluation


def print_report(report: Report) -> None:
    """The measures of all systems, the comparison, and where the reports are."""
    console, evaluation, comparison = Console(), report.evaluation, report.comparison
    c = evaluation.circumstances
    measured = f"{len(evaluation.questions)} questions of {c.question_set} over {c.collection} ({c.papers} papers)"
    _line(console, f"{measured}; {c.settings['model'] or 'quotation writer'}")
    _line(console, ", ".join(f"{name} {value}" for name, value in c.versions.items()))
    console.print(_measures(evaluation))
    if comparison:
        _line(console, f"Beside {comparison.old}, {comparison.shared} questions in both; new minus old:")
        for change in comparison.changed:
            _line(console, f"  changed: {change}")
        console.print(_differences(evaluation, comparison))
    if agreed := evaluation.agreement:
        share = "unknown" if agreed.share is None else f"{agreed.share:.3f}"
        kappa = "unknown" if agreed.kappa is None else f"{agreed.kappa:.2f}"
        _line(console, f"{agreed.judge} agrees with the rule on {share} of {agreed.n} answers (kappa {kappa}).")
    _line(console, "Reports: " + " and ".join(str(path) for path in report.paths))


def _line(console: Console, text: str) -> None:
    """Names of models and files are text, not rich's markup, and are not to be cut where one copies them."""
    console.print(Text(text), soft_wrap=True)


def _measures(evaluation: Evaluation) -> Table:
    table = Table(_name("measure"), *(_right(system) for system in evaluation.scored), _right("n"))
    for measure in evaluation.measures:
        by_system = evaluation.figures[measure.name]
        ours = next(iter(by_system.values()))
        name = f"{measure.name} {'↓' if measure.better == 'lower' else ''}".strip()
        table.add_row(name, *(figure(found, measure) for found in by_system.values()), str(ours.n if ours else 0))
    return table


def _differences(evaluation: Evaluation, comparison: Comparison) -> Table:
    table = Table(_name("measure (mean)"), _right("difference"), _right("p"), _right("n"))
    for measure in evaluation.measures:
        if found := comparison.differences.get(measure.name):
            table.add_row(measure.name, figure(found, measure, signed=True), f"{found.p:.4f}", str(found.n))
    return table


def _name(header: str) -> Column:
    """Never cut: it is what --fail-under wants."""
    return Column(header, no_wrap=True, min_width=len("not_covered_precision ↓"))


def _right(header: str) -> Column:
    return Column(Text(header), justify="right")
