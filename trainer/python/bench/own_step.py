"""One GRPO step of this project, a step for each line on stdin."""

from common import Clock, answer, make_prompts, measured, options, wait_for_turn

from grpo_worker.allocator import share_one_arena
from grpo_worker.threads import choose_threads, export_threads


def main() -> None:
    """Load, say so, step when told."""
    parser = options(__doc__)
    parser.add_argument("--token-budget", type=int, default=None, help="row places of a micro-batch; default: a group")
    parser.add_argument("--dtype", default="auto")
    work = parser.parse_args()
    share_one_arena()
    threads = choose_threads(work.threads, work.model)
    export_threads(threads)

    # torch reads OpenMP's variables when it is imported.
    import torch
    from own import Own

    from grpo_worker import update

    own, clock = Own(work.model, work.rank, work.dtype), Clock()
    texts = make_prompts(own.base.tokenizer, 2 * work.prompts, work.prompt_tokens)
    prompts = [own.base.tokenizer(text).input_ids for text in texts]
    clock.wrap(update, "_reference", "reference")
    clock.wrap(update, "score", "forward")
    clock.wrap(torch.Tensor, "backward", "backward")
    clock.wrap(own.worker.session.optimizer, "step", "optimizer")
    facts = {"threads": threads, "dtype": str(own.base.dtype), "parameters": own.base.parameters}
    answer(ready=True, torch=torch.__version__, **facts)

    def step(turn: int) -> None:
        chosen = prompts[turn % 2 * work.prompts :][: work.prompts]
        own.step(chosen, work.group, work.completion_tokens, clock, work.token_budget)
        # The reference pass is a forward pass too, and was counted as one.
        clock.parts["forward"] -= clock.parts["reference"]

    turn = 0
    while wait_for_turn():
        measured(clock, lambda turn=turn: step(turn))
        turn += 1
    own.close()


if __name__ == "__main__":
    main()
