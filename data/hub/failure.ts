import { HubApiError } from '@huggingface/hub'
import { PipelineError } from '../errors.ts'
import type { HubSettings } from './settings.ts'

/** What was tried: the same status means something else for either. */
export type HubAction = 'read' | 'write' | 'identify'

const remedies: Readonly<Record<HubAction, Readonly<Record<number, string>>>> = {
  read: {
    401: 'Set HF_TOKEN to a token that may read it, or correct the name: the hub does not tell a private repository from none.',
    403: 'The token may not read it: accept the licence on its page, or use a token with that scope.',
    404: 'Correct the name or the revision.',
  },
  write: {
    401: 'The hub refuses the token: set HF_TOKEN to a valid one with write access (drift-grpo doctor shows what a token may do).',
    403: 'The token may not write there: use one with write access to that owner, or push to a repository of your own.',
    404: 'Correct the name: the owner does not exist, or the token does not see the repository.',
    409: 'Somebody changed the repository meanwhile: push again.',
    412: 'Somebody changed the repository meanwhile: push again.',
  },
  identify: { 401: 'The hub refuses the token: set HF_TOKEN to a valid one, or unset it.' },
}

const limited = 'The hub limits how often it is asked: wait as long as it says, then try again.'
const faulty = 'The hub itself has a fault: try again later.'
const unreachable: Readonly<Record<HubAction, string>> = {
  read: 'Check the network and HF_ENDPOINT, or fetch it elsewhere and copy the cache (HF_HUB_OFFLINE=1 asks nobody).',
  write: 'Check the network and HF_ENDPOINT, then push again: what arrived already is not sent twice.',
  identify: 'Check the network and HF_ENDPOINT.',
}

const remedyOf = (status: number | undefined, action: HubAction, { token }: HubSettings): string | undefined => {
  if (token !== null && !token.startsWith('hf_')) return 'HF_TOKEN holds something else: correct or unset it.'
  if (status === undefined) return unreachable[action]
  if (status === 429) return limited
  return remedies[action][status] ?? (status >= 500 ? faulty : undefined)
}

/** Tokens do not belong into messages, wherever they came from. */
export const redact = (text: string, { token }: Pick<HubSettings, 'token'>): string =>
  token === null ? text : text.replaceAll(token, '***')

/** Status of the hub's answer; undefined where it gave none. */
export const statusOf = (error: unknown): number | undefined =>
  error instanceof HubApiError ? error.statusCode : undefined

/** Says what failed and what to do. A PipelineError goes through as it is. */
export const hubFailure = (
  what: string,
  error: unknown,
  settings: HubSettings,
  action: HubAction = 'read',
): PipelineError => {
  if (error instanceof PipelineError) return error
  const status = statusOf(error)
  const { message, cause } = error as Error
  const reason = cause instanceof Error ? `${message}: ${cause.message}` : message
  const remedy = remedyOf(status, action, settings)
  return new PipelineError('setup', redact(`${what} failed: ${reason}`, settings), {
    ...(remedy === undefined ? {} : { remedy }),
    retryable: status === undefined || status >= 500 || status === 429,
  })
}
