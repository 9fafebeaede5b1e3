export interface Piece {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Words, runs of space, and single signs: put together again they are the text. */
export const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []

/** Beyond so many cells a comparison would hold the page up. */
const mostCells = 4_000_000

const commonTable = (a: readonly string[], b: readonly string[]): Uint16Array[] => {
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--) {
    const [row, below] = [table[i], table[i + 1]]
    if (row === undefined || below === undefined) continue
    for (let j = b.length - 1; j >= 0; j--)
      row[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0)
  }
  return table
}

const push = (pieces: Piece[], kind: Piece['kind'], text: string): void => {
  const last = pieces.at(-1)
  if (text === '') return
  if (last?.kind === kind) pieces[pieces.length - 1] = { kind, text: last.text + text }
  else pieces.push({ kind, text })
}

/** Walks through two runs of words that begin and end differently. */
const pushDifferences = (pieces: Piece[], x: readonly string[], y: readonly string[]): void => {
  const table = commonTable(x, y)
  const at = (i: number, j: number): number => table[i]?.[j] ?? 0
  let [i, j] = [0, 0]
  while (i < x.length && j < y.length) {
    if (x[i] === y[j]) {
      push(pieces, 'same', x[i] ?? '')
      i++
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) push(pieces, 'removed', x[i++] ?? '')
    else push(pieces, 'added', y[j++] ?? '')
  }
  push(pieces, 'removed', x.slice(i).join(''))
  push(pieces, 'added', y.slice(j).join(''))
}

const sharedStart = (a: readonly string[], b: readonly string[]): number => {
  let count = 0
  while (count < a.length && count < b.length && a[count] === b[count]) count++
  return count
}

/** Word by word, by a longest common subsequence. Texts too long for that are shown as wholly exchanged where they differ. */
export const diffWords = (before: string, after: string): Piece[] => {
  const [a, b] = [wordsOf(before), wordsOf(after)]
  const start = sharedStart(a, b)
  const end = sharedStart(a.slice(start).toReversed(), b.slice(start).toReversed())
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  const pieces: Piece[] = []
  push(pieces, 'same', a.slice(0, start).join(''))
  if (x.length * y.length <= mostCells) pushDifferences(pieces, x, y)
  else {
    push(pieces, 'removed', x.join(''))
    push(pieces, 'added', y.join(''))
  }
  push(pieces, 'same', a.slice(a.length - end).join(''))
  return pieces
}
