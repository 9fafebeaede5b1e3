const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = new Set([0x7b, 0x5b])
const CLOSE = new Set([0x7d, 0x5d])
const COMMA = 0x2c
const COLON = 0x3a

/** Where the string that starts at `at` ends: the index after its closing quote. */
export const endOfString = (text: string, at: number): number => {
  for (let i = at + 1; ; i += 1) {
    const code = text.charCodeAt(i)
    if (code === BACKSLASH) i += 1
    else if (code === QUOTE || Number.isNaN(code)) return i + 1
  }
}

/** Where the value that starts at `at` ends: the index of the comma or brace after it. */
const endOfValue = (text: string, at: number): number => {
  let depth = 0
  for (let i = at; i < text.length;) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      i = endOfString(text, i)
      continue
    }
    if (OPEN.has(code)) depth += 1
    if (depth === 0 && (code === COMMA || CLOSE.has(code))) return i
    if (CLOSE.has(code)) depth -= 1
    i += 1
  }
  return text.length
}

/**
 * The members of a JSON object as they were written: key to the text of its value, the last of equal keys. For echoing
 * values unchanged: parsing and writing again turns 1.0 into 1 and loses digits of large integers. `text` must be a
 * JSON object that has been parsed before. Linear.
 */
export const rawMembers = (text: string): ReadonlyMap<string, string> => {
  const members = new Map<string, string>()
  let at = text.indexOf('{') + 1
  for (;;) {
    const start = text.indexOf('"', at)
    if (start === -1) return members
    const keyEnd = endOfString(text, start)
    const key = String(JSON.parse(text.slice(start, keyEnd)))
    let valueStart = keyEnd
    while (text.charCodeAt(valueStart) !== COLON) valueStart += 1
    const valueEnd = endOfValue(text, valueStart + 1)
    members.set(key, text.slice(valueStart + 1, valueEnd).trim())
    if (text.charCodeAt(valueEnd) !== COMMA) return members
    at = valueEnd + 1
  }
}
