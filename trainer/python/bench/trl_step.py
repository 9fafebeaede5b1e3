"""One step of TRL's GRPOTrainer, a step for each line on stdin. Completions have a forced length."""

import tempfile
import time
import warnings

from common import ALPHA, BETA, RATE, Clock, answer, make_prompts, options, report_step, reward, wait_for_turn

from grpo_worker.threads import choose_threads, export_threads


def main() -> None:
    """Load, say so, step when told."""
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, default=4, help="completions of a micro-batch")
    work = parser.parse_args()
    threads = choose_threads(work.threads, work.model)
    export_threads(threads)
    warnings.filterwarnings("ignore")

    import torch
    import transformers
    import trl
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(work.model, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(work.model, dtype=torch.float32)
    clock = Clock()
    completions = work.prompts * work.group

    def score(completion_ids: list[list[int]], **_: object) -> list[float]:
        if {len(ids) for ids in completion_ids} != {work.completion_tokens}:
            raise ValueError("TRL did not sample completions of the forced length")
        return [reward(ids) for ids in completion_ids]

    config = GRPOConfig(
        output_dir=tempfile.mkdtemp(),
        use_cpu=True,
        bf16=False,
        fp16=False,
        per_device_train_batch_size=work.rows,
        gradient_accumulation_steps=completions // work.rows,
        num_generations=work.group,
        max_completion_length=work.completion_tokens,
        beta=BETA,
        loss_type="grpo",
        num_iterations=1,
        temperature=1.0,
        learning_rate=RATE,
        gradient_checkpointing=False,
        max_steps=1000,
        save_strategy="no",
        report_to="none",
        logging_steps=1000,
        disable_tqdm=True,
        shuffle_dataset=False,
        generation_kwargs={"min_new_tokens": work.completion_tokens},
        dataloader_pin_memory=False,
    )
    lora = LoraConfig(r=work.rank, lora_alpha=ALPHA, target_modules="all-linear", task_type="CAUSAL_LM")
    texts = make_prompts(tokenizer, 2 * work.prompts, work.prompt_tokens)

    class Turns(TrainerCallback):
        """Starts a step when told and reports it."""

        def on_step_begin(self, *_: object, **__: object) -> None:
            if not wait_for_turn():
                raise SystemExit(0)
            clock.parts.clear()
            self.wall, self.cpu = time.perf_counter(), time.process_time()

        def on_step_end(self, *_: object, **__: object) -> None:
            report_step(clock, time.perf_counter() - self.wall, time.process_time() - self.cpu)

    trainer = GRPOTrainer(
        model=model,
        reward_funcs=score,
        args=config,
        train_dataset=Dataset.from_dict({"prompt": texts}),
        processing_class=tokenizer,
        peft_config=lora,
    )
    trainer.add_callback(Turns())
    clock.wrap(trainer, "_generate", "sample")
    clock.wrap(trainer, "_generate_and_score_completions", "sample+reference")
    clock.wrap(trainer, "compute_loss", "forward")
    clock.wrap(trainer.accelerator, "backward", "backward")
    answer(ready=True, threads=threads, dtype=str(model.dtype), torch=torch.__version__, trl=trl.__version__)
    trainer.train()


if __name__ == "__main__":
    main()
