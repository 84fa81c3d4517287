"""A writer that is killed leaves a collection that can be used, and nothing has to be done twice."""

from pathlib import Path

import pytest

from benchmarks.crashes import killed_at, prepared_collection


@pytest.mark.parametrize("moment", ["after vectors", "after papers", "after chroma", "before published", "before old"])
def test_a_kill_between_two_steps_of_writing_loses_nothing(tmp_path: Path, moment: str) -> None:
    left = killed_at(prepared_collection(tmp_path), moment)
    assert left.is_sound
    assert left.papers == (230 if moment == "before old" else 30)
    if moment != "after vectors":
        assert left.embedded_again == 0  # all vectors had been kept
    else:
        assert left.embedded_again == 200 - 64
