"""Write a random tiny model that vLLM takes on a CPU (heads of 32): make_architecture.py llama|qwen2|granite OUT.

The models are those of the worker's own tests; PYTHONPATH must have trainer/python and its tests.
"""

import sys

from conftest import byte_tokenizer, tiny_model


def main() -> None:
    """Save model and tokenizer."""
    architecture, out = sys.argv[1:]
    tiny_model(
        architecture, hidden_size=128, intermediate_size=256, initializer_range=0.06
    ).save_pretrained(out)
    byte_tokenizer().save_pretrained(out)


if __name__ == "__main__":
    main()
