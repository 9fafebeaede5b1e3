"""Write a tiny random Llama and adapters for the sampler contract. Usage: make_models.py OUT

OUT/model is what the server must serve as `base` (context 1024); the adapters are named by what they are:
adapter-1, adapter-2 (sound, rank 8), adapter-dora, adapter-alien, adapter-wide, adapter-cut (each with one fault).
Sizes are such that vLLM takes the model too. The files are written without transformers and PEFT, which take
ten seconds to import.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

END = "<|end|>"
LAYERS, WIDTH, INNER, KEYS = 2, 128, 256, 64
# A token that the random model likes.
COMMON = 237
# Linear layers of one decoder layer: (out, in).
LINEAR = {
    "self_attn.q_proj": (WIDTH, WIDTH),
    "self_attn.k_proj": (KEYS, WIDTH),
    "self_attn.v_proj": (KEYS, WIDTH),
    "self_attn.o_proj": (WIDTH, WIDTH),
    "mlp.gate_proj": (INNER, WIDTH),
    "mlp.up_proj": (INNER, WIDTH),
    "mlp.down_proj": (WIDTH, INNER),
}


def write_json(path: Path, content: dict) -> None:
    """Write one JSON file."""
    path.write_text(json.dumps(content, indent=2))


def save_tokenizer(out: Path) -> int:
    """One token a byte and the end token, which is id 0. Returns the vocabulary's size."""
    vocab = {token: i for i, token in enumerate([END, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([END])
    tokenizer.save(str(out / "tokenizer.json"))
    template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    names = {"eos_token": END, "pad_token": END, "chat_template": template}
    write_json(out / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", **names})
    return len(vocab)


def save_base(out: Path) -> None:
    """Random weights whose predictions are peaky: the final norm is 5."""
    out.mkdir(parents=True)
    size = save_tokenizer(out)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": size,
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "hidden_act": "silu",
        "max_position_embeddings": 1024,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "bos_token_id": None,
        "eos_token_id": 0,
        "pad_token_id": 0,
        "torch_dtype": "float32",
    }
    write_json(out / "config.json", config)
    generator = torch.Generator().manual_seed(7)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator) * 0.06

    tensors = {"model.embed_tokens.weight": draw(size, WIDTH), "lm_head.weight": draw(size, WIDTH)}
    # The end token behaves like a weaker twin of a common one: completions end now and then.
    tensors["lm_head.weight"][0] = 0.7 * tensors["lm_head.weight"][COMMON]
    tensors["model.norm.weight"] = torch.full((WIDTH,), 5.0)
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}"
        tensors |= {f"{prefix}.{name}.weight": draw(*shape) for name, shape in LINEAR.items()}
        for norm in ("input_layernorm", "post_attention_layernorm"):
            tensors[f"{prefix}.{norm}.weight"] = torch.ones(WIDTH)
    save_file(tensors, out / "model.safetensors", metadata={"format": "pt"})


def save_adapter(out: Path, seed: int, rank: int = 8) -> None:
    """A random adapter in PEFT's format that changes predictions by some nats."""
    out.mkdir()
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": rank,
        "lora_alpha": 2 * rank,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": sorted(name.split(".")[1] for name in LINEAR),
        "modules_to_save": None,
        "inference_mode": True,
        "base_model_name_or_path": None,
    }
    write_json(out / "adapter_config.json", config)
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for layer in range(LAYERS):
        for name, (rows, columns) in LINEAR.items():
            prefix = f"base_model.model.model.layers.{layer}.{name}"
            tensors[f"{prefix}.lora_A.weight"] = torch.randn((rank, columns), generator=generator) * 0.06
            tensors[f"{prefix}.lora_B.weight"] = torch.randn((rows, rank), generator=generator) * 0.06
    save_file(tensors, out / "adapter_model.safetensors", metadata={"format": "pt"})


def save_faulty(sound: Path, out: Path) -> None:
    """Copies of a sound adapter with one fault each."""
    for fault in ("dora", "alien", "wide", "cut"):
        shutil.copytree(sound, out / f"adapter-{fault}")
    config = out / "adapter-dora" / "adapter_config.json"
    write_json(config, {**json.loads(config.read_text()), "use_dora": True})
    tensors = load_file(sound / "adapter_model.safetensors")
    alien = {name.replace("q_proj", "zz_proj"): tensor for name, tensor in tensors.items()}
    save_file(alien, out / "adapter-alien" / "adapter_model.safetensors")
    wide = {name: torch.cat([t, t], 1) if "q_proj.lora_A" in name else t for name, t in tensors.items()}
    save_file(wide, out / "adapter-wide" / "adapter_model.safetensors")
    cut = out / "adapter-cut" / "adapter_model.safetensors"
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])


def main() -> None:
    """Write everything below the directory given."""
    out = Path(sys.argv[1])
    save_base(out / "model")
    for seed in (1, 2):
        save_adapter(out / f"adapter-{seed}", seed)
    save_faulty(out / "adapter-1", out)


if __name__ == "__main__":
    main()
