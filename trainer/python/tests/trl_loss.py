"""TRL's own loss on given tensors: run by test_trl_loss.py in the environment that has TRL.

    python trl_loss.py DIRECTORY

The directory holds `cases.json` (name, model, lossType, ratioKl, beta, clip, length of each), `adapter/` and
`batch.safetensors`; loss and gradients of the adapter are written to `NAME.safetensors`.
"""

import json
import sys
from pathlib import Path

import torch
from datasets import Dataset
from peft import PeftModel
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer


def loss_of(directory: Path, case: dict, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    model = AutoModelForCausalLM.from_pretrained(case["model"], dtype=torch.float32)
    peft = PeftModel.from_pretrained(model, str(directory / "adapter"), is_trainable=True)
    rows = len(batch["advantages"])
    config = GRPOConfig(
        output_dir=str(directory / "trainer"),
        use_cpu=True,
        bf16=False,
        per_device_train_batch_size=rows,
        num_generations=rows,
        max_completion_length=case["length"],
        loss_type=case["lossType"],
        beta=case["beta"],
        epsilon=case["clip"],
        use_bias_correction_kl=case["ratioKl"],
        gradient_checkpointing=False,
        report_to="none",
        disable_tqdm=True,
    )
    trainer = GRPOTrainer(
        model=peft,
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=config,
        train_dataset=Dataset.from_dict({"prompt": ["a"] * rows}),
        processing_class=AutoTokenizer.from_pretrained(case["model"]),
    )
    trainer.current_gradient_accumulation_steps = 1
    trainer.model.train()
    loss = trainer.compute_loss(trainer.model, batch)
    loss.backward()
    made = {name.replace(".default.", "."): p.grad for name, p in trainer.model.named_parameters() if p.requires_grad}
    clipped = torch.tensor(trainer._metrics["train"]["clip_ratio/region_mean"][-1])
    return {**made, "loss": loss.detach(), "clipped": clipped}


def main(directory: Path) -> None:
    batch = load_file(directory / "batch.safetensors")
    for case in json.loads((directory / "cases.json").read_text()):
        save_file(loss_of(directory, case, batch), directory / f"{case['name']}.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
