"""What this project's sampling and update cost beside transformers' in the same run; one JSON line.

The yardstick samples with `generate` and trains with one plain row a completion, forward and backward, no
reference pass. Sides take turns; ratios are of CPU seconds, so neither the machine nor its load matters much.
"""

import argparse
import statistics
import time
from collections.abc import Callable

from common import answer

from grpo_worker.allocator import share_one_arena
from grpo_worker.threads import choose_threads, export_threads

PROMPT, COMPLETION, GROUP, PROMPTS = 400, 64, 4, 2


def main() -> None:
    """Alternate, take medians, print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    work = parser.parse_args()
    share_one_arena()
    export_threads(choose_threads("auto", work.model))

    import torch
    from own import Own, random_prompts, session_body
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    own = Own(work.model, 16)
    prompts = random_prompts(PROMPTS, PROMPT, own.base.vocab_size)
    plain = AutoModelForCausalLM.from_pretrained(work.model, dtype=own.base.dtype)
    lora = session_body(16)["lora"]
    config = LoraConfig(r=lora["rank"], lora_alpha=lora["alpha"], target_modules=lora["targetModules"])
    plain = get_peft_model(plain, config)
    ids = torch.tensor(prompts)
    groups: list[dict] = []

    def own_sample() -> None:
        groups[:] = own.sample(prompts, GROUP, COMPLETION, 0)

    def own_update() -> None:
        own.update(groups, PROMPT + GROUP * COMPLETION)

    def plain_sample() -> None:
        plain.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            do_sample=True,
            top_k=0,
            max_new_tokens=COMPLETION,
            min_new_tokens=COMPLETION,
            num_return_sequences=GROUP,
            pad_token_id=0,
        )

    def plain_update() -> None:
        for group in groups:
            rows = torch.tensor([group["promptTokenIds"] + c["tokenIds"] for c in group["completions"]])
            logits = plain(input_ids=rows, use_cache=False, logits_to_keep=COMPLETION + 1).logits[:, :-1]
            logits.log_softmax(-1).gather(-1, rows[:, -COMPLETION:, None]).mean().backward()
        plain.zero_grad(set_to_none=True)

    works = {"sample": own_sample, "plainSample": plain_sample, "update": own_update, "plainUpdate": plain_update}
    rounds = [{name: _cpu(one) for name, one in works.items()} for _ in range(work.rounds + 1)][1:]
    own.close()
    ratios = {
        name: statistics.median(r[name] / r[beside] for r in rounds)
        for name, beside in (("sample", "plainSample"), ("update", "plainUpdate"))
    }
    seconds = {name: statistics.median(r[name] for r in rounds) for name in works}
    answer(ratios=ratios, cpuSeconds=seconds, torch=torch.__version__)


def _cpu(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
