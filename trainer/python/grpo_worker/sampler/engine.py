"""The sampler behind the routes: names of policies, and jobs on them."""

import time
from dataclasses import dataclass, field
from threading import Lock

from grpo_worker.base_model import BaseModel, linear_layers
from grpo_worker.errors import WorkerError
from grpo_worker.roots import Roots
from grpo_worker.sampler.adapters import BaseShapes, read_adapter
from grpo_worker.sampler.backend import Backend, choose_backend
from grpo_worker.sampler.errors import not_found, user_input
from grpo_worker.sampler.jobs import Job
from grpo_worker.sampler.params import SamplingParams
from grpo_worker.sampler.prompts import check_prompt, check_stop_ids
from grpo_worker.sampler.scheduler import Counters, Scheduler

MAX_RANK = 512


@dataclass(frozen=True)
class Policy:
    """A name that can be sampled from. `root` is the base's path or the adapter's, as it was given."""

    name: str
    root: str
    parent: str | None
    weights: object
    created: int = field(default_factory=lambda: int(time.time()))


class Engine:
    """Embedded sampler over one base model. All methods may be called from any thread.

    Weights of an adapter are read when it is loaded and stay in memory until it is unloaded; its directory
    may go. Requests under way keep the weights they began with.
    """

    def __init__(
        self, base: BaseModel, *, max_rank: int = MAX_RANK, backend: Backend | None = None, roots: Roots | None = None
    ) -> None:
        self.base = base
        self._max_rank = max_rank
        self._roots = roots or Roots()
        self._backend = backend or choose_backend(base)
        self._shapes = _shapes(base)
        self._names = Lock()
        root = Policy(base.served_name, base.path, None, self._backend.policy(None))
        self._policies: dict[str, Policy] = {base.served_name: root}
        self._scheduler = Scheduler(base, self._backend)

    @property
    def alive(self) -> bool:
        """Whether requests are being worked on."""
        return self._scheduler.alive

    @property
    def counters(self) -> Counters:
        """What was computed since the start."""
        return self._scheduler.counters

    def policies(self) -> list[Policy]:
        """All names, the base first, adapters in the order of loading."""
        with self._names:
            return list(self._policies.values())

    def policy(self, name: str) -> Policy:
        """The policy of that name. Raises ApiError 404."""
        with self._names:
            found = self._policies.get(name)
        if found is None:
            raise not_found(f"The model `{name}` does not exist.", "model")
        return found

    def load(self, name: str, path: str, *, replace: bool = False) -> None:
        """Load a PEFT adapter directory under a new name; `replace` also takes a name that is in use.

        Raises ApiError 400 for a bad name, 404 when nothing is at the path, 500 for an unusable adapter.
        """
        self._check_name(name, path, replace)
        pairs = read_adapter(name, path, self._shapes, self._max_rank)
        made = Policy(name, path, self.base.served_name, self._backend.policy(pairs))
        with self._names:
            self._check_free(name, replace)
            self._policies[name] = made

    def unload(self, name: str) -> None:
        """Forget an adapter. Raises ApiError 400 for an empty name, 404 for one that is not loaded."""
        if not name:
            raise user_input("'lora_name' needs to be provided to unload a LoRA adapter.")
        with self._names:
            if name == self.base.served_name or name not in self._policies:
                raise not_found(f"The lora adapter '{name}' cannot be found.")
            del self._policies[name]

    def submit(self, model: str, prompts: list[list[int]], params: SamplingParams) -> list[Job]:
        """Start sampling; each job answers through its future. Raises ApiError for a bad name or prompt."""
        policy = self.policy(model)
        check_stop_ids(params, self.base)
        for prompt in prompts:
            check_prompt(prompt, params, self.base)
        ends = frozenset(self.base.eos_token_ids)
        jobs = [Job(policy.weights, prompt, params, ends) for prompt in prompts]
        self._scheduler.submit(jobs)
        return jobs

    def close(self, wait_seconds: float | None = None) -> None:
        """Stop computing; requests under way fail. Waits at most `wait_seconds` for the step under way."""
        self._scheduler.close(wait_seconds)

    def _check_name(self, name: str, path: str, replace: bool) -> None:
        if not name or not path:
            raise user_input("Both 'lora_name' and 'lora_path' must be provided.")
        if name == self.base.served_name:
            raise user_input(f"The lora adapter '{name}' conflicts with a served base model.")
        try:
            self._roots.check(path)
        except WorkerError as error:
            raise user_input(str(error)) from error
        with self._names:
            self._check_free(name, replace)

    def _check_free(self, name: str, replace: bool) -> None:
        if name in self._policies and not replace:
            raise user_input(
                f"The lora adapter '{name}' has already been loaded. "
                "If you want to load the adapter in place, set 'load_inplace' to True."
            )


def _shapes(base: BaseModel) -> BaseShapes:
    shapes = {name: (layer.out_features, layer.in_features) for name, layer in linear_layers(base).items()}
    return BaseShapes(shapes, base.dtype, base.device)
