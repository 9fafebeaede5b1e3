"""Trains with TRL's GRPOTrainer on the rewards of a running service.

    drift-grpo build-pool --world 200 --out my-pool
    drift-grpo serve-rewards --config tiny.yaml --pool my-pool/pool.jsonl
    PYTHONPATH=trainer/python .venv/trl/bin/python trainer/python/examples/train_with_trl.py \
        --pool my-pool/pool.jsonl --service http://127.0.0.1:8200

Prints TRL's metrics of every step, one JSON object a line.
"""

import argparse
import json
import os
from pathlib import Path

from datasets import Dataset
from peft import LoraConfig
from transformers import TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from grpo_rewards import RewardService, reward_functions


def read_data_set(pool: Path) -> Dataset:
    """One row a training prompt: its messages, and the id by which the service knows it."""
    prompts = [json.loads(line) for line in pool.read_text().splitlines()]
    rows = [{"prompt": p["messages"], "drift_prompt": p["id"]} for p in prompts if p["split"] == "train"]
    return Dataset.from_list(rows)


class PrintMetrics(TrainerCallback):
    """One JSON object a step on stdout."""

    def on_log(self, args, state, control, logs=None, **kwargs):
        """Called by the trainer with everything that it measured."""
        print(json.dumps({"step": state.global_step, **(logs or {})}), flush=True)


def main() -> None:
    """Reads the command line and trains."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", type=Path, required=True, help="pool.jsonl, the same that the service has opened")
    parser.add_argument("--service", required=True, help="address of the reward service")
    parser.add_argument("--model", default="data/tiny-base")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out", default="trl-run")
    arguments = parser.parse_args()

    service = RewardService(arguments.service, token=os.environ.get("DRIFT_GRPO_REWARD_TOKEN"))
    functions, weights = reward_functions(service)
    config = GRPOConfig(
        output_dir=arguments.out,
        max_steps=arguments.steps,
        per_device_train_batch_size=16,
        num_generations=4,
        max_completion_length=200,
        temperature=1.0,
        beta=0.04,
        learning_rate=1e-3,
        loss_type="grpo",
        reward_weights=weights,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        bf16=False,
        gradient_checkpointing=False,
    )
    trainer = GRPOTrainer(
        model=arguments.model,
        reward_funcs=functions,
        args=config,
        train_dataset=read_data_set(arguments.pool),
        peft_config=LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"),
        callbacks=[PrintMetrics()],
    )
    trainer.train()


if __name__ == "__main__":
    main()
