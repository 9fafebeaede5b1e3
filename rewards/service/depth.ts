import { endOfString } from './raw-members.ts'

/** Containers inside each other. Far beyond any real body, and shallow enough for whatever recurses over one later. */
export const maxDepth = 64

const QUOTE = 0x22
const OPEN = new Set([0x7b, 0x5b])
const CLOSE = new Set([0x7d, 0x5d])

/**
 * True when a JSON text nests its containers deeper than `limit`. One pass over the text, before anything is built of it:
 * millions of brackets cost no memory. Of a text that is not JSON it says nothing useful.
 */
export const isDeeperThan = (text: string, limit: number): boolean => {
  let depth = 0
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = endOfString(text, i) - 1
    else if (OPEN.has(code)) depth += 1
    else if (CLOSE.has(code)) depth -= 1
    if (depth > limit) return true
  }
  return false
}
