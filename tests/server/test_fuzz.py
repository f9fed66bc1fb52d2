"""A few hundred of the messages of ``fuzz.lsp_messages``, always the same ones."""

from __future__ import annotations

import pytest
from fuzz import lsp_messages


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_server_survives_wrong_messages(seed: int) -> None:
    pytest.importorskip("pygls", reason="the extra `server` is not installed")
    counts = lsp_messages.run(seed, 200)
    assert sum(counts.values()) >= 200
    assert counts["mutated"] > 20 and counts["broken body"] > 20
