"""The identity of a base model: every file that decides what it computes, and no other."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grpo_worker.base_model import BaseModel
from grpo_worker.info import hash_model

Base = Callable[[str], BaseModel]


@pytest.fixture
def copied(tiny_base: Base, tmp_path: Path) -> BaseModel:
    """A loaded model whose directory may be changed."""
    base = tiny_base("llama")
    directory = tmp_path / "model"
    shutil.copytree(base.path, directory)
    base.path = str(directory)
    return base


def test_the_files_of_a_saved_model_all_count(copied: BaseModel) -> None:
    names = sorted(file.name for file in Path(copied.path).iterdir())
    assert {"config.json", "generation_config.json", "model.safetensors", "tokenizer.json"} <= set(names)
    before = hash_model(copied)
    for name in names:
        file = Path(copied.path, name)
        content = file.read_bytes()
        file.write_bytes(content + b" ")
        assert hash_model(copied) != before, name
        file.write_bytes(content)
    assert hash_model(copied) == before


@pytest.mark.parametrize(
    "name",
    [
        "chat_template.jinja",
        "additional_chat_templates/tool_use.jinja",
        "special_tokens_map.json",
        "added_tokens.json",
        "vocab.json",
        "merges.txt",
        "tokenizer.model",
        "model.safetensors.index.json",
        "pytorch_model.bin",
        "modeling_own.py",
    ],
)
def test_a_file_that_is_added_counts(name: str, copied: BaseModel) -> None:
    before = hash_model(copied)
    file = Path(copied.path, name)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes((file.read_bytes() if file.exists() else b"") + b"x")
    assert hash_model(copied) != before


@pytest.mark.parametrize("name", ["README.md", "LICENSE", "trainer_state.json", "optimizer.pt", ".gitattributes"])
def test_what_changes_nothing_does_not_count(name: str, copied: BaseModel) -> None:
    before = hash_model(copied)
    Path(copied.path, name).write_text("x")
    assert hash_model(copied) == before


def test_neither_the_place_nor_the_order_of_files_counts(copied: BaseModel, tmp_path: Path) -> None:
    before = hash_model(copied)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for file in sorted(Path(copied.path).iterdir(), reverse=True):
        os.link(file, elsewhere / file.name)
    copied.path = str(elsewhere)
    assert hash_model(copied) == before


def test_a_hub_model_is_its_name_and_its_commit(copied: BaseModel) -> None:
    copied.path = "owner/model"
    unknown = hash_model(copied)
    copied.model.config._commit_hash = "0123abc"
    assert hash_model(copied) != unknown
    copied.path = "owner/other"
    assert hash_model(copied) not in (unknown, "")
