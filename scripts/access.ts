import { PipelineError } from '../data/errors.ts'
import { isLoopback, type Access } from '../rewards/service/access.ts'

/** Who may reach what is served at a host: elsewhere than on loopback only those with a token. `remedy` says how to give one. */
export const accessFor = (host: string, token: string | undefined, remedy: string): Access => {
  const loopbackOnly = isLoopback(host)
  if (token === '') throw new PipelineError('usage', 'the token is empty', { remedy })
  if (!loopbackOnly && token === undefined)
    throw new PipelineError('usage', `--host ${host} is reached from other machines, and there is no token`, { remedy })
  return { token: token ?? null, loopbackOnly }
}
