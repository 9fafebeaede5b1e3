"""`python -m grpo_worker`: read the options, fix the thread count, then load torch and serve."""

import argparse
import logging
import os
import signal
import sys
from pathlib import Path

from grpo_worker.allocator import share_one_arena
from grpo_worker.parent import ParentWatch
from grpo_worker.threads import choose_threads, export_threads

log = logging.getLogger("grpo_worker")

CANNOT_START = 3


def main() -> int:
    """Run the worker until it is told to stop; returns the exit code."""
    options = parse(sys.argv[1:])
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    parent = None
    if options.watch_stdin:
        parent = ParentWatch()
        # A terminal sends Ctrl-C to the parent and to us; the parent decides.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    problem = model_problem(options.model)
    if problem is not None:
        log.error("%s", problem)
        return CANNOT_START
    share_one_arena()
    variables = export_threads(choose_threads(options.threads, options.model))
    log.info("threads: %s", ", ".join(f"{name}={value}" for name, value in variables.items()))

    # torch reads OpenMP's variables when it is imported, and these modules import it.
    from grpo_worker.errors import WorkerError
    from grpo_worker.server import serve

    try:
        return serve(options, os.environ.get("DRIFT_GRPO_TOKEN"), parent)
    except WorkerError as error:
        log.error("%s", error)
        return CANNOT_START


def model_problem(model: str) -> str | None:
    """What is wrong with a path at first sight: said at once, not after torch has loaded for seconds."""
    path = Path(model)
    if path.is_dir() and not (path / "config.json").is_file():
        return f"cannot load a causal language model from {path}: it has no config.json"
    if not path.exists() and (path.is_absolute() or model.startswith(".")):
        return f"cannot load a causal language model from {path}: it does not exist"
    return None


def parse(arguments: list[str]) -> argparse.Namespace:
    """Command-line options."""
    parser = argparse.ArgumentParser(prog="grpo_worker", description=__doc__)
    parser.add_argument("--model", required=True, help="directory of a Hugging Face causal language model")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: a free port, named in the ready line")
    parser.add_argument("--served-name", default="base", help="name of the base model on the sampler routes")
    parser.add_argument("--dtype", choices=["auto", "float32", "bfloat16"], default="auto")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--threads", type=_threads, default="auto", help="auto or a number")
    parser.add_argument("--max-context", type=_positive, default=None, help="tokens; default: the model's limit")
    parser.add_argument("--memory-fraction", type=_fraction, default=None, help="largest share of the GPU's memory")
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        help="adapters and states are read and written below it only; may be given again (default: anywhere)",
    )
    parser.add_argument(
        "--watch-stdin", action="store_true", help="exit when stdin ends, and leave Ctrl-C to the parent"
    )
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _threads(text: str) -> str:
    return text if text == "auto" else str(_positive(text))


def _fraction(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError("must be above 0 and at most 1")
    return value


if __name__ == "__main__":
    sys.exit(main())
