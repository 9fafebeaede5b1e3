"""Nothing that comes with a model or a checkpoint is executed."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from bodies import session_request
from safetensors.torch import load_file

from grpo_worker.errors import WorkerError
from grpo_worker.files import sha256_file
from grpo_worker.policy import load_base
from grpo_worker.protocol import PathRequest
from grpo_worker.worker import Worker


class Planted:
    """Creates a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple:
        return (Path.touch, (self.marker,))


@pytest.mark.parametrize("kind", ["model_type", "known"])
def test_code_that_comes_with_a_model(kind: str, tiny_model_dir: Callable[[str], Path], tmp_path: Path) -> None:
    model, marker = tmp_path / "model", tmp_path / "ran"
    shutil.copytree(tiny_model_dir("llama"), model)
    code = f"from pathlib import Path\nPath({str(marker)!r}).touch()\n"
    for name in ("configuration_own.py", "modeling_own.py", "tokenization_own.py"):
        (model / name).write_text(code)
    config = json.loads((model / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "configuration_own.C", "AutoModelForCausalLM": "modeling_own.M"}
    if kind == "model_type":
        config["model_type"] = "own"
    (model / "config.json").write_text(json.dumps(config))
    tokenizer = json.loads((model / "tokenizer_config.json").read_text())
    tokenizer["auto_map"] = {"AutoTokenizer": ["tokenization_own.T", None]}
    (model / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    if kind == "known":
        # An architecture of the library's own is loaded from the library.
        assert load_base(str(model)).model.config.model_type == "llama"
    else:
        with pytest.raises(WorkerError, match="cannot load a causal language model"):
            load_base(str(model))
    assert not marker.exists()


def _saved(worker: Worker, path: Path) -> PathRequest:
    request = PathRequest(path=str(path))
    worker.open(session_request())
    worker.save(request)
    return request


def _replace_optimizer(state: Path, content: bytes) -> None:
    """Whoever can write to a checkpoint can write its checksums too."""
    (state / "optimizer.pt").write_bytes(content)
    saved = json.loads((state / "session.json").read_text())
    saved["optimizerSha256"] = sha256_file(state / "optimizer.pt")
    (state / "session.json").write_text(json.dumps(saved))


@pytest.mark.parametrize("how", ["pickle", "torch", "noise", "other"])
def test_what_is_pickled_in_a_checkpoint(how: str, tiny_worker: Callable[[str], Worker], tmp_path: Path) -> None:
    worker, marker = tiny_worker("llama"), tmp_path / "ran"
    request = _saved(worker, tmp_path / "state")
    planted = {"optimizer": Planted(marker), "random": torch.get_rng_state()}
    contents = tmp_path / "contents"
    if how == "torch":
        torch.save(planted, contents)
    elif how == "other":
        torch.save([torch.zeros(1)], contents)
    else:
        contents.write_bytes(pickle.dumps(planted) if how == "pickle" else b"noise")
    _replace_optimizer(tmp_path / "state", contents.read_bytes())
    before = worker.session
    with pytest.raises(WorkerError, match=r"optimizer\.pt") as refused:
        worker.load(request)
    assert refused.value.kind == "InvalidRequest"
    assert not marker.exists()
    # The open session is the one that was open.
    assert worker.session is before
    adapter = worker.save_adapter(PathRequest(path=str(tmp_path / "adapter")))
    assert adapter["version"] == 0
    assert load_file(tmp_path / "adapter/adapter_model.safetensors")
