"""Do scores tell claims that an abstract supports from those that it contradicts or says nothing of? On SciFact.

python -m benchmarks.scifact

SciFact (Wadden et al. 2020) pairs expert-written claims with abstracts. Regressions are fitted on the training claims
and reported on the development claims. What the models say of each pair is kept in build/benchmarks; that of the
training claims takes some minutes.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from assistant.conversation import SourceNumbers
from assistant.verification import Verifier
from assistant.wording import content_stems
from benchmarks.common import LEAST_SIMILARITY, print_environment, print_table
from benchmarks.papers import DATA
from benchmarks.polarity import WAYS, direction, is_denied, turned
from benchmarks.truths import SCIFACT, paper_of
from vectorstore.packaged import BGE_SMALL, model_folder
from vectorstore.relevance import CrossEncoder
from vectorstore.types import PaperRecord

Values = NDArray[np.float64]
_READ = 3
"""Sentences of an abstract that are read closely, those nearest to the claim."""
_RESAMPLES = 2000
_PASSING = 0.9
"""Of supported training claims."""
_LABELS = ("SUPPORT", "NEI", "CONTRADICT")
_PENALTY = 1.0
_SHARPNESS = 20
"""Of the weights of the sentences read, by their cosine."""
_OVERLAP = ("cosine", "overlap")
_CONTENT = ("cosine", "overlap", "relevance", "tokens", "rare_tokens", "worst_tokens")
_AGREEMENT = ("relevance_lost", "best_relevance_lost", "cosine_lost", "same_direction", "other_denial", "denied", *WAYS)


@dataclass(frozen=True)
class Pair:
    """A claim, an abstract it was written for or against, and "SUPPORT", "CONTRADICT" or "NEI" (it does not say)."""

    claim: str
    sentences: tuple[str, ...]
    label: str


@dataclass(frozen=True)
class Evidence:
    """What the models and the words say of a pair."""

    label: str
    signals: dict[str, float]


def pairs_of(split: str, abstracts: dict[str, Any]) -> list[Pair]:
    """The pairs of "train" or "validation"."""
    rows = [json.loads(line) for line in (SCIFACT / "claims.jsonl").read_text("utf-8").split("\n") if line]
    return [
        Pair(row["claim"], _sentences(abstracts[key]), _label(row["evidence"].get(key)))
        for row in rows
        if row["split"] == split
        for key in row["cited_doc_ids"]
    ]


def _label(evidence: list[dict[str, Any]] | None) -> str:
    return str(evidence[0]["label"]) if evidence else "NEI"


def abstracts_by_id() -> dict[str, Any]:
    """The corpus."""
    texts = [path.read_text("utf-8") for path in sorted(SCIFACT.glob("corpus-*.jsonl"))]
    rows = [json.loads(line) for text in texts for line in text.split("\n") if line]
    return {row["_id"]: row for row in rows}


def _sentences(row: dict[str, Any]) -> tuple[str, ...]:
    bounds = [*row["metadata"]["sentence_starts"], len(row["text"])]
    return tuple(row["text"][start:end].strip() for start, end in pairwise(bounds))


class Reader:
    """Reads pairs with the packaged models."""

    def __init__(self, abstracts: dict[str, Any]) -> None:
        folder = model_folder(BGE_SMALL)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(512)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._cross_encoder = CrossEncoder()
        self._papers_with = Counter(stem for row in abstracts.values() for stem in content_stems(row["text"]))
        self._papers = len(abstracts)

    def evidence(self, pair: Pair) -> Evidence:
        """What is known of a pair; each signal is higher for a claim that is supported, or only described there."""
        claim, ids = self._tokens(pair.claim)
        texts = [*pair.sentences, *map(" ".join, pairwise(pair.sentences))]
        tokens = [self._tokens(text)[0] for text in pair.sentences]
        cosines = np.array([vectors[0] @ claim[0] for vectors in tokens])
        windows = [self._tokens(text)[0][0] @ claim[0] for text in texts[len(tokens) :]]
        best = np.argsort(-cosines)[:_READ]
        likest = np.max([(claim[1:-1] @ tokens[row].T).max(axis=1) for row in best], axis=0)
        rarity = np.log(np.array(ids[1:-1]) + 1.0)  # the vocabulary holds common words first
        signals = {
            "cosine": float(max([*cosines, *windows])),
            "overlap": self._overlap(pair),
            "tokens": float(likest.mean()),
            "rare_tokens": float((rarity * likest).sum() / rarity.sum()),
            "worst_tokens": float(np.sort(likest)[:_READ].mean()),
        }
        read, vectors = [pair.sentences[row] for row in best], [tokens[row][0] for row in best]
        return Evidence(pair.label, signals | self._turned(pair.claim, read, claim[0], vectors))

    def _turned(self, claim: str, read: Sequence[str], vector: Values, vectors: Sequence[Values]) -> dict[str, float]:
        """How much less the sentences are like the claim turned round, and whether they go its way."""
        other, way = turned(claim)
        relevance = np.array(self._cross_encoder.relevance(claim, read))
        lost = relevance - np.array(self._cross_encoder.relevance(other, read))
        cosines = np.array([each @ vector for each in vectors])
        weights = np.exp(_SHARPNESS * (cosines - cosines[0]))
        weights /= weights.sum()
        same = np.array([direction(claim) * direction(text) for text in read])
        differs = np.array([is_denied(claim) != is_denied(text) for text in read])
        return {
            "relevance": float(relevance.max()),
            "relevance_lost": float(lost.mean()),
            "best_relevance_lost": float(lost[0]),
            "cosine_lost": float((cosines - [each @ self._tokens(other)[0][0] for each in vectors]).mean()),
            "same_direction": float(weights @ same),
            "other_denial": float(weights @ differs),
            "denied": float(is_denied(claim)),
            **{name: float(name == way) for name in WAYS},
        }

    def _overlap(self, pair: Pair) -> float:
        """The part of the claim's words, by their rarity, that the abstract holds."""
        wanted, held = content_stems(pair.claim), content_stems(" ".join(pair.sentences))
        total = sum(map(self._rarity, wanted))
        return sum(map(self._rarity, wanted & held)) / total if total else 0.0

    def _rarity(self, stem: str) -> float:
        return math.log(1 + self._papers / (1 + self._papers_with[stem]))

    def _tokens(self, text: str) -> tuple[Values, list[int]]:
        """A unit vector for each token, the first of which stands for the text, and the tokens' ids."""
        encoding = self._tokenizer.encode(text)
        feed = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        given = {name: np.array([ids], dtype=np.int64) for name, ids in feed.items() if name in self._inputs}
        vectors = np.asarray(self._session.run(None, given)[0][0], dtype=np.float64)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), encoding.ids


