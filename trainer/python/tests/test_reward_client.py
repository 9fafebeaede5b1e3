"""The client of the reward service, against a server that answers what a test wants."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from grpo_rewards import RewardService, RewardServiceError, client, reward_functions

COMPONENTS = [
    {"name": "json_valid", "description": "", "weight": 1.0, "range": [0, 1], "needs": "completion"},
    {"name": "xml_count", "description": "", "weight": 0.5, "range": [-1, 1], "needs": "completion"},
    {"name": "judge", "description": "", "weight": 1.0, "range": [0, 1], "needs": "verdict"},
]


def result(item: dict[str, Any]) -> dict[str, Any]:
    """Scores by what the completion says: `broken` is one that the judge fails on."""
    text = item["completion"]
    failed = "broken" in text

    def component(raw: float, weight: float) -> dict[str, Any]:
        return {"raw": raw, "weight": weight, "weighted": raw * weight, "detail": ""}

    components = {"json_valid": component(1, 1), "xml_count": component(-1, 0.5), "judge": component(len(text) / 10, 1)}
    return {
        "id": item["id"],
        "total": None if failed else 0.5 + len(text) / 10,
        "components": {**components, **({"judge": None} if failed else {})},
        "unscored": {"component": "judge", "reason": "down"} if failed else None,
    }


# In place of a status: an answer that breaks off.
HALF = -1


class Recorded:
    """What a stub server was asked, and how it is to answer the next requests."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.failures: list[int] = []
        self.answer: Callable[[dict[str, Any]], Any] = lambda body: {"results": [result(i) for i in body["items"]]}
        self.url = ""


@contextmanager
def serving(recorded: Recorded) -> Iterator[Recorded]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(200, {"components": COMPONENTS})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            recorded.bodies.append(body)
            recorded.headers.append(dict(self.headers))
            if recorded.failures:
                status = recorded.failures.pop(0)
                if status == 0:
                    self.connection.close()
                    return
                if status == HALF:
                    self.send_response(200)
                    self.send_header("content-length", "1000")
                    self.end_headers()
                    self.wfile.write(b'{"results": [')
                    self.close_connection = True
                    return
                self.reply(status, {"error": {"code": "some", "message": "in its own words"}})
            else:
                self.reply(200, recorded.answer(body))

        def reply(self, status: int, value: Any) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    recorded.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield recorded
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    monkeypatch.setattr(client, "FIRST_PAUSE_SECONDS", 0.0)
    with serving(Recorded()) as recorded:
        yield recorded


