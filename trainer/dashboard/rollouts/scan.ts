const marks = {
  prompt: Buffer.from('"promptTokenIds":['),
  tokens: Buffer.from('"tokenIds":['),
  logprobs: Buffer.from('"logprobs":['),
} as const
const [closing, comma] = [0x5d, 0x2c]

/** A line of a rollout file without its arrays of numbers, which are most of its bytes, and how long they were. */
export interface LightLine {
  readonly value: unknown
  readonly promptTokens: number
  /** By completion. */
  readonly tokens: readonly number[]
}

const countItems = (bytes: Buffer, start: number, end: number): number => {
  if (start === end) return 0
  let count = 1
  for (let at = start; at < end; at++) if (bytes[at] === comma) count++
  return count
}

/**
 * Parses a line after cutting the arrays of token ids and log-probs out of it. Inside a JSON string a quotation mark always
 * has a backslash before it, so the marks, which hold two of them, are never part of a text.
 */
export const parseLight = (line: Buffer): LightLine => {
  const parts: Buffer[] = []
  const tokens: number[] = []
  let promptTokens = 0
  let from = 0
  const cut = (mark: Buffer): number => {
    const found = line.indexOf(mark, from)
    if (found === -1) return -1
    const start = found + mark.length
    const end = line.indexOf(closing, start)
    if (end === -1) return -1
    parts.push(line.subarray(from, start))
    from = end
    return mark === marks.logprobs ? 0 : countItems(line, start, end)
  }
  const first = cut(marks.prompt)
  if (first !== -1) promptTokens = first
  for (let count = cut(marks.tokens); count !== -1; count = cut(marks.tokens)) {
    tokens.push(count)
    cut(marks.logprobs)
  }
  parts.push(line.subarray(from))
  return { value: JSON.parse(Buffer.concat(parts).toString('utf8')), promptTokens, tokens }
}
