import type { Kill } from './chain.ts'
import { at } from './points.ts'
import { killing } from './through.ts'

/** Each phase of a step before, in and after its exchange, split into runs: each goes through all of its deaths. */
export const grid: Readonly<Record<string, { readonly kills: readonly Kill[]; readonly starts: number | null }>> = {
  'the orchestrator, up to the first update': {
    kills: killing('orchestrator', [
      ...[at.info, at.tokenizing, at.opening('reply'), at.proving('request', 0)],
      ...[at.sampling('request', 0), at.sampling('reply', 0), at.scoring('request'), at.scoring('reply')],
    ]),
    starts: 9,
  },
  'the orchestrator, from an update to the end of its step': {
    kills: killing('orchestrator', [
      ...[at.updating('request', 0), at.updating('sent', 0), at.updating('reply', 0)],
      ...[at.saving('request', 1), at.saving('sent', 1), at.saving('reply', 1), at.loading('request', 1)],
      ...[at.loading('reply', 1), at.proving('reply', 1), at.metrics(0)],
    ]),
    starts: 11,
  },
  'the orchestrator, around a checkpoint': {
    kills: killing('orchestrator', [
      ...[at.checkpointing('request', 2), at.checkpointing('sent', 2), at.checkpointing('reply', 2), at.checkpoint(2)],
      ...[at.restoring('request'), at.restoring('reply'), at.sampling('sent', 2), at.updating('sent', 3)],
    ]),
    starts: 9,
  },
  'the orchestrator, to the end': {
    kills: killing('orchestrator', [
      ...[at.unloading('request', 2), at.checkpointing('reply', 4)],
      ...[at.evaluating('request', 0), at.evaluating('reply', 4), at.evaluation],
    ]),
    starts: 6,
  },
  'the worker': {
    kills: killing('worker', [
      ...[at.updating('request', 0), at.updating('sent', 0), at.updating('reply', 0)],
      ...[at.sampling('request', 1), at.saving('sent', 2), at.checkpointing('sent', 2)],
    ]),
    starts: null,
  },
  'the worker, after a checkpoint': {
    kills: killing('worker', [at.loading('request', 3), at.restoring('reply')]),
    starts: 3,
  },
  // It is waited for, unless it is lost in a check of its own.
  'the sampler': {
    kills: killing('sampler', [
      ...[at.sampling('request', 0), at.sampling('sent', 0), at.loading('sent', 1), at.proving('reply', 1)],
      ...[at.sampling('reply', 1), at.unloading('request', 1), at.evaluating('sent', 4)],
    ]),
    starts: null,
  },
  'the judge': { kills: killing('judge', [at.scoring('request'), at.scoring('sent'), at.scoring('reply')]), starts: 1 },
}
