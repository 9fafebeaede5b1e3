"""Spoilt bodies on every route that reads one: an answer or a refusal, and the worker is what it was before."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import torch
from bodies import batch_body, session_body
from hostile import spoilt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sampler_kit import PROMPT, write_adapter
from servers import TOKEN, served

from grpo_worker.app import create_app
from grpo_worker.policy import load_base
from grpo_worker.roots import Roots
from grpo_worker.session import close_session
from grpo_worker.worker import Worker

JSON_TYPE = {"Content-Type": "application/json"}
# The server is shared by all examples on purpose: it has to survive them all.
EXAMPLES = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("root")


@pytest.fixture(scope="module")
def worker(tiny_model_dir: Callable[[str], Path], root: Path) -> Worker:
    return Worker(load_base(str(tiny_model_dir("llama"))), "hash", roots=Roots([str(root / "inside")]))


@pytest.fixture(scope="module")
def http(worker: Worker) -> Iterator[httpx.Client]:
    with served(create_app(worker, TOKEN)) as ready:
        yield ready


def state(worker: Worker) -> object:
    """Everything that a refused call must leave as it was."""
    if worker.session is None:
        return [name for name, _ in worker.base.model.named_parameters()]
    weights = torch.cat([p.detach().flatten() for p in worker.session.parameters])
    return worker.session.version, float(weights.double().sum()), list(worker.session.results)


def send(http: httpx.Client, route: str, raw: bytes, kinds: set[str]) -> bool:
    """Whether the call was done; a refusal must be one of `kinds` and in the one shape."""
    answer = http.post(route, content=raw, headers=JSON_TYPE)
    assert http.get("/health").status_code == 200
    if answer.status_code == 200:
        return True
    error = answer.json()["error"]
    assert error["code"] == answer.status_code
    assert error["type"] in kinds, (raw[:300], error)
    assert len(error["message"]) < 20_000
    assert "Traceback" not in error["message"]
    return False


REFUSED = {"InvalidRequest"}


@EXAMPLES
@given(raw=spoilt(session_body()) | spoilt(session_body(targetModules=["q_proj", "v_proj"])))
def test_a_session(raw: bytes, http: httpx.Client, worker: Worker) -> None:
    before = state(worker)
    if send(http, "/session", raw, REFUSED):
        close_session(worker.session)
        worker.session = None
    assert state(worker) == before


@pytest.fixture
def opened(http: httpx.Client, worker: Worker) -> Iterator[None]:
    assert http.post("/session", json=session_body()).status_code == 200
    yield
    close_session(worker.session)
    worker.session = None


@EXAMPLES
@given(raw=spoilt(batch_body()))
def test_an_update(opened: None, raw: bytes, http: httpx.Client, worker: Worker) -> None:
    before = state(worker)
    if send(http, "/update", raw, {*REFUSED, "NonFiniteUpdate", "StaleVersion", "Conflict"}):
        # What was done must have left numbers.
        assert all(bool(p.isfinite().all()) for p in worker.session.parameters)
    else:
        assert state(worker) == before


MESSAGES = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]
ITEMS = [{"promptTokenIds": [5, 6, 7], "tokenIds": [40, 41]}]
READING = [
    ("/tokenize", {"prompts": [{"id": "p", "messages": MESSAGES}]}),
    ("/logprobs", {"version": "base", "items": ITEMS}),
    ("/logprobs", {"version": "current", "items": ITEMS}),
]


@EXAMPLES
@given(call=st.sampled_from(READING).flatmap(lambda call: st.tuples(st.just(call[0]), spoilt(call[1]))))
def test_questions(opened: None, call: tuple[str, bytes], http: httpx.Client, worker: Worker) -> None:
    before = state(worker)
    send(http, *call, REFUSED)
    assert state(worker) == before


def inside(root: Path) -> set[str]:
    return {str(p) for p in root.parent.rglob("*") if (root / "inside") not in p.parents and p != root / "inside"}


PATHS = [
    "x",
    "../x",
    "/x",
    "~/x",
    "~nobody/x",
    "",
    ".",
    "x\x00y",
    "x/" * 3000,
    "y" * 300,
    "y" * 250,
    "/dev/null",
    "/proc/self/x",
]


@EXAMPLES
@given(
    route=st.sampled_from(["/adapters", "/state/save", "/state/load"]),
    path=st.sampled_from(PATHS) | st.text(max_size=20),
    below=st.booleans(),
    raw=st.none() | spoilt({"path": "x"}),
)
def test_paths(
    opened: None, route: str, path: str, below: bool, raw: bytes | None, http: httpx.Client, worker: Worker, root: Path
) -> None:
    before, files = state(worker), inside(root)
    body = json.dumps({"path": f"{root}/inside/{path}" if below else path}).encode()
    send(http, route, raw or body, {*REFUSED, "Conflict", "NotFound"})
    assert inside(root) == files
    assert state(worker) == before


COMPLETION = {
    "model": "base",
    "prompt": PROMPT,
    "n": 2,
    "max_tokens": 3,
    "min_tokens": 2,
    "temperature": 1.0,
    "top_p": 0.9,
    "top_k": 5,
    "seed": 7,
    "logprobs": 1,
    "prompt_logprobs": 1,
    "stop_token_ids": [7],
    "stop": [],
    "logit_bias": {},
    "return_token_ids": True,
}
SAMPLING = [
    ("/v1/completions", COMPLETION),
    ("/v1/completions", {**COMPLETION, "prompt": ["some", "text"]}),
    ("/v1/completions", {**COMPLETION, "prompt": [[5, 6], [7]]}),
    ("/v1/load_lora_adapter", {"lora_name": "a", "lora_path": "/nowhere", "load_inplace": True}),
    ("/v1/unload_lora_adapter", {"lora_name": "a"}),
]
SAMPLER_REFUSED = {"Bad Request", "BadRequestError", "InvalidUserInput", "NotFoundError"}


@settings(EXAMPLES, max_examples=120)
@given(call=st.sampled_from(SAMPLING).flatmap(lambda call: st.tuples(st.just(call[0]), spoilt(call[1]))))
def test_the_samplers_routes(call: tuple[str, bytes], http: httpx.Client) -> None:
    send(http, *call, SAMPLER_REFUSED)
    models = http.get("/v1/models").json()["data"]
    assert [model["id"] for model in models] == ["base"]
    assert http.post("/v1/completions", json=COMPLETION).status_code == 200


@pytest.mark.parametrize("outside", ["{root}/other/a", "{root}/inside/../other/a", "{root}/inside/link/a", "other/a"])
def test_nothing_is_written_or_read_outside_the_roots(
    opened: None, outside: str, http: httpx.Client, root: Path, tiny_model_dir: Callable[[str], Path]
) -> None:
    (root / "inside").mkdir(exist_ok=True)
    (root / "other").mkdir(exist_ok=True)
    (root / "inside/link").unlink(missing_ok=True)
    (root / "inside/link").symlink_to(root / "other")
    path = outside.format(root=root)
    for route in ("/adapters", "/state/save", "/state/load"):
        answer = http.post(route, json={"path": path})
        assert (answer.status_code, answer.json()["error"]["type"]) == (422, "InvalidRequest")
        assert "--root" in answer.json()["error"]["message"]
    write_adapter(tiny_model_dir("llama"), root / "other/sound")
    sound = {"lora_name": "a", "lora_path": str(Path(path).parent / "sound")}
    refused = http.post("/v1/load_lora_adapter", json=sound)
    assert (refused.status_code, refused.json()["error"]["type"]) == (400, "InvalidUserInput")
    assert sorted(p.name for p in (root / "other").iterdir()) == ["sound"]


def test_below_a_root_everything_works(opened: None, http: httpx.Client, root: Path) -> None:
    (root / "inside").mkdir(exist_ok=True)
    adapter, saved = f"{root}/inside/good", f"{root}/inside/deep/er/state"
    assert http.post("/adapters", json={"path": adapter}).status_code == 200
    assert http.post("/state/save", json={"path": saved}).status_code == 200
    assert http.post("/state/load", json={"path": saved}).status_code == 200
    loaded = http.post("/v1/load_lora_adapter", json={"lora_name": "good", "lora_path": adapter})
    assert loaded.status_code == 200
    assert http.post("/v1/unload_lora_adapter", json={"lora_name": "good"}).status_code == 200


def test_a_home_directory_is_written_where_it_was_looked_for(
    opened: None, http: httpx.Client, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "inside").mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(root / "inside"))
    monkeypatch.chdir(root)
    for path in ("~/adapter", "~/state"):
        route = "/adapters" if path == "~/adapter" else "/state/save"
        assert http.post(route, json={"path": path}).json()["path"] == path
    assert http.post("/state/load", json={"path": "~/state"}).status_code == 200
    assert not (root / "~").exists()
    assert {"adapter", "state"} <= {place.name for place in (root / "inside").iterdir()}


# Bodies that once got an answer of the kind "the program failed", or left a session half open.
KNOWN = [
    ("/session", json.dumps(session_body()).replace('"seed": 3', '"seed": 1' + "0" * 30)),
    ("/session", json.dumps(session_body()).replace("[0.9, 0.999]", "[1.0, 1e308]")),
    ("/session", json.dumps(session_body(rank=10**15))),
    ("/adapters", r'{"path": "a\u0000b"}'),
    ("/adapters", json.dumps({"path": "y" * 300})),
    ("/state/save", json.dumps({"path": "x/" * 3000})),
    ("/state/load", json.dumps({"path": "~nobody/x"})),
    ("/v1/completions", "[" * 100_000),
    ("/v1/completions", r'{"model": "\ud800", "prompt": [5]}'),
    ("/v1/completions", r'{"prompt": "\uDFFF"}'),
    ("/v1/load_lora_adapter", r'{"lora_name": "\udc00"}'),
]


@pytest.mark.parametrize(("route", "body"), KNOWN, ids=[f"{route} {body[-30:]}" for route, body in KNOWN])
def test_what_once_failed(route: str, body: str, http: httpx.Client, worker: Worker) -> None:
    before = state(worker)
    if route != "/session":
        assert http.post("/session", json=session_body()).status_code == 200
    assert not send(http, route, body.encode(), REFUSED | SAMPLER_REFUSED)
    if worker.session is not None:
        close_session(worker.session)
        worker.session = None
    assert state(worker) == before
