import { probeModel } from '../../../data/hub/model.ts'
import { probePool } from '../../../data/hub/pool.ts'
import { hubSettings } from '../../../data/hub/settings.ts'
import { findModel } from '../../../trainer/services.ts'
import { ok, skip, type Check, type DoctorContext } from '../check.ts'

/** A hub that does not answer within this is not there for a run. */
const patience = 15_000

interface Wanted {
  readonly repo: string
  readonly revision: string
  readonly probe: typeof probeModel
}

/** What a run would load from the hub. */
export const wantedFromHub = ({ config, cwd }: Pick<DoctorContext, 'config' | 'cwd'>): Wanted[] => {
  const { model, worker, sampling, judge, pool } = config
  const loadsPolicy = worker.kind === 'spawn' || sampling.server.kind === 'spawn'
  const models = [
    ...(loadsPolicy ? [model] : []),
    ...(judge.kind === 'llm' && judge.server !== null ? [judge.server] : []),
  ].filter(({ path }) => findModel(path, cwd).kind === 'hub')
  return [
    ...models.map(({ path: repo, revision }) => ({ repo, revision, probe: probeModel })),
    ...(pool.kind === 'hub' ? [{ repo: pool.repo, revision: pool.revision, probe: probePool }] : []),
  ]
}

export const hubCheck: Check = {
  name: 'hub',
  beforeTraining: true,
  run: async (context) => {
    const wanted = wantedFromHub(context)
    if (wanted.length === 0) return skip('nothing comes from the hub')
    const settings = hubSettings(context.env)
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(patience)])
    const found = await Promise.all(
      wanted.map(async ({ repo, revision, probe }) => `${repo} ${await probe({ repo, revision, settings, signal })}`),
    )
    return ok(found.join(', '))
  },
}