PROMPTS = [[{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]] * 2
IDS = ["0123456789abcdef", "fedcba9876543210"]


def turn(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def test_one_function_a_component_with_its_name_and_weight(stub: Recorded) -> None:
    functions, weights = reward_functions(RewardService(stub.url))
    assert [function.__name__ for function in functions] == ["json_valid", "xml_count", "judge"]
    assert weights == [1.0, 0.5, 1.0]


def test_all_functions_share_one_request_a_batch(stub: Recorded) -> None:
    functions, weights = reward_functions(RewardService(stub.url))
    asked = {"prompts": PROMPTS, "completions": [turn("abc"), turn("abcde")], "drift_prompt": IDS}
    # Fresh lists for each function: what counts is what is in them.
    values = [function(**json.loads(json.dumps(asked)), completion_ids=[[1], [2]]) for function in functions]
    assert values == [[1, 1], [-1, -1], [0.3, 0.5]]
    assert len(stub.bodies) == 1
    assert stub.bodies[0]["items"][1] == {"id": "1", "prompt": {"id": IDS[1]}, "completion": "abcde"}
    totals = [sum(w * v for w, v in zip(weights, row, strict=True)) for row in zip(*values, strict=True)]
    assert totals == pytest.approx([0.8, 1.0])


def test_another_batch_is_another_request(stub: Recorded) -> None:
    functions, _ = reward_functions(RewardService(stub.url))
    for text in ("abc", "abcd", "abc"):
        functions[2](prompts=PROMPTS[:1], completions=[turn(text)], drift_prompt=IDS[:1])
    assert [body["items"][0]["completion"] for body in stub.bodies] == ["abc", "abcd", "abc"]


def test_a_completion_without_a_reward_is_none_everywhere(stub: Recorded) -> None:
    functions, _ = reward_functions(RewardService(stub.url))
    asked = {"prompts": PROMPTS, "completions": [turn("broken"), turn("abcde")], "drift_prompt": IDS}
    assert [function(**asked) for function in functions] == [[None, 1], [None, -1], [None, 0.5]]


def test_only_the_failed_component_is_none_when_that_is_wanted(stub: Recorded) -> None:
    functions, _ = reward_functions(RewardService(stub.url), partial=True)
    asked = {"prompts": PROMPTS, "completions": [turn("broken"), turn("abcde")], "drift_prompt": IDS}
    assert [function(**asked) for function in functions] == [[1, 1], [-1, -1], [None, 0.5]]


@pytest.mark.parametrize("as_text", [True, False])
def test_a_column_may_hold_node_and_facts(stub: Recorded, as_text: bool) -> None:
    functions, _ = reward_functions(RewardService(stub.url), column="task")
    label = {"node": "n3", "facts": {"writes": []}, "target": None}
    column = [json.dumps(label) if as_text else label] * 2
    functions[0](prompts=PROMPTS, completions=[turn("a"), turn("b")], task=column)
    assert stub.bodies[0]["items"][0]["prompt"] == {**label, "messages": PROMPTS[0]}


def test_plain_texts_become_messages(stub: Recorded) -> None:
    functions, _ = reward_functions(RewardService(stub.url))
    functions[0](prompts=["u"], completions=["a"], drift_prompt=[{"node": "n3", "facts": {"writes": []}}])
    item = stub.bodies[0]["items"][0]
    assert item["completion"] == "a"
    assert item["prompt"]["messages"] == [{"role": "system", "content": ""}, {"role": "user", "content": "u"}]


def test_a_missing_column_is_named(stub: Recorded) -> None:
    functions, _ = reward_functions(RewardService(stub.url))
    with pytest.raises(RewardServiceError, match="no column drift_prompt"):
        functions[0](prompts=PROMPTS, completions=[turn("a"), turn("b")], other=IDS)


def test_a_row_that_the_service_cannot_read_ends_the_run(stub: Recorded) -> None:
    def refuse(body: dict[str, Any]) -> dict[str, Any]:
        blank = {c["name"]: None for c in COMPONENTS}
        unscored = {"component": "prompt", "reason": "unknown node"}
        return {
            "results": [
                {"id": i["id"], "total": None, "components": blank, "unscored": unscored} for i in body["items"]
            ]
        }

    stub.answer = refuse
    functions, _ = reward_functions(RewardService(stub.url))
    with pytest.raises(RewardServiceError, match="column drift_prompt: prompt: unknown node"):
        functions[0](prompts=PROMPTS, completions=[turn("a"), turn("b")], drift_prompt=IDS)


def test_an_empty_batch_is_empty(stub: Recorded) -> None:
    functions, _ = reward_functions(RewardService(stub.url))
    assert functions[0](prompts=[], completions=[], drift_prompt=[]) == []


@pytest.mark.parametrize("failures", [[503], [0], [HALF], [502, 0, 504]])
def test_what_may_pass_is_tried_again(stub: Recorded, failures: list[int]) -> None:
    stub.failures = list(failures)
    (scored,) = RewardService(stub.url).score([{"id": "x"}], ["abc"])
    assert scored.total == pytest.approx(0.8)
    assert len(stub.bodies) == len(failures) + 1
    assert all(body == stub.bodies[0] for body in stub.bodies)


def test_it_gives_up_in_the_end(stub: Recorded) -> None:
    stub.failures = [503] * 10
    with pytest.raises(RewardServiceError, match="503, in its own words"):
        RewardService(stub.url, retries=2).score([{"id": "x"}], ["abc"])
    assert len(stub.bodies) == 3


def test_a_refusal_is_not_tried_again(stub: Recorded) -> None:
    stub.failures = [422]
    with pytest.raises(RewardServiceError, match="422, in its own words"):
        RewardService(stub.url).score([{"id": "x"}], ["abc"])
    assert len(stub.bodies) == 1


def test_results_of_another_request_are_refused(stub: Recorded) -> None:
    stub.answer = lambda body: {"results": [result({**body["items"][0], "id": "other"})]}
    with pytest.raises(RewardServiceError, match="not those of the request"):
        RewardService(stub.url).score([{"id": "x"}], ["abc"])


def test_the_token_is_sent(stub: Recorded) -> None:
    RewardService(stub.url, token="sesame").score([{"id": "x"}], ["abc"])
    assert stub.headers[0]["Authorization"] == "Bearer sesame"


@pytest.mark.parametrize(
    ("url", "prompt"), [("127.0.0.1:8200", {"id": "p"}), ("http://127.0.0.1:1", {"id": "p", "weight": float("nan")})]
)
def test_what_cannot_be_sent_is_said_at_once(url: str, prompt: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(client.time, "sleep", pauses.append)
    with pytest.raises(RewardServiceError):
        RewardService(url).score([prompt], ["x"])
    assert pauses == []
