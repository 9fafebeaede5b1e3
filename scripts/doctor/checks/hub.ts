import { probeModel } from '../../../data/hub/model.ts'
import { hubSettings } from '../../../data/hub/settings.ts'
import { findModel } from '../../../trainer/services.ts'
import { ok, skip, type Check, type DoctorContext } from '../check.ts'

/** A hub that does not answer within this is not there for a run. */
const patience = 15_000

/** Models that a run would load from the hub. */
const hubModels = ({ config, cwd }: DoctorContext) => {
  const { model, worker, sampling, judge } = config
  const loadsPolicy = worker.kind === 'spawn' || sampling.server.kind === 'spawn'
  const wanted = [
    ...(loadsPolicy ? [model] : []),
    ...(judge.kind === 'llm' && judge.server !== null ? [judge.server] : []),
  ]
  return wanted.filter(({ path }) => findModel(path, cwd).kind === 'hub')
}

export const hubCheck: Check = {
  name: 'hub',
  beforeTraining: true,
  run: async (context) => {
    const models = hubModels(context)
    if (models.length === 0) return skip('no model comes from the hub')
    const settings = hubSettings(context.env)
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(patience)])
    const found = await Promise.all(
      models.map(
        async ({ path: repo, revision }) => `${repo} ${await probeModel({ repo, revision, settings, signal })}`,
      ),
    )
    return ok(`${found.join(', ')}; ${settings.token === null ? 'no token' : 'with a token'}`)
  },
}
