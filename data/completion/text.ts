/** How many code points of unbroken text count as one word: keeps an endless "word" from passing as short. */
const CODE_POINTS_PER_WORD = 16

/** The white space of JavaScript's `\s` with the u flag, from U+00A0 on. */
const WIDE_SPACES = new Set([
  0x00a0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028,
  0x2029, 0x202f, 0x205f, 0x3000, 0xfeff,
])

const isSpace = (code: number): boolean =>
  code <= 0x20 ? code === 0x20 || (code >= 0x09 && code <= 0x0d) : code >= 0xa0 && WIDE_SPACES.has(code)

/** True for a low surrogate that completes the code point begun by the unit before it. */
const completesPair = (text: string, index: number): boolean => {
  const code = text.charCodeAt(index)
  if (code < 0xdc00 || code > 0xdfff || index === 0) return false
  const before = text.charCodeAt(index - 1)
  return before >= 0xd800 && before <= 0xdbff
}

/** Code points of a string; a lone surrogate is one. Linear. */
export const countCodePoints = (text: string): number => {
  let count = text.length
  for (let i = 1; i < text.length; i += 1) if (completesPair(text, i)) count -= 1
  return count
}

/**
 * Length of a text in words: the larger of its runs of non-white-space and its non-white-space code points
 * divided by 16, rounded up. The second term measures languages and tricks without spaces. Linear.
 */
export const countWords = (text: string): number => {
  let runs = 0
  let codePoints = 0
  let inRun = false
  for (let i = 0; i < text.length; i += 1) {
    if (isSpace(text.charCodeAt(i))) {
      inRun = false
    } else {
      if (!inRun) runs += 1
      inRun = true
      if (!completesPair(text, i)) codePoints += 1
    }
  }
  return Math.max(runs, Math.ceil(codePoints / CODE_POINTS_PER_WORD))
}

/** True when nothing but white space is in the text. */
export const isBlank = (text: string): boolean => {
  for (let i = 0; i < text.length; i += 1) if (!isSpace(text.charCodeAt(i))) return false
  return true
}
