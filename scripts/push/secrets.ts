import { PipelineError } from '../../data/errors.ts'

/** Forms in which keys are handed out. */
const forms: Readonly<Record<string, RegExp>> = {
  'a token of the hub': /\bhf_[A-Za-z0-9]{20,}/,
  'an API key': /\b(?:sk|gsk|xai|rk)[-_](?:[a-z]+[-_])*[A-Za-z0-9_-]{20,}/,
  'a GitHub token': /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})/,
  'an AWS key': /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  'a password in an address': /:\/\/[^/\s:@"]+:[^/\s@"]+@/,
  'a private key': /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
}

const secretName = /(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|CREDENTIALS?)$/i
/** Shorter values are words that may stand anywhere. */
const shortestValue = 12

/** Values of the environment that nobody else is to see, whatever their form. */
export const secretValues = (env: NodeJS.ProcessEnv, token: string | null): string[] => {
  const named = Object.entries(env).flatMap(([name, value = '']) => (secretName.test(name) ? [value.trim()] : []))
  return [...named, ...(token === null ? [] : [token])].filter((value) => value.length >= shortestValue)
}

const kindOf = (text: string, values: readonly string[]): string | undefined =>
  values.some((value) => text.includes(value))
    ? 'a secret of the environment'
    : Object.entries(forms).find(([, form]) => form.test(text))?.[0]

/** Throws a usage error that names the place, not the secret, where a line holds what looks like one. */
export const refuseSecrets = (place: string, line: string, values: readonly string[]): void => {
  const kind = kindOf(line, values)
  if (kind === undefined) return
  throw new PipelineError('usage', `${place} holds what looks like ${kind}; nothing was sent`, {
    remedy: 'Remove it, and give the secret out anew if this file was ever shared.',
  })
}
