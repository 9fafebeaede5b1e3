"""Mend vLLM's LoRA on a CPU, in an installed vLLM. Usage: patch_lora.py SITE_PACKAGES

Two faults of the CPU path that the kernels for GPUs do not have. A training never meets them, because it samples from
one policy at a time and scores one prompt at a time; the contract suite does. Only this test rig needs the patches.
"""

import sys
from pathlib import Path

OUTPUT = "    output_tensor[:, : outputs.shape[1]] = scaling * outputs[:]\n"
# A row without an adapter has the index -1, which is taken for the last slot: that adapter is added to the base's rows.
ROWS_WITHOUT_ADAPTER = (
    "    outputs = outputs.masked_fill((lora_indices_tensor < 0).unsqueeze(1), 0)\n",
    OUTPUT,
)

LOGITS = "        # LogitsProcessorWithLoRA always using bgmv.\n"
# The head's adapters are chosen by the rows that are sampled from. Log-probs of a prompt beside other requests have
# other rows, and the engine dies. No adapter of ours has the head in it: nothing is to be added.
ROWS_OF_A_PROMPT = (
    "        if x.size(0) != self.sampler_indices.size(0):\n            return\n",
    LOGITS,
)

PATCHES = {
    "ops/torch_ops/lora_ops.py": ROWS_WITHOUT_ADAPTER,
    "punica_wrapper/punica_cpu.py": ROWS_OF_A_PROMPT,
}


def main() -> None:
    """Patch in place; a file that is patched already stays as it is."""
    lora = Path(sys.argv[1]) / "vllm" / "lora"
    for name, (added, before) in PATCHES.items():
        text = (lora / name).read_text()
        if added + before in text:
            continue
        if text.count(before) != 1:
            raise SystemExit(f"{lora / name} is not the file that this patch knows")
        (lora / name).write_text(text.replace(before, added + before))


if __name__ == "__main__":
    main()
