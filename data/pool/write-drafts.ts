import { operationApp, operationName } from '../records/operation.ts'
import type { Trajectory } from '../records/trajectory.ts'
import type { Rng } from '../world/random.ts'
import { chooseDocs } from './docs.ts'
import type { Draft, Origin, Reject } from './draft.ts'
import { joinIds, originOf } from './draft.ts'
import type { Sample, WriteWindow } from './write-window.ts'

/** The first trajectory gives the case; ids of all are kept, because none of them may be in another split. */
const joinedOrigin = (main: Trajectory, samples: readonly Sample[], mistake: boolean): Origin => {
  const trajectories = samples.map(({ trajectory }) => trajectory)
  const payloads = trajectories.flatMap(({ payloadId }) => payloadId ?? [])
  return {
    ...originOf(main, null, mistake),
    taskId: joinIds(trajectories.map(({ taskId }) => taskId)),
    payloadId: payloads.length === 0 ? null : joinIds(payloads),
    trajectoryIds: [...new Set(trajectories.map(({ id }) => id))].toSorted(),
  }
}

const shown = (samples: readonly Sample[]): string[] => samples.map((sample) => sample.shown)

const labelled = (samples: readonly Sample[]): boolean => samples.every(({ trajectory }) => trajectory.labelled)

/** search_api: the apps of a list of writes. The target follows the list, also where upstream put a read into it. */
export const appsDraft = (
  trajectory: Trajectory,
  own: readonly Sample[],
  window: WriteWindow,
  rng: Rng,
  mistakeShare: number,
): Draft<'n3'> => {
  const writes = window.combine(own, rng)
  const stray = rng.chance(mistakeShare) ? window.anyRead(rng) : null
  const listed = stray === null || writes.some((write) => write.shown === stray.shown) ? writes : [...writes, stray]
  const operations = shown(listed)
  const apps = [...new Set(operations.map(operationApp))].toSorted()
  return {
    node: 'n3',
    group: !labelled(listed) ? 'unlabelled' : apps.length === 1 ? 'one_app' : 'several_apps',
    input: { writes: operations },
    facts: { node: 'n3', writes: operations },
    target: labelled(listed) ? { node: 'n3', apps } : null,
    origin: joinedOrigin(trajectory, listed, listed.length > writes.length),
  }
}

const riskGroup = (reversible: number, total: number): string =>
  reversible === 0 ? 'none_reversible' : reversible === total ? 'all_reversible' : 'mixed'

/** evaluate_risk: a partition of writes on the documentation shown. Undocumented writes are left out. */
export const riskDraft = (
  trajectory: Trajectory,
  own: readonly Sample[],
  window: WriteWindow,
  rng: Rng,
  hideShare: number,
  reject: Reject,
): Draft<'n4'> | null => {
  const chosen = window.combine(own, rng)
  const writes = chosen.filter(({ doc }) => doc !== null)
  if (writes.length < chosen.length) reject({ node: 'n4', reason: 'undocumented_write_left_out' })
  if (writes.length === 0) return null
  const docs = writes.flatMap(({ doc }) => doc ?? [])
  const known = [...new Set(writes.map((write) => write.trajectory.docs))].flat()
  const { lines, inverses } = chooseDocs(docs, known, hideShare, rng)
  const undone = (sample: Sample): boolean => inverses[operationName(sample.shown)] != null
  const reversible = shown(writes.filter(undone))
  const notReversible = shown(writes.filter((sample) => !undone(sample)))
  return {
    node: 'n4',
    group: labelled(writes) ? riskGroup(reversible.length, writes.length) : 'unlabelled',
    input: { writes: shown(writes), docs: lines },
    facts: { node: 'n4', writes: shown(writes), inverses },
    target: labelled(writes) ? { node: 'n4', reversible, notReversible } : null,
    origin: joinedOrigin(trajectory, writes, false),
  }
}
