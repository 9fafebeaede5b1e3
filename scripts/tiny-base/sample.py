"""Samples from a causal LM in batches: each prompt is read once, its samples share that work."""

import torch
from transformers import DynamicCache, PreTrainedModel


@torch.no_grad()
def sample(
    model: PreTrainedModel, prompts: list[list[int]], group: int, max_new: int, temperature: float = 1.0
) -> list[list[list[int]]]:
    """`group` completions of each prompt, as token ids with the end token if one came. Temperature 0 is greedy."""
    end = model.config.eos_token_id
    longest = max(map(len, prompts))
    ids = torch.full((len(prompts), longest), end)
    mask = torch.zeros(len(prompts), longest, dtype=torch.long)
    for row, prompt in enumerate(prompts):
        ids[row, longest - len(prompt) :] = torch.tensor(prompt)
        mask[row, longest - len(prompt) :] = 1
    cache = DynamicCache(config=model.config)
    positions = (mask.cumsum(1) - 1).clamp(min=0)
    out = model(input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=cache, logits_to_keep=1)
    cache.batch_repeat_interleave(group)
    logits = out.logits[:, -1].repeat_interleave(group, 0)
    mask = mask.repeat_interleave(group, 0)
    next_position = mask.sum(1)
    done = torch.zeros(len(prompts) * group, dtype=torch.bool)
    tokens: list[torch.Tensor] = []
    for step in range(max_new):
        chosen = logits.argmax(-1) if temperature == 0 else _draw(logits, temperature)
        chosen = torch.where(done, end, chosen)
        tokens.append(chosen)
        done |= chosen == end
        if done.all() or step == max_new - 1:
            break
        mask = torch.cat([mask, mask.new_ones(len(mask), 1)], 1)
        logits = model(
            input_ids=chosen[:, None],
            attention_mask=mask,
            position_ids=(next_position + step)[:, None],
            past_key_values=cache,
        ).logits[:, -1]
    rows = [_until(row, end) for row in torch.stack(tokens, 1).tolist()]
    return [rows[i * group : (i + 1) * group] for i in range(len(prompts))]


def _draw(logits: torch.Tensor, temperature: float) -> torch.Tensor:
    return torch.multinomial((logits.float() / temperature).softmax(-1), 1).squeeze(1)


def _until(row: list[int], end: int) -> list[int]:
    return row[: row.index(end) + 1] if end in row else row
