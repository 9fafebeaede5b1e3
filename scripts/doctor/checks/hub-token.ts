import type { PipelineError } from '../../../data/errors.ts'
import { tokenIdentity, type TokenIdentity } from '../../../data/hub/identity.ts'
import { hubSettings } from '../../../data/hub/settings.ts'
import { fail, ok, skip, warn, type Check } from '../check.ts'
import { wantedFromHub } from './hub.ts'

/** Longer than any hub that is there takes to answer. */
const patience = 10_000

const scopeOf = ({ name, role, writable }: TokenIdentity): string => {
  const push =
    writable === null ? 'push not known' : writable.length === 0 ? 'no push' : `push to ${writable.join(', ')}`
  return `of ${name}, ${role}: ${push}`
}

export const hubTokenCheck: Check = {
  name: 'hub token',
  beforeTraining: false,
  run: async (context) => {
    const settings = hubSettings(context.env)
    const isNeeded = wantedFromHub(context).length > 0
    const { token } = settings
    if (token === null) return skip('none: public repositories can be read; push needs one')
    if (settings.offline) return skip('HF_HUB_OFFLINE is set: the hub is not asked')
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(patience)])
    try {
      return ok(scopeOf(await tokenIdentity({ settings, token, signal })))
    } catch (error) {
      context.signal.throwIfAborted()
      const { message, remedy = 'Check the network and HF_ENDPOINT.' } = error as PipelineError
      // A run that takes nothing from the hub goes without it.
      return (isNeeded ? fail : warn)(signal.aborted ? `${settings.url} does not answer` : message, remedy)
    }
  },
}
