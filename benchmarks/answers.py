"""Answers of the quotation writer to our questions, beside plain LangChain retrieval on the same questions.

    python -m benchmarks.answers [--half dev|test] [--failures]

The dev half is what thresholds were chosen on; the test half was written before and never tuned on.
Plain retrieval is Chroma similarity search through `langchain_chroma` over the same embeddings, top 4: it shows
whole abstracts, so its facts are looked for in all four.
"""

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from langchain_chroma import Chroma

from assistant import build_assistant
from benchmarks.common import console, interval, print_environment, print_table
from benchmarks.questions import AskedQuestion, Outcome, ask_ours, paper_key, read_questions
from vectorstore.embedding import PACKAGED_EMBEDDING, load_embedding
from vectorstore.markup import readable
from vectorstore.types import Paper

_TOP = 4


def ask_plain(store: Chroma, papers: Sequence[Paper], asked: AskedQuestion) -> Outcome:
    """The four nearest abstracts; a follow-up is put behind the turns before it."""
    start = time.perf_counter()
    found = store.similarity_search(" ".join([*asked.history, asked.question]), k=_TOP)
    shown = [papers[document.metadata["row"]] for document in found]
    text = readable(" ".join(paper.abstract for paper in shown))
    return Outcome(
        asked=asked,
        status="answered",
        papers=tuple(paper_key(paper) for paper in shown),
        text=text,
        words_quoted=len(text.split()),
        seconds=time.perf_counter() - start,
    )


def plain_store(papers: Sequence[Paper], folder: str) -> Chroma:
    """The abstracts in Chroma, as LangChain's documentation does it."""
    store = Chroma("plain", load_embedding(PACKAGED_EMBEDDING).embeddings, persist_directory=folder)
    store.add_texts([paper.abstract for paper in papers], [{"row": row} for row in range(len(papers))])
    return store


def figures(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Each measure with its value, its bootstrap interval and the number of questions."""

    def of(*kinds: str) -> list[Outcome]:
        return [outcome for outcome in outcomes if outcome.asked.kind in kinds]

    def rate(chosen: Sequence[Outcome], holds: Callable[[Outcome], bool]) -> str:
        return f"{interval([float(holds(outcome)) for outcome in chosen])} n={len(chosen)}"

    facts = [found for outcome in of("named", "described") for found in outcome.facts_found]
    listed = of("list")
    return {
        "right paper first, named": rate(of("named"), lambda o: o.right_paper_first),
        "right paper first, described": rate(of("described"), lambda o: o.right_paper_first),
        "right paper first, both": rate(of("named", "described"), lambda o: o.right_paper_first),
        "fact recall": f"{interval([float(found) for found in facts])} n={len(facts)}",
        "words quoted, median": f"{np.median([o.words_quoted for o in of('named', 'described')]):.0f}",
        "answerable but refused": rate(of("named", "described"), lambda o: o.status != "answered"),
        "not covered: refused": rate(of("not_covered"), lambda o: o.status != "answered"),
        "not covered: named so": rate(of("not_covered"), lambda o: o.status == "not_covered"),
        "not stated: refused": rate(of("not_stated"), lambda o: o.status != "answered"),
        "not stated: named so": rate(of("not_stated"), lambda o: o.status == "not_stated"),
        "list precision": f"{interval([_precision(o) for o in listed])} n={len(listed)}",
        "list recall": f"{interval([_recall(o) for o in listed])} n={len(listed)}",
        "follow-up: right": rate(of("follow_up"), _is_right),
        "seconds, p50": f"{np.percentile([o.seconds for o in outcomes], 50):.3f}",
        "seconds, p95": f"{np.percentile([o.seconds for o in outcomes], 95):.3f}",
    }


def _is_right(outcome: Outcome) -> bool:
    return outcome.status == outcome.asked.status and outcome.right_paper_first and all(outcome.facts_found)


def _precision(outcome: Outcome) -> float:
    return len(set(outcome.papers) & outcome.asked.papers) / max(1, len(outcome.papers))


def _recall(outcome: Outcome) -> float:
    return len(set(outcome.papers) & outcome.asked.papers) / len(outcome.asked.papers)


def print_failures(outcomes: Sequence[Outcome]) -> None:
    """The questions that were not answered as they should be, with what came instead."""
    for outcome in outcomes:
        asked = outcome.asked
        wrong_paper = asked.status == "answered" and asked.kind != "list" and not outcome.right_paper_first
        missing = [fact for fact, found in zip(asked.facts, outcome.facts_found, strict=True) if not found]
        if outcome.status != asked.status or wrong_paper or missing:
            console.print(f"\n{asked.id} {asked.kind}: {asked.question}", markup=False)
            console.print(f"   {outcome.status}, papers {outcome.papers[:2]}, missing {missing}", markup=False)
            console.print("   " + re.sub(r"\s+", " ", outcome.text)[:400], markup=False)


def main() -> None:
    """Prints the table of one half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["dev", "test"], default="test")
    parser.add_argument("--failures", action="store_true", help="print what went wrong (look at the dev half only)")
    options = parser.parse_args()
    questions = read_questions(options.half)
    print_environment(f"Answers to the {options.half} half, {len(questions)} questions over the built-in collection")
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        assistant = build_assistant(data_dir=Path(folder) / "data", model=None)
        console.print(f"first start with indexing: {time.perf_counter() - start:.1f} s")
        assistant.ask("What is in the first paper?")  # the first question of a process also loads things
        store = plain_store(assistant.papers(), f"{folder}/plain")
        ours = [ask_ours(assistant, asked) for asked in questions]
        plain = [ask_plain(store, assistant.papers(), asked) for asked in questions]
    our_figures, plain_figures = figures(ours), figures(plain)
    print_table(
        ["measure", "quotation writer", "plain LangChain + Chroma, top 4"],
        [[measure, our_figures[measure], plain_figures[measure]] for measure in our_figures],
    )
    if options.failures:
        print_failures(ours)


if __name__ == "__main__":
    main()
