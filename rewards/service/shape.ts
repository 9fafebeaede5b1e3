import { endOfString } from './raw-members.ts'

/** Containers inside each other. Far beyond any real body, and shallow enough for whatever recurses over one later. */
export const maxDepth = 64

const QUOTE = 0x22
const COLON = 0x3a
const OPEN = new Set([0x7b, 0x5b])
const CLOSE = new Set([0x7d, 0x5d])

/** Members of one object. No real body comes near it, and reading an object of millions takes a server's whole time. */
export const maxMembers = 10_000

/**
 * What makes a JSON text costly beyond its length: containers nested deeper than `depth`, or an object with more than
 * `members` members; null when nothing does. One pass over the text, before anything is built of it: millions of brackets
 * cost no memory. Of a text that is not JSON it says nothing useful.
 */
export const costlyShape = (
  text: string,
  { depth: mostDepth, members: mostMembers } = { depth: maxDepth, members: maxMembers },
): 'depth' | 'members' | null => {
  /** Members so far, of each object that is open. */
  const counts = [0]
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = endOfString(text, i) - 1
    else if (OPEN.has(code)) {
      counts.push(0)
      if (counts.length - 1 > mostDepth) return 'depth'
    } else if (CLOSE.has(code)) {
      if (counts.length > 1) counts.pop()
    } else if (code === COLON) {
      const count = (counts.pop() ?? 0) + 1
      if (count > mostMembers) return 'members'
      counts.push(count)
    }
  }
  return null
}
