/** Tools re-wrap and escape what they return: white space of the injection may have become any of these. */
const gap = String.raw`(?:\s|\\[nrt]|\\(?=\s))+`

const patterns = new Map<string, RegExp | null>()

const escapeWord = (word: string): string =>
  word
    .replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`)
    // Quotes are doubled in YAML and escaped in JSON.
    .replace(/['"]/g, String.raw`(?:\\?['"]){1,2}`)

const patternOf = (injection: string): RegExp | null => {
  const known = patterns.get(injection)
  if (known !== undefined) return known
  const words = injection.split(/\s+/).filter((word) => word !== '')
  const pattern = words.length === 0 ? null : new RegExp(words.map(escapeWord).join(gap))
  patterns.set(injection, pattern)
  return pattern
}

/** The part of an observation that shows an injected text, exactly as it stands there; null when it does not occur. */
export const findInjection = (observation: string, injections: readonly string[]): string | null => {
  for (const injection of injections) {
    const match = patternOf(injection)?.exec(observation)
    if (match != null && match[0] !== '') return match[0]
  }
  return null
}
