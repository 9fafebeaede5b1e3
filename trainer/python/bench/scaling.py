"""Cost of a step as each of its sizes grows, the others held; one JSON line a point."""

import argparse
import statistics
import time

from common import Clock, answer, peak_mb

from grpo_worker.allocator import share_one_arena
from grpo_worker.threads import choose_threads, export_threads

HELD = {"prompt": 300, "completion": 48, "group": 4, "prompts": 2, "rank": 16}
SWEEPS = {
    "prompt": (150, 300, 600, 1200),
    "completion": (24, 48, 96, 192),
    "group": (2, 4, 8, 16),
    "prompts": (1, 2, 4, 8),
    "rank": (4, 16, 64),
}


def main() -> None:
    """Measure every sweep, each point the median of some steps after a first one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    work = parser.parse_args()
    share_one_arena()
    export_threads(choose_threads("auto", work.model))

    from own import Own, random_prompts

    def measure(sizes: dict[str, int], own: Own) -> dict:
        prompts = random_prompts(sizes["prompts"], sizes["prompt"], own.base.vocab_size)
        clock, steps = Clock(), []
        for _ in range(work.rounds + 1):
            clock.parts.clear()
            start = time.process_time()
            own.step(prompts, sizes["group"], sizes["completion"], clock)
            steps.append((time.process_time() - start, dict(clock.parts)))
        middle = {name: statistics.median(parts[name] for _, parts in steps[1:]) for name in ("sample", "update")}
        return {"cpu": statistics.median(cpu for cpu, _ in steps[1:]), "parts": middle}

    for rank in SWEEPS["rank"]:
        own = Own(work.model, rank)
        sweeps = SWEEPS if rank == HELD["rank"] else {"rank": (rank,)}
        for name, values in sweeps.items():
            for value in (rank,) if name == "rank" else values:
                sizes = {**HELD, "rank": rank, name: value}
                answer(sweep=name, value=value, peakMb=peak_mb(), **measure(sizes, own))
        own.close()


if __name__ == "__main__":
    main()
