"""The row decoder with the attention that it uses on other devices than the CPU."""

import pytest
import torch

from grpo_worker.attention import attend_grouped
from grpo_worker.prefix import Row
from grpo_worker.row_decoder import RowDecoder


def attend_as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the test ends, attention goes the way that is taken on GPUs."""

    def attend(
        self: RowDecoder, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, row: Row, *, last: bool
    ) -> torch.Tensor:
        heads = (x.transpose(0, 1)[None] for x in (q, k, v))
        return attend_grouped(*heads, row.layout, self.spec.attention_scale, last=last)[0]

    monkeypatch.setattr(RowDecoder, "_attend", attend)
