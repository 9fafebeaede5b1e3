/** A number as it was written: `7`, `7.0` and `7e0` are three different texts. */
export class JsonNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type JsonObject = ReadonlyMap<string, JsonValue>
export type JsonValue = string | boolean | null | JsonNumber | readonly JsonValue[] | JsonObject

/** A parsed object and where it ends in the text, or why there is none. */
export type JsonResult =
  | { readonly ok: true; readonly value: JsonObject; readonly end: number }
  | { readonly ok: false; readonly reason: string }

/** Containers inside each other, the root included. Also what keeps the recursion below shallow on any input. */
const MAX_DEPTH = 32

class JsonFault extends Error {}

const fail = (reason: string, at: number): never => {
  throw new JsonFault(`${reason} at character ${at}`)
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const LITERALS: readonly (readonly [string, boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]

/** One pass over the text. Objects become Maps, so `__proto__` and `constructor` are keys like any other. */
class Reader {
  readonly text: string
  at: number

  constructor(text: string, at: number) {
    this.text = text
    this.at = at
  }

  /** Skips JSON white space (space, tab, line feed, carriage return) and returns the next code unit, NaN at the end. */
  peek(): number {
    for (;;) {
      const code = this.text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code
      this.at += 1
    }
  }

  value(depth: number): JsonValue {
    const code = this.peek()
    if (code === QUOTE) return this.string()
    if (code === OPEN_BRACE) return this.object(depth + 1)
    if (code === OPEN_BRACKET) return this.array(depth + 1)
    for (const [word, literal] of LITERALS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length
        return literal
      }
    }
    return this.number()
  }

  object(depth: number): JsonObject {
    this.enter(depth)
    const members = new Map<string, JsonValue>()
    if (this.peek() === CLOSE_BRACE) {
      this.at += 1
      return members
    }
    for (;;) {
      if (this.peek() !== QUOTE) fail('a key was expected', this.at)
      const key = this.string()
      // Compared after unescaping: "a" and "\u0061" are one key.
      if (members.has(key)) fail('duplicate key', this.at)
      if (this.peek() !== COLON) fail('":" was expected', this.at)
      this.at += 1
      members.set(key, this.value(depth))
      if (this.isLast(CLOSE_BRACE)) return members
    }
  }

  array(depth: number): readonly JsonValue[] {
    this.enter(depth)
    const items: JsonValue[] = []
    if (this.peek() === CLOSE_BRACKET) {
      this.at += 1
      return items
    }
    for (;;) {
      items.push(this.value(depth))
      if (this.isLast(CLOSE_BRACKET)) return items
    }
  }

  enter(depth: number): void {
    if (depth > MAX_DEPTH) fail(`more than ${MAX_DEPTH} containers deep`, this.at)
    this.at += 1
  }

  /** Consumes the separator after an item: true at the container's end, false after a comma. */
  isLast(close: number): boolean {
    const code = this.peek()
    if (code !== COMMA && code !== close) fail('"," or the end of the container was expected', this.at)
    this.at += 1
    return code === close
  }

  string(): string {
    const start = this.at
    let escaped = false
    for (let i = start + 1; ;) {
      const code = this.text.charCodeAt(i)
      if (code === QUOTE) {
        this.at = i + 1
        return escaped ? String(JSON.parse(this.text.slice(start, i + 1))) : this.text.slice(start + 1, i)
      }
      if (code === BACKSLASH) {
        ESCAPE.lastIndex = i
        if (!ESCAPE.test(this.text)) fail('invalid escape', i)
        i = ESCAPE.lastIndex
        escaped = true
      } else if (code >= 0x20) i += 1
      else fail(Number.isNaN(code) ? 'unterminated string' : 'control character in a string', i)
    }
  }

  number(): JsonNumber {
    NUMBER.lastIndex = this.at
    if (!NUMBER.test(this.text)) fail('a value was expected', this.at)
    const start = this.at
    this.at = NUMBER.lastIndex
    return new JsonNumber(this.text.slice(start, this.at))
  }
}

/**
 * Reads the RFC 8259 object that starts at `from` (after JSON white space) and says where it ends; what follows is
 * not looked at. Stricter than `JSON.parse`: duplicate keys at any level and more than 32 containers are refused.
 * Linear time; never throws.
 */
export const readJsonObject = (text: string, from = 0): JsonResult => {
  const reader = new Reader(text, from)
  try {
    if (reader.peek() !== OPEN_BRACE) return { ok: false, reason: 'not a JSON object' }
    const value = reader.object(1)
    return { ok: true, value, end: reader.at }
  } catch (error) {
    if (error instanceof JsonFault) return { ok: false, reason: error.message }
    throw error
  }
}

/** Like `readJsonObject`, but the object must be the whole text, with nothing but JSON white space around it. */
export const parseJsonObject = (text: string): JsonResult => {
  const result = readJsonObject(text)
  if (!result.ok) return result
  const rest = new Reader(text, result.end)
  return Number.isNaN(rest.peek()) ? result : { ok: false, reason: `text after the object at character ${rest.at}` }
}
