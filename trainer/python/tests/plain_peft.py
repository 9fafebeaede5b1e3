"""A bare program, none of ours in it: transformers and PEFT load a base and an adapter directory and score tokens.

Reads from stdin a JSON list of {"model", "adapter" (null: none), "items": [{"promptTokenIds", "tokenIds"}]} and writes
one list of log-prob lists, in the same order. Run it with `python -I`, so that nothing else can be imported.
"""

import json
import sys

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM


@torch.no_grad()
def logprobs(model: torch.nn.Module, prompt: list[int], tokens: list[int]) -> list[float]:
    """Natural log-prob of each token, given what is before it."""
    logits = model(input_ids=torch.tensor([prompt + tokens])).logits[0, len(prompt) - 1 : -1].float()
    return logits.log_softmax(-1).gather(1, torch.tensor(tokens)[:, None])[:, 0].tolist()


def score(job: dict) -> list[list[float]]:
    """Log-probs of every item of a job."""
    model = AutoModelForCausalLM.from_pretrained(job["model"], dtype=torch.float32)
    if job["adapter"] is not None:
        model = PeftModel.from_pretrained(model, job["adapter"])
    model.eval()
    return [logprobs(model, item["promptTokenIds"], item["tokenIds"]) for item in job["items"]]


if __name__ == "__main__":
    json.dump([score(job) for job in json.load(sys.stdin)], sys.stdout)
    assert not [name for name in sys.modules if name.startswith("grpo_worker")]
