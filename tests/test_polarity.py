"""What the benchmark on SciFact rests on: claims turned round, directions and the area under the curve."""

import numpy as np
import pytest

from benchmarks.polarity import direction, is_denied, turned
from benchmarks.scifact import area_under_curve


@pytest.mark.parametrize(
    ("claim", "other", "way"),
    [
        ("APOE4 increases tau.", "APOE4 decreases tau.", "opposite"),
        ("APOE4 does not increase tau.", "APOE4 does increase tau.", "denial removed"),
        ("The cell is round.", "The cell is not round.", "denial added"),
        ("Cells divide.", "Cells divide.", "not turned"),
    ],
)
def test_a_claim_is_turned_round(claim: str, other: str, way: str) -> None:
    assert turned(claim) == (other, way)


@pytest.mark.parametrize(
    ("sentence", "way"), [("It raises the risk.", 1), ("It lowers the risk.", -1), ("It lowers high risk.", 0)]
)
def test_a_direction_is_that_of_most_words(sentence: str, way: int) -> None:
    assert direction(sentence) == way


def test_a_denial_is_recognised() -> None:
    assert is_denied("It isn't round.")
    assert not is_denied("It is round.")


def test_the_area_counts_pairs_in_order() -> None:
    assert area_under_curve(np.array([2.0, 3.0]), np.array([0.0, 1.0])) == 1
    assert area_under_curve(np.array([1.0, 1.0]), np.array([1.0])) == 0.5
    assert area_under_curve(np.array([0.0, 2.0]), np.array([1.0])) == 0.5
