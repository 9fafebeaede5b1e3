import { isBlank } from './text.ts'

/** The four tags in the order a completion must have them. Exact ASCII: no case folding, no XML semantics. */
const TAGS = ['<reasoning>', '</reasoning>', '<answer>', '</answer>'] as const

/** What stands between the tags of an ordered envelope. */
export interface EnvelopeBody {
  readonly reasoning: string
  readonly answer: string
  /** Only white space stands between `</reasoning>` and `<answer>`. */
  readonly adjacent: boolean
  /** Nothing but the prescribed line feeds stands around and between the tags, and the reasoning is not blank. */
  readonly strict: boolean
}

/** The one reading of a completion's envelope. Everybody who consumes a completion uses this one. */
export interface Envelope {
  /** Occurrences of each tag, without overlap, in the order of the tags. */
  readonly counts: readonly [number, number, number, number]
  /** Text after the last `</answer>`, trimmed; empty without such a tag. */
  readonly trailing: string
  /** Null unless each tag occurs exactly once and they come in order: there is no repair and no first-wins. */
  readonly body: EnvelopeBody | null
}

interface Occurrences {
  readonly count: number
  readonly first: number
}

const find = (text: string, tag: string): Occurrences => {
  const first = text.indexOf(tag)
  let count = 0
  for (let at = first; at !== -1; at = text.indexOf(tag, at + tag.length)) count += 1
  return { count, first }
}

/** True for a line feed, any text, and another line feed. */
const isOwnLines = (text: string): boolean => text.length >= 2 && text.startsWith('\n') && text.endsWith('\n')

const isStrict = ({ before, reasoning, gap, answer, after }: Readonly<Record<Part, string>>): boolean =>
  before === '' &&
  gap === '\n' &&
  (after === '' || after === '\n') &&
  isOwnLines(reasoning) &&
  isOwnLines(answer) &&
  !isBlank(reasoning)

type Part = 'before' | 'reasoning' | 'gap' | 'answer' | 'after'

/** Reads the envelope of a completion: tags are searched as plain text and counted; linear time, never throws. */
export const parseEnvelope = (text: string): Envelope => {
  const [open, close, answerOpen, answerClose] = [
    find(text, TAGS[0]),
    find(text, TAGS[1]),
    find(text, TAGS[2]),
    find(text, TAGS[3]),
  ]
  const counts = [open.count, close.count, answerOpen.count, answerClose.count] as const
  const trailing = answerClose.count === 0 ? '' : text.slice(text.lastIndexOf(TAGS[3]) + TAGS[3].length).trim()
  const ordered =
    counts.every((count) => count === 1) &&
    open.first < close.first &&
    close.first < answerOpen.first &&
    answerOpen.first < answerClose.first
  if (!ordered) return { counts, trailing, body: null }
  const reasoning = text.slice(open.first + TAGS[0].length, close.first)
  const gap = text.slice(close.first + TAGS[1].length, answerOpen.first)
  const answer = text.slice(answerOpen.first + TAGS[2].length, answerClose.first)
  const [before, after] = [text.slice(0, open.first), text.slice(answerClose.first + TAGS[3].length)]
  const strict = isStrict({ before, reasoning, gap, answer, after })
  return { counts, trailing, body: { reasoning, answer, adjacent: isBlank(gap), strict } }
}
