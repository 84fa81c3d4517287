"""The check of a model's sentences against labelled ones: what it lets through, and what it leaves out.

python -m benchmarks.claims [--split dev|test|model|light] [--mistakes]

Those of "dev" and "test" were written by hand, those of "model" by a small chat model (SmolLM2, 135 million parameters)
asked how each of 31 papers works and what it reports; what could be read either way is left out. Those of "light" are
all true: abstracts reworded lightly, as a strong model does.
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant import build_assistant
from assistant.conversation import SourceNumbers
from assistant.evaluation.resampling import estimate
from assistant.verification import Verifier
from assistant.wording import content_stems
from benchmarks.common import LEAST_SIMILARITY, console, print_environment, print_table
from benchmarks.similarities import Similarities
from vectorstore.markup import readable
from vectorstore.relevance import CrossEncoder
from vectorstore.types import Paper

_CLAIMS = Path(__file__).parent / "data" / "claims.jsonl"
_LEAST_OVERLAP = 0.6
_SPLITS = ("dev", "test", "model", "light")


@dataclass(frozen=True)
class Claim:
    """A sentence about one paper of the built-in collection, labelled by hand."""

    paper: Paper
    sentence: str
    supported: bool
    kind: str


Check = Callable[[Claim], bool]
"""Whether a claim would be shown."""


def claims_of(split: str) -> list[Claim]:
    """The claims of "dev" or "test", with no paper in both, of "model" or of "light"."""
    with tempfile.TemporaryDirectory() as temporary:
        papers = {paper.label: paper for paper in build_assistant(data_dir=temporary).papers()}
    rows = [json.loads(line) for line in _CLAIMS.read_text("utf-8").splitlines()]
    return [
        Claim(papers[row["paper"]], row["sentence"], row["supported"], row["kind"])
        for row in rows
        if row["split"] == split
    ]


def by_verifier() -> Check:
    """The check that answers go through, with the paper as the only source."""
    verifier = Verifier(CrossEncoder())
    return lambda claim: verifier.check(claim.sentence, [claim.paper], [claim.paper], SourceNumbers([])).shown


def by_similarity() -> Check:
    """Another plain alternative: a sentence of the abstract is near in meaning."""
    similarities = Similarities()
    return lambda claim: similarities.is_similar(claim.sentence, claim.paper)


def by_overlap(claim: Claim) -> bool:
    """The plain alternative: most content words of the claim stand in the abstract."""
    wanted = content_stems(claim.sentence)
    return len(wanted & content_stems(readable(claim.paper.abstract))) >= _LEAST_OVERLAP * len(wanted)


def print_totals(claims: Sequence[Claim], shown: dict[str, list[bool]]) -> None:
    """A row for each check: of the false claims the part that is shown, of the true ones the part that is not."""
    rows = []
    for name, hits in shown.items():
        accepted = [hit for claim, hit in zip(claims, hits, strict=True) if not claim.supported]
        rejected = [not hit for claim, hit in zip(claims, hits, strict=True) if claim.supported]
        rows.append([name, _share(accepted), _share(rejected)])
    print_table(["check", "false accepted", "true rejected"], rows)


def print_kinds(claims: Sequence[Claim], hits: Sequence[bool]) -> None:
    """A row for each kind of claim: how many are shown of how many."""
    pairs = sorted({(claim.supported, claim.kind) for claim in claims}, reverse=True)
    rows = []
    for supported, kind in pairs:
        of_kind = [hit for c, hit in zip(claims, hits, strict=True) if (c.supported, c.kind) == (supported, kind)]
        rows.append([f"{'true' if supported else 'false'}: {kind}", str(sum(of_kind)), str(len(of_kind))])
    print_table(["kind", "shown", "claims"], rows)


def print_mistakes(claims: Sequence[Claim], hits: Sequence[bool]) -> None:
    """The kinds, and each claim that is shown though false or left out though true."""
    print_kinds(claims, hits)
    for claim, hit in zip(claims, hits, strict=True):
        if hit != claim.supported:
            console.print(f"  {'shown' if hit else 'left out'}: {claim.sentence}", markup=False)


def _share(values: Sequence[bool]) -> str:
    share = estimate([float(value) for value in values])
    return f"{share.value:.3f} ({share.low:.3f}–{share.high:.3f}) of {share.n}" if share else "-"


def main() -> None:
    """Prints the totals of each split, and with --mistakes each claim that is judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=_SPLITS, help="only this one")
    parser.add_argument("--mistakes", action="store_true", help="print kinds and mistakes too; do not tune on the test")
    options = parser.parse_args()
    checks = {
        "ours": by_verifier(),
        f"words shared with the abstract >= {_LEAST_OVERLAP}": by_overlap,
        f"similarity to a sentence of it >= {LEAST_SIMILARITY}": by_similarity(),
    }
    for split in [options.split] if options.split else _SPLITS:
        claims = claims_of(split)
        shown = {name: [check(claim) for claim in claims] for name, check in checks.items()}
        print_environment(f"Check of {len(claims)} labelled sentences, {split}")
        print_totals(claims, shown)
        if options.mistakes:
            print_mistakes(claims, shown["ours"])


if __name__ == "__main__":
    main()
