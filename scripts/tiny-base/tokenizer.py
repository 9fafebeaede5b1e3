"""The tiny base's tokenizer: byte-level BPE that cuts a value the same way wherever it stands.

- Words, spaces and punctuation are never merged with each other, so `=ana,` and ` ana` share their pieces and a value
  is copied piece by piece. Digits are single.
- The fixed text between the placeholders of the prompt templates is one token each, and so are the fixed lines and
  phrases that the caller names: prompts get short. These tokens are ordinary ones: they decode to their text.
- Every byte has a token, so any text comes back exactly.
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

START, END = "<|im_start|>", "<|im_end|>"

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

# Tried from left to right at each place; what no alternative matches is a piece of its own.
PIECES = "|".join(
    [
        r"<<<data [0-9a-f]{8}\n",  # the two ends of a fence
        r"\n[0-9a-f]{8} data>>>",
        r"[a-z]+\.[a-z_]+",  # app.endpoint, file.txt
        r"\(?(?:, )?[a-z_]+=",  # the name of an argument with what stands before it
        r"[A-Za-z]+",
        r"[0-9]",
        r"\n+",
        r"[^A-Za-z0-9\n]{1,4}",
    ]
)


def template_segments(folder: Path) -> list[str]:
    """The fixed texts of the prompt templates: what stands between `[system]`, `[user]` and the placeholders."""
    segments = set()
    for file in sorted(folder.glob("n*.txt")):
        system, user = file.read_text().removeprefix("[system]\n").split("\n[user]\n")
        segments.add(system)
        segments.update(re.split(r"\{\{\w+\}\}", user.rstrip("\n")))
    return sorted(segment for segment in segments if len(segment) > 3)


ANSWER_PIECES = [
    *("<reasoning>", "</reasoning>", "<answer>", "</answer>"),
    *('"step": ', '"is_aligned": ', '"why": ', '"write_operations": ', '"read_operations": ', '"apps_name": '),
    *('"write_reversible": ', '"write_not_reversible": ', '"action": ', '"arguments": ', '"rollback_to_step": '),
    *('"report": ', "rollback_before_drift", "escalate_human"),
]


def common_lines(texts: Iterable[str], share: float) -> list[str]:
    """Lines of at least 24 characters that occur in this share of the texts or more."""
    texts = list(texts)
    counts = Counter(line for text in texts for line in set(text.split("\n")) if len(line) >= 24)
    return sorted(line for line, count in counts.items() if count >= share * len(texts))


def common_phrases(texts: Iterable[str], names: Iterable[str], share: float) -> list[str]:
    """Wording between names and numbers that occurs in this share of the texts or more.

    A phrase ends at a gap between words, and starts at one or with a capital, so that it never cuts a name.
    """
    texts = list(texts)
    longest_first = sorted(names, key=len, reverse=True)
    names_pattern = "|".join(map(re.escape, longest_first))
    variable = re.compile(rf"[a-z]+\.[a-z_]+|[a-z_]+=|\b(?:{names_pattern})\b|\b[a-z]?\d+\b|\w*_\w*|[<>\n\"{{}}|=()]")
    counts: Counter[str] = Counter()
    for text in texts:
        pieces = (part for piece in variable.split(text) for part in re.split(r"(?<=[.,:;])", piece))
        counts.update({_whole_words(piece) for piece in pieces})
    return sorted(phrase for phrase, count in counts.items() if len(phrase) >= 4 and count >= share * len(texts))


def _whole_words(piece: str) -> str:
    """The part of a piece that can stand anywhere without cutting a word."""
    piece = re.sub(r"[A-Za-z0-9]*$", "", piece)
    return piece if re.match(r"[A-Z][a-z]+ ", piece) else re.sub(r"^[A-Za-z0-9]+", "", piece)


def train_tokenizer(texts: Iterable[str], fixed: Iterable[str], vocab_size: int) -> PreTrainedTokenizerFast:
    """Learns the merges from `texts` and adds one token for each of the `fixed` texts.

    `vocab_size` counts the special tokens, the bytes and the merges; the fixed texts come on top.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    fixed = list(fixed)
    cut = re.compile("|".join(re.escape(text) for text in sorted(fixed, key=len, reverse=True)) or r"(?!)")
    tokenizer.train_from_iterator((piece for text in texts for piece in cut.split(text)), trainer)
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=False) for text in fixed])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=START,
        eos_token=END,
        pad_token=END,
        padding_side="left",
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        model_max_length=2400,
    )
