"""Thread count by model size, known before torch is imported."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from grpo_worker.threads import choose_threads, count_parameters, export_threads, physical_cores


def test_parameters_are_counted_from_the_file_headers(tiny_model_dir: Callable[[str], Path]) -> None:
    assert count_parameters(tiny_model_dir("llama")) == 78_272


def test_a_small_model_gets_one_thread_and_a_large_one_all_cores(
    tiny_model_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    save_file({"w": torch.zeros(11_000_000, dtype=torch.uint8)}, tmp_path / "model.safetensors")
    assert choose_threads("auto", str(tiny_model_dir("llama"))) == 1
    assert choose_threads("auto", str(tmp_path)) == physical_cores()
    assert choose_threads("auto", "some/hub-name") == physical_cores()


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 16, b"version https://git-lfs.github.com/spec/v1\n", b"\x09" + bytes(7) + b"{"]
)
def test_of_a_damaged_weight_file_nothing_is_known(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    assert count_parameters(tmp_path) is None


def test_a_number_is_taken_as_it_is() -> None:
    assert choose_threads("3", "anything") == 3


def test_physical_cores_are_at_most_the_logical_ones() -> None:
    assert 1 <= physical_cores() <= (os.cpu_count() or 1)


def test_waiting_is_passive_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {})
    assert export_threads(2) == {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE"}
    os.environ["OMP_WAIT_POLICY"] = "ACTIVE"
    assert export_threads(1)["OMP_WAIT_POLICY"] == "ACTIVE"