def evidence_of(split: str) -> list[Evidence]:
    """The evidence for the pairs of a split, from build/benchmarks when it is there."""
    kept = DATA / f"scifact-{split}.json"
    if not kept.is_file():
        abstracts = abstracts_by_id()
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(Reader(abstracts).evidence, pairs_of(split, abstracts)))
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps([asdict(each) for each in found]), "utf-8")
    return [Evidence(**row) for row in json.loads(kept.read_text("utf-8"))]


def area_under_curve(higher: Values, lower: Values) -> float:
    """The part of all pairs of one value each in which the first is higher; equal ones count half."""
    ordered = np.sort(lower)
    below = np.searchsorted(ordered, higher, "left") + np.searchsorted(ordered, higher, "right")
    return float(below.mean() / (2 * len(lower)))


def print_areas(train: Sequence[Evidence], dev: Sequence[Evidence]) -> None:
    """A row for each score."""
    content = _fitted(train, dev, _CONTENT, "NEI")
    agreement = _fitted(train, dev, _AGREEMENT, "CONTRADICT")
    labels = _labels(dev)
    rows = {
        "cosine of the best window": _matrix(dev, ("cosine",))[:, 0],
        "and words shared": _fitted(train, dev, _OVERLAP, "NEI"),
        "content: and cross-encoder, tokens": content,
        "agreement: against the claim turned round": agreement,
        "support: content and agreement": content + agreement,
    }
    print_table(
        ["score", "SUPPORT against NEI", "SUPPORT against CONTRADICT"],
        [[name, *(_area(scores, labels, other) for other in ("NEI", "CONTRADICT"))] for name, scores in rows.items()],
    )


