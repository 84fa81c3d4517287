"""The plots of a report, as SVG. Text in them takes the colour of the page, so that they fit light and dark."""

import io
import warnings
from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from assistant.evaluation.resampling import Estimate
from assistant.evaluation.scoring import Scored

_COLOURS = ("#2f6fde", "#d9822b", "#8a8f98")
"""Of the systems, ours first; told apart by people who do not see red or green too, and by their markers."""
_MARKERS = ("o", "s", "^")
_LONGEST_NAME = 28
"""Characters of a slice's name; somebody's tag must not take the room of the plot."""
_TEXT = "#010203"
"""Stands for the colour of the page's text until the SVG is written."""
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "evaluation",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.2,
    "legend.frameon": False,
    **{f"{what}.color": _TEXT for what in ("text", "xtick", "ytick", "grid")},
    **{f"axes.{what}color": _TEXT for what in ("edge", "label")},
}


def slices_plot(slices: Mapping[str, Mapping[str, Estimate]]) -> str:
    """The share of right answers in each slice, with 95 % intervals, for each system."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(7.2, 1.2 + 0.42 * len(slices)), layout="constrained")
        axes = figure.subplots()
        systems = dict.fromkeys(system for by_system in slices.values() for system in by_system)
        for at, system in enumerate(systems):
            rows = [(row, by_system[system]) for row, by_system in enumerate(slices.values()) if system in by_system]
            _draw_intervals(axes, [row + 0.2 * (at - 1) for row, _ in rows], [found for _, found in rows], at, system)
        axes.set_yticks(
            range(len(slices)),
            [_row_name(name, found) for name, found in slices.items()],
        )
        axes.set_xlim(-0.02, 1.02)
        axes.invert_yaxis()
        axes.xaxis.set_major_formatter(PercentFormatter(1))
        axes.set_xlabel("right in every respect")
        figure.legend(loc="outside upper center", ncols=3)
        return _svg(figure)


def refusal_plot(scored: Mapping[str, Sequence[Scored]]) -> str:
    """What refusing below a threshold of evidence would give, over all thresholds; the point is what is done now."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(4.6, 3.6), layout="constrained")
        axes = figure.subplots()
        for at, (system, outcomes) in enumerate(scored.items()):
            answerable, elsewhere = trade_off(outcomes)
            axes.step(answerable, elsewhere, where="post", color=_COLOURS[at], label=system)
        ours = next(iter(scored.values()))
        axes.plot(*_now(ours), _MARKERS[0], color=_COLOURS[0], label="assistant, as it is")
        axes.set_xlabel("answerable questions refused")
        axes.set_ylabel("questions on no paper refused")
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(PercentFormatter(1))
        axes.legend(loc="lower right")
        return _svg(figure)


def latency_plot(scored: Mapping[str, Sequence[Scored]]) -> str:
    """The share of answers that were there after so many seconds."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(4.6, 3.6), layout="constrained")
        axes = figure.subplots()
        for at, (system, outcomes) in enumerate(scored.items()):
            axes.ecdf(_seconds(outcomes), color=_COLOURS[at], label=system)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("seconds")
        axes.set_ylabel("answered by then")
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        figure.legend(loc="outside upper center", ncols=3)
        return _svg(figure)


def trade_off(scored: Sequence[Scored]) -> tuple[list[float], list[float]]:
    """The shares of answerable questions, and of those on no paper, that have less evidence than each threshold.

    From refusing nothing to refusing all. Outcomes without evidence are left out.
    """
    answerable = [s.outcome.evidence for s in scored if s.gold.status == "answered" and s.outcome.evidence is not None]
    elsewhere = [
        s.outcome.evidence for s in scored if s.gold.status == "not_covered" and s.outcome.evidence is not None
    ]
    if not answerable or not elsewhere:
        return [], []
    thresholds = [*sorted({*answerable, *elsewhere}), np.inf]
    below = (np.searchsorted(np.sort(found), thresholds) / len(found) for found in (answerable, elsewhere))
    refused, rightly_refused = (shares.tolist() for shares in below)
    return refused, rightly_refused


def _seconds(scored: Sequence[Scored]) -> list[float]:
    """Of the answers that there are; at least a tenth of a millisecond, for the sake of the logarithm."""
    return [max(one.outcome.seconds, 1e-4) for one in scored if not one.failed] or [1e-4]


def _now(scored: Sequence[Scored]) -> tuple[list[float], list[float]]:
    """The shares refused, on either ground; no point when there is no question of one kind."""
    answerable = [one.refused or one.failed for one in scored if one.gold.status == "answered"]
    elsewhere = [one.refused for one in scored if one.gold.status == "not_covered"]
    return ([float(np.mean(answerable))], [float(np.mean(elsewhere))]) if answerable and elsewhere else ([], [])


def _draw_intervals(axes: Axes, rows: Sequence[float], found: Sequence[Estimate], at: int, label: str) -> None:
    values = [one.value for one in found]
    errors = [
        [max(0.0, one.value - one.low) for one in found],
        [max(0.0, one.high - one.value) for one in found],
    ]
    axes.errorbar(values, rows, xerr=errors, fmt=_MARKERS[at], color=_COLOURS[at], label=label, markersize=5, capsize=2)


def _row_name(name: str, by_system: Mapping[str, Estimate]) -> str:
    asked = next(iter(by_system.values())).n
    return f"{shorten(name, _LONGEST_NAME, placeholder='…')} ({asked})"


def _svg(figure: Figure) -> str:
    """The `<svg>` element alone."""
    buffer = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the browser's fonts draw the text, not matplotlib's
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :].replace(_TEXT, "currentColor")
