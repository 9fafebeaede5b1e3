"""LoRA update worker: owns tokenizer, base model, adapter and optimizer, and serves them over HTTP."""

__version__ = "0.1.0"
