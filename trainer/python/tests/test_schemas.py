"""The Python bodies and the JSON schemas generated from the TypeScript records describe the same objects."""

import json
from pathlib import Path

import pytest

import grpo_worker
from grpo_worker import protocol

SCHEMAS = Path(grpo_worker.__file__).parent / "schemas"
NAMES = ["SessionRequest", "UpdateBatch", "UpdateResult"]


def shape(schema: dict, root: dict) -> object:
    """What a schema accepts, leaving out titles, descriptions and number bounds."""
    if "$ref" in schema:
        return shape(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return {"any": sorted((shape(s, root) for s in schema[key]), key=repr)}
    if "const" in schema or "enum" in schema:
        return {"enum": sorted(schema.get("enum", [schema.get("const")]), key=repr)}
    kind = schema["type"]
    if kind == "object":
        return {
            "properties": {name: shape(s, root) for name, s in sorted(schema["properties"].items())},
            "required": sorted(schema.get("required", [])),
            "closed": schema.get("additionalProperties") is False,
        }
    if kind == "array":
        return {"items": [shape(s, root) for s in _items(schema)]}
    return kind


def _items(schema: dict) -> list[dict]:
    items = schema.get("prefixItems")
    return items if items is not None else [schema["items"]]


@pytest.mark.parametrize("name", NAMES)
def test_same_shape_in_both_languages(name: str) -> None:
    file = SCHEMAS / f"{name}.json"
    if not file.is_file():
        pytest.fail(f"{file.name} is not generated: run scripts/gen.ts")
    generated = json.loads(file.read_text())
    ours = getattr(protocol, name).model_json_schema(by_alias=True)
    assert shape(ours, ours) == shape(generated, generated)
