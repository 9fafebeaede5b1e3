"""Products with packed weights, and for which models they are made."""

import pytest
import torch
from packing import needs_packing

from grpo_worker.packed import LEAST, MOST, PackedWeight, pack_layer, packing_pays
from grpo_worker.sampler.decoder import ROW_BLOCK

pytestmark = needs_packing


def _random(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("rows", [1, 16, 48, 600])
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_they_are_ordinary_products_ahead_and_back(rows: int, bias: bool) -> None:
    x, weight, gradient = _random(rows, rows, 96), _random(1, 80, 96), _random(2, rows, 80)
    added = _random(3, 80) if bias else None
    layer = pack_layer(weight)
    expected = torch.nn.functional.linear(x, weight, added)
    torch.testing.assert_close(layer.ahead.product(x, added), expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(layer.back.product(gradient), gradient @ weight, rtol=1e-4, atol=1e-4)


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    x, weight = _random(0, 128, 576), PackedWeight(_random(1, 3072, 576))
    alone = weight.product(x[:ROW_BLOCK])
    for rows in range(2 * ROW_BLOCK, 129, ROW_BLOCK):
        assert torch.equal(weight.product(x[:rows])[:ROW_BLOCK], alone)


def test_they_are_for_models_of_a_middle_size_in_float32() -> None:
    wide = torch.zeros(1)
    assert [packing_pays(wide, n) for n in (LEAST, LEAST + 1, MOST, MOST + 1)] == [False, True, True, False]
    assert not packing_pays(wide.bfloat16(), LEAST + 1)
