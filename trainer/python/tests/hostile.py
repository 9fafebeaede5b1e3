"""Bodies that were right and are spoilt in one or two places: further into the code than random bytes ever come."""

import copy
import json
from typing import Any

from hypothesis import strategies as st

# Texts of JSON, so that also what no parser gives back can be said.
VALUES = [
    "null",
    "true",
    "-1",
    "0",
    "1.5",
    "1e400",
    "-1e400",
    "1e308",
    "-1e308",
    "9007199254740993",
    "1" + "0" * 30,
    "1" * 5000,
    "NaN",
    "Infinity",
    '""',
    '"text"',
    '"7"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"' + "x" * 5000 + '"',
    '"../../outside"',
    "[]",
    "{}",
    "[[]]",
    "[null]",
    '["\\udfff"]',
    '{"__proto__": 1, "constructor": {}}',
    "[" * 200 + "]" * 200,
    "[" * 100_000 + "]" * 100_000,
]
PLACEHOLDER = "@@spoilt@@"
PIECES = [b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r\n", b",", b'"', b"[", b"}", b"\\", b"\xed\xa0\x80"]


def places(value: Any, path: tuple = ()) -> list[tuple]:
    """Every place in a body that can be replaced: of long lists the first three."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def _put(body: Any, path: tuple, text: str) -> str:
    """The body as text with `text` at the path."""
    if not path:
        return text
    body = copy.deepcopy(body)
    owner = body
    for key in path[:-1]:
        owner = owner[key]
    owner[path[-1]] = PLACEHOLDER
    return json.dumps(body).replace(f'"{PLACEHOLDER}"', text)


def _twice(body: Any, path: tuple, text: str) -> str:
    """The body with a key given twice, or with one that nobody knows."""
    if not path or not isinstance(path[-1], str):
        return text
    whole = json.dumps(body)
    return whole.replace(f'"{path[-1]}":', f'"{path[-1]}": {text}, "{path[-1]}":', 1)


def _damaged(text: bytes, at: float, piece: bytes | None) -> bytes:
    cut = int(at * len(text))
    return text[:cut] if piece is None else text[:cut] + piece + text[cut:]


def spoilt(body: Any) -> st.SearchStrategy[bytes]:
    """Bytes that a careless or a malicious client may send in place of the body."""
    how = st.sampled_from([_put, _put, _put, _twice])
    text = st.builds(
        lambda f, path, value: f(body, path, value), how, st.sampled_from(places(body)), st.sampled_from(VALUES)
    )
    raw = text.map(str.encode)
    pieces = st.sampled_from([None, *PIECES])
    damaged = st.builds(_damaged, st.just(json.dumps(body).encode()), st.floats(0, 1), pieces)
    return st.one_of(raw, raw, damaged, st.binary(max_size=40))
