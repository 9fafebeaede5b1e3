const mark = (characters: number): string => `[… ${characters} characters cut]`

/** Cuts on code points: a pair of surrogates is never halved. */
const points = (text: string): string[] => Array.from(text)

const cutMiddle = (text: string, limit: number): string => {
  if (text.length <= limit) return text
  const all = points(text)
  if (all.length <= limit) return text
  const head = Math.ceil((limit * 2) / 3)
  const tail = limit - head
  return `${all.slice(0, head).join('')} ${mark(all.length - limit)} ${all.slice(all.length - tail).join('')}`
}

const cutEnd = (text: string, limit: number): string => {
  const all = points(text)
  return all.length <= limit ? text : `${all.slice(0, limit).join('')} ${mark(all.length - limit)}`
}

const cutStart = (text: string, limit: number): string => {
  const all = points(text)
  return all.length <= limit ? text : `${mark(all.length - limit)} ${all.slice(all.length - limit).join('')}`
}

/**
 * Shortens text to about `limit` characters and says how many are missing. A `keep` span that occurs in the text
 * stays, whole up to twice the limit, with what is left of the limit around it.
 */
export const cutText = (text: string, limit: number, keep: string | null = null): string => {
  if (text.length <= limit) return text
  const at = keep === null || keep === '' ? -1 : text.indexOf(keep)
  if (keep === null || at < 0) return cutMiddle(text, limit)
  const around = Math.max(0, limit - keep.length)
  const before = cutStart(text.slice(0, at), Math.ceil(around / 2))
  const after = cutEnd(text.slice(at + keep.length), Math.floor(around / 2))
  return before + cutMiddle(keep, limit * 2) + after
}
