import { HubApiError } from '@huggingface/hub'
import { PipelineError } from '../errors.ts'
import type { HubSettings } from './settings.ts'

const remedies: Readonly<Record<number, string>> = {
  401: 'Set HF_TOKEN to a token that may read it, or correct the name: the hub does not tell a private repository from none.',
  403: 'The token may not read it: accept the licence on its page, or use a token with that scope.',
  404: 'Correct the name or the revision.',
}

const unreachable =
  'Check the network and HF_ENDPOINT, or fetch it elsewhere and copy the cache (HF_HUB_OFFLINE=1 asks nobody).'

/** Tokens do not belong into messages, wherever they came from. */
const redact = (text: string, { token }: HubSettings): string => (token === null ? text : text.replaceAll(token, '***'))

/** Says what failed and what to do. A PipelineError goes through as it is. */
export const hubFailure = (what: string, error: unknown, settings: HubSettings): PipelineError => {
  if (error instanceof PipelineError) return error
  const status = error instanceof HubApiError ? error.statusCode : undefined
  const { message, cause } = error as Error
  const reason = cause instanceof Error ? `${message}: ${cause.message}` : message
  return new PipelineError('setup', redact(`${what} failed: ${reason}`, settings), {
    remedy: (status === undefined ? undefined : remedies[status]) ?? unreachable,
    retryable: status === undefined || status >= 500 || status === 429,
  })
}
