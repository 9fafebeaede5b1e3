"""Packed weights, also in tiny models."""

import pytest
import torch

from grpo_worker import packed

needs_packing = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this build of torch has no oneDNN")


def pack_from(monkeypatch: pytest.MonkeyPatch, parameters: int) -> None:
    """Until the test ends, models with more parameters than these are packed."""
    monkeypatch.setattr(packed, "LEAST", parameters)