def print_passed(train: Sequence[Evidence], dev: Sequence[Evidence], pairs: Sequence[Pair]) -> None:
    """What passes at the threshold that nine in ten supported training claims reach, beside what else may decide."""
    scores = {
        name: _fitted(train, evidence, _CONTENT, "NEI") + _fitted(train, evidence, _AGREEMENT, "CONTRADICT")
        for name, evidence in (("train", train), ("dev", dev))
    }
    threshold = np.quantile(scores["train"][_labels(train) == "SUPPORT"], 1 - _PASSING)
    verifier = Verifier(CrossEncoder())
    rows = {
        f"similarity >= {LEAST_SIMILARITY}": _matrix(dev, ("cosine",))[:, 0] >= LEAST_SIMILARITY,
        "support, threshold from training": scores["dev"] >= threshold,
        "the check of answers": np.array([_is_shown(verifier, pair) for pair in pairs]),
    }
    labels = _labels(dev)
    shares = [[name, *(f"{passed[labels == label].mean():.3f}" for label in _LABELS)] for name, passed in rows.items()]
    print_table(["what passes", *_LABELS], shares)


def _is_shown(verifier: Verifier, pair: Pair) -> bool:
    paper = paper_of(PaperRecord(abstract=" ".join(pair.sentences), position=1), "scifact")
    return verifier.check(pair.claim, [paper], [paper], SourceNumbers([])).shown


def _labels(evidence: Sequence[Evidence]) -> NDArray[np.str_]:
    return np.array([each.label for each in evidence])


def _fitted(train: Sequence[Evidence], dev: Sequence[Evidence], signals: Sequence[str], other: str) -> Values:
    """Log odds of SUPPORT against `other` for `dev`, by a logistic regression on `train`."""
    known = [each for each in train if each.label in ("SUPPORT", other)]
    matrix = _matrix(known, signals)
    mean, deviation = matrix.mean(axis=0), matrix.std(axis=0) + 1e-9
    weights = _regression((matrix - mean) / deviation, np.array([each.label == "SUPPORT" for each in known], float))
    scores: Values = weights[0] + (_matrix(dev, signals) - mean) / deviation @ weights[1:]
    return scores


def _regression(matrix: Values, wanted: Values) -> Values:
    """Weights by Newton's method, the first that of a constant, which alone is not drawn towards 0."""
    inputs = np.column_stack([np.ones(len(matrix)), matrix])
    penalty = np.diag([0.0] + [_PENALTY] * matrix.shape[1])
    weights = np.zeros(inputs.shape[1])
    for _ in range(30):
        odds = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (odds - wanted) + penalty @ weights
        weights -= np.linalg.solve(inputs.T @ (inputs * (odds * (1 - odds))[:, None]) + penalty, slope)
    return weights


def _matrix(evidence: Sequence[Evidence], signals: Sequence[str]) -> Values:
    return np.array([[each.signals[name] for name in signals] for each in evidence])


def _area(scores: Values, labels: NDArray[np.str_], other: str) -> str:
    """The area with its 95 % bootstrap interval."""
    higher, lower = scores[labels == "SUPPORT"], scores[labels == other]
    random = np.random.default_rng(0)
    areas = [
        area_under_curve(random.choice(higher, len(higher)), random.choice(lower, len(lower)))
        for _ in range(_RESAMPLES)
    ]
    low, high = np.percentile(areas, [2.5, 97.5])
    return f"{area_under_curve(higher, lower):.3f} ({low:.3f}–{high:.3f})"


def main() -> None:
    """Prints the areas under the curve on the development claims."""
    train, dev = evidence_of("train"), evidence_of("validation")
    print_environment(f"SciFact: fitted on {len(train)} pairs of claim and abstract, reported on {len(dev)}")
    print_areas(train, dev)
    print_passed(train, dev, pairs_of("validation", abstracts_by_id()))


if __name__ == "__main__":
    main()
