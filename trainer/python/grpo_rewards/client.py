"""A client of the reward service: one method a route."""

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

RETRIED_STATUS = {502, 503, 504}
FIRST_PAUSE_SECONDS = 0.5


class RewardServiceError(RuntimeError):
    """The service could not be reached, or refused a request."""


@dataclass(frozen=True)
class Component:
    """One component as the service describes it: `weight` times the raw value is what it adds to R."""

    name: str
    weight: float
    low: float
    high: float


@dataclass(frozen=True)
class ScoredCompletion:
    """What the service says about one completion. `raw[name]` is None where that component has no score.

    `unscored` says why there is no total; `unreadable` is true when that will never change: the service cannot read the
    prompt.
    """

    total: float | None
    raw: Mapping[str, float | None]
    unscored: str | None = None
    unreadable: bool = False


class RewardService:
    """The service at `url`. What may pass is tried again `retries` times, with growing pauses; a refusal is not."""

    def __init__(self, url: str, token: str | None = None, timeout_seconds: float = 180, retries: int = 5) -> None:
        if not url.startswith(("http://", "https://")):
            raise RewardServiceError(f"{url!r} is no address of a service: give one such as http://127.0.0.1:8200")
        self.url = url.rstrip("/")
        self.token = token
        self.timeout_seconds = timeout_seconds
        self.retries = retries

    def components(self) -> list[Component]:
        """The components that count under the service's configuration, in its order."""
        described = self._request("/v1/components", None)["components"]
        return [Component(c["name"], c["weight"], c["range"][0], c["range"][1]) for c in described]

    def score(self, prompts: Sequence[Mapping[str, Any]], completions: Sequence[str]) -> list[ScoredCompletion]:
        """Scores completion i of prompt i in one request. A prompt is {"id"} or {"node", "messages", "facts", …}."""
        items = [
            {"id": str(i), "prompt": prompt, "completion": completion}
            for i, (prompt, completion) in enumerate(zip(prompts, completions, strict=True))
        ]
        results = self._request("/v1/score", {"items": items})["results"]
        if [result["id"] for result in results] != [item["id"] for item in items]:
            raise RewardServiceError(f"{self.url}: the results are not those of the request")
        return [_read(result) for result in results]

    def _request(self, path: str, body: object) -> Any:
        """Scoring is idempotent, so a request whose answer was lost may simply be sent again."""
        try:
            request = self._prepare(path, body)
        except ValueError as error:
            raise RewardServiceError(f"{self.url}{path}: {error}") from error
        for attempt in range(self.retries + 1):
            try:
                with urllib.request.urlopen(request, timeout=self.timeout_seconds) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                if error.code not in RETRIED_STATUS or attempt == self.retries:
                    raise RewardServiceError(f"{self.url}{path}: {error.code}, {_reason(error)}") from error
            except (OSError, ValueError, http.client.HTTPException) as error:
                if attempt == self.retries:
                    raise RewardServiceError(f"{self.url}{path}: {error}") from error
            time.sleep(FIRST_PAUSE_SECONDS * 2**attempt)
        raise AssertionError("unreachable")

    def _prepare(self, path: str, body: object) -> urllib.request.Request:
        headers = {"Content-Type": "application/json"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        return urllib.request.Request(self.url + path, data, headers)


def _reason(error: urllib.error.HTTPError) -> str:
    """The service's own words, as far as the answer has them."""
    try:
        return str(json.load(error)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return str(error.reason)


def _read(result: Mapping[str, Any]) -> ScoredCompletion:
    raw = {name: None if score is None else float(score["raw"]) for name, score in result["components"].items()}
    unscored = result["unscored"]
    if unscored is None:
        return ScoredCompletion(result["total"], raw)
    reason = f"{unscored['component']}: {unscored['reason']}"
    return ScoredCompletion(None, raw, reason, unreadable=unscored["component"] not in raw)
