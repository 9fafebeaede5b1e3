"""Loss and gradients are TRL's on the same tensors, computed by TRL's own code.

TRL lives in an environment of its own, `.venv/trl`, which `node scripts/setup-trl.mjs` makes.
"""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from bodies import loss_config, session_request, update_batch
from safetensors.torch import load_file, save_file
from torch.nn.utils.rnn import pad_sequence

from grpo_worker.adapters import copy_weights, write_adapter
from grpo_worker.base_model import BaseModel
from grpo_worker.loss import token_loss, token_weights
from grpo_worker.policy import load_base
from grpo_worker.protocol import UpdateBatch
from grpo_worker.scoring import prepare, score
from grpo_worker.session import Session, open_session
from grpo_worker.update import pieces_of

TRL_PYTHON = Path(__file__).parents[3] / ".venv/trl/bin/python"
LENGTH = 16
# Our normalisation and KL estimate, and what TRL calls them.
CASES = {
    ("sequence_mean", "k3"): ("grpo", False),
    ("token_mean", "ratio_k3"): ("bnpo", True),
    ("fixed_length", "k3"): ("dr_grpo", False),
}


@dataclass(frozen=True)
class Compared:
    """The worker's side, what both sides were given, and where TRL's answers lie."""

    base: BaseModel
    session: Session
    batch: UpdateBatch
    old: torch.Tensor
    reference: torch.Tensor
    directory: Path


def _session(base: BaseModel) -> Session:
    session = open_session(base, session_request())
    generator = torch.Generator().manual_seed(5)
    for name, parameter in session.peft.named_parameters():
        if "lora_B" in name:
            parameter.data.normal_(0, 0.1, generator=generator)
    return session


def _padded(batch: UpdateBatch, old: list[torch.Tensor], reference: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    """The batch as TRL lays it out: a row a completion, prompts padded on the left."""
    rows = [(group.prompt_token_ids, c) for group in batch.groups for c in group.completions]
    completions = [torch.tensor(c.token_ids) for _, c in rows]
    prompts = [torch.tensor(prompt[::-1]) for prompt, _ in rows]

    def right(values: list[torch.Tensor]) -> torch.Tensor:
        return pad_sequence(values, batch_first=True).contiguous()

    def left(values: list[torch.Tensor]) -> torch.Tensor:
        return right(values).flip(1).contiguous()

    return {
        "prompt_ids": left(prompts),
        "prompt_mask": left([torch.ones_like(p) for p in prompts]),
        "completion_ids": right(completions),
        "completion_mask": right([torch.ones_like(c) for c in completions]),
        "advantages": torch.tensor([c.advantage for _, c in rows]),
        "old_per_token_logps": right(old),
        "ref_per_token_logps": right(reference),
        "num_items_in_batch": torch.tensor(sum(len(c) for c in completions)),
    }


@pytest.fixture(scope="module")
def compared(tiny_model_dir: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """Old and reference log-probs lie around the policy's, so that some tokens are clipped."""
    if not TRL_PYTHON.exists():
        pytest.skip("no .venv/trl: node scripts/setup-trl.mjs makes it")
    directory = tmp_path_factory.mktemp("trl")
    base = load_base(str(tiny_model_dir("llama")))
    session, batch = _session(base), update_batch()
    micro = prepare(base, pieces_of(batch))
    with torch.no_grad():
        logprobs = score(base, micro).logprobs
    drift = torch.randn(len(logprobs), 2, generator=torch.Generator().manual_seed(11)) * 0.3
    old, reference = (logprobs[:, None] + drift).unbind(1)
    (directory / "adapter").mkdir()
    write_adapter(session.peft, copy_weights(session.peft), directory / "adapter")
    given = _padded(batch, *(list(x.split(micro.lengths)) for x in (old, reference)))
    save_file(given, directory / "batch.safetensors")
    common = {"model": base.path, "beta": loss_config().beta, "clip": loss_config().clip_low, "length": LENGTH}
    cases = [
        {**common, "name": ours[0], "lossType": loss_type, "ratioKl": ratio}
        for ours, (loss_type, ratio) in CASES.items()
    ]
    (directory / "cases.json").write_text(json.dumps(cases))
    script = Path(__file__).parent / "trl_loss.py"
    done = subprocess.run([TRL_PYTHON, script, directory], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Compared(base, session, batch, old, reference, directory)


@pytest.mark.parametrize(("normalization", "kl"), CASES)
def test_loss_and_gradients_are_those_of_trl(normalization: str, kl: str, compared: Compared) -> None:
    config = loss_config(normalization=normalization, kl=kl, fixedLength=LENGTH)
    micro = prepare(compared.base, pieces_of(compared.batch))
    scored = score(compared.base, micro)
    repeats = torch.tensor(micro.lengths)
    advantages = torch.tensor([c.advantage for g in compared.batch.groups for c in g.completions])
    spread = advantages.repeat_interleave(repeats)
    losses = token_loss(scored.logprobs, compared.old, compared.reference, spread, config)
    loss = (losses.loss * torch.tensor(token_weights(micro.lengths, config)).repeat_interleave(repeats)).sum()
    names = [n.replace(".default.", ".") for n, p in compared.session.peft.named_parameters() if p.requires_grad]
    ours = dict(zip(names, torch.autograd.grad(loss, compared.session.parameters), strict=True))

    theirs = load_file(compared.directory / f"{normalization}.safetensors")
    assert theirs.pop("clipped") > 0.1
    assert torch.allclose(loss.detach(), theirs.pop("loss"), rtol=1e-5)
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        assert float((gradient - theirs[name]).norm()) <= 1e-4 * float(theirs[name].norm()), name
