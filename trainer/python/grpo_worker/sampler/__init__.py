"""The embedded sampler: the subset of vLLM's HTTP routes that the trainer uses, on the worker's own base weights.

Read it in this order: `routes` (HTTP), `bodies` and `params` (what may be asked), `engine` (names and jobs),
`scheduler` (which rows are computed together), `decoder` (the forward pass), `draw` (from logits to tokens).
"""
