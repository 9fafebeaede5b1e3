"""Adapters, references and servers that the sampler's tests share."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import torch
import uvicorn
from fastapi import FastAPI
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, PreTrainedModel

from grpo_worker.sampler.engine import Engine
from grpo_worker.sampler.jobs import Completed
from grpo_worker.sampler.params import SamplingParams
from grpo_worker.sampler.routes import router

PROMPT = [10, 20, 30, 40]
ALL_LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def write_adapter(
    model_dir: Path, out: Path, *, seed: int = 1, rank: int = 8, targets: list[str] | None = None, rslora: bool = False
) -> Path:
    """Save a random PEFT adapter that changes the model's predictions visibly."""
    model = AutoModelForCausalLM.from_pretrained(model_dir)
    config = LoraConfig(
        r=rank, lora_alpha=2 * rank, target_modules=targets or ALL_LINEAR, task_type="CAUSAL_LM", use_rslora=rslora
    )
    peft = get_peft_model(model, config)
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in peft.named_parameters():
        if "lora_" in name:
            tensor.data.copy_(torch.randn(tensor.shape, generator=generator) * 0.08)
    peft.save_pretrained(out)
    return out


def edit_config(adapter: Path, **changes: object) -> Path:
    """Change fields of an adapter's adapter_config.json."""
    path = adapter / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return adapter


def reference(model_dir: Path, adapter: Path | None = None, dtype: torch.dtype = torch.float32) -> PreTrainedModel:
    """The same policy by transformers and PEFT."""
    model = AutoModelForCausalLM.from_pretrained(model_dir, dtype=dtype)
    return (PeftModel.from_pretrained(model, str(adapter)) if adapter else model).eval()


@torch.no_grad()
def reference_logits(model: PreTrainedModel, prompt: list[int], completion: list[int]) -> torch.Tensor:
    """Logits (len(completion), vocabulary) from which each completion token would be drawn."""
    logits = model(input_ids=torch.tensor([prompt + completion])).logits[0].float()
    return logits[len(prompt) - 1 : -1]


def reference_logprobs(model: PreTrainedModel, prompt: list[int], completion: list[int]) -> list[float]:
    """Log-prob of each completion token."""
    logprobs = reference_logits(model, prompt, completion).log_softmax(-1)
    return logprobs.gather(1, torch.tensor(completion)[:, None])[:, 0].tolist()


def worst(ours: list[float], theirs: list[float]) -> float:
    """Largest absolute difference of two equally long lists."""
    assert len(ours) == len(theirs) > 0
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True))


def sample(engine: Engine, prompts: list[list[int]], params: SamplingParams, model: str = "base") -> list[Completed]:
    """Sample from all prompts at once and wait."""
    return [job.future.result(60) for job in engine.submit(model, prompts, params)]


@contextmanager
def running(engine: Engine) -> Iterator[httpx.Client]:
    """The engine behind a real HTTP server on loopback."""
    app = FastAPI()
    app.include_router(router(engine))
    # A slow machine must not find its idle connections closed between two tests.
    config = uvicorn.Config(app, port=0, log_level="error", lifespan="off", timeout_keep_alive=600)
    server = uvicorn.Server(config)
    ready = threading.Event()
    original = server.startup

    async def startup(sockets=None) -> None:
        await original(sockets=sockets)
        ready.set()

    server.startup = startup
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert ready.wait(30)
    port = server.servers[0].sockets[0].getsockname()[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        yield client
    server.should_exit = True
    thread.join(10)


def ask(client: httpx.Client, **fields: object) -> httpx.Response:
    """POST /v1/completions with the trainer's usual fields."""
    body = {
        "model": "base",
        "prompt": PROMPT,
        "max_tokens": 5,
        "temperature": 1,
        "seed": 7,
        "logprobs": 0,
        "return_token_ids": True,
        "skip_special_tokens": False,
        **fields,
    }
    return client.post("/v1/completions", json=body)


def choices(client: httpx.Client, **fields: object) -> list[dict[str, Any]]:
    """The choices of a request that must succeed."""
    answer = ask(client, **fields)
    assert answer.status_code == 200, answer.text
    return answer.json()["choices"]


def refusal(answer: httpx.Response) -> tuple[int, str, str, str | None]:
    """Status, type, message and param of a refusal in vLLM's shape."""
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["code"] == answer.status_code
    return answer.status_code, error["type"], error["message"], error["param"]
