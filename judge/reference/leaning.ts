/** Which way a piece of text leans about a step; `silent` when it says nothing recognisable, or both at once. */
export type Leaning = 'aligned' | 'off_task' | 'silent'

const phrases = (list: string): string =>
  list
    .split('|')
    .map((phrase) => phrase.trim().replaceAll(' ', String.raw`\s+`))
    .join('|')

/** Speaks for the step, unless negated. */
const FOR = phrases(
  `part of|on task|on-task|on the task|serves?|serving|fits?|belongs?|helps?|needed|required|in line|match(?:es)?|
  follows?|within the task|for the task|advances?|aligned|related|what the task|to do with|supports?|as asked|as requested`,
)
/** Speaks against the step, unless negated. */
const AGAINST = phrases(
  `drift(?:s|ed|ing)?|off task|off-task|off the task|unrelated|unrequested|unasked|misaligned|unaligned|outside|
  leaves the task|left the task|somebody else(?:'s)?|someone else(?:'s)?|strays?`,
)
/** Says something about the step only when negated ("never asked for"): otherwise it merely tells what the task is. */
const ASKED = phrases('asks?|asked|requests?|requested|wants?|wanted|mentions?|mentioned')

const CUES = new RegExp(String.raw`\b(?:(?<for>${FOR})|(?<against>${AGAINST})|(?<asked>${ASKED}))\b`, 'giu')
const NEGATIONS = new Set(
  `not never no nothing nobody without only isn't doesn't didn't wasn't don't cannot`.split(' '),
)
/** How many words before a cue a negation still reaches it, and in how many characters they are looked for. */
const REACH = 4
const WINDOW = 100

const CLAUSE_END = /[.!?;:,](?=\s|$)|\n|\b(?:but|while|so|because|although|whereas)\b/iu

const isNegated = (clause: string, at: number): boolean =>
  clause
    .slice(Math.max(0, at - WINDOW), at)
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== '')
    .slice(-REACH)
    .some((word) => NEGATIONS.has(word))

const clauseLeaning = (clause: string): Leaning => {
  const found = new Set<Leaning>()
  for (const match of clause.matchAll(CUES)) {
    const negated = isNegated(clause, match.index)
    if (match.groups?.['asked'] === undefined || negated) {
      const speaksFor = (match.groups?.['for'] !== undefined) !== negated && match.groups?.['asked'] === undefined
      found.add(speaksFor ? 'aligned' : 'off_task')
    }
  }
  const [only] = found
  return found.size === 1 && only !== undefined ? only : 'silent'
}

/**
 * Reads the leaning of a text from a closed list of cues and their negations; the last clause that leans decides,
 * because conclusions come last. It recognises words, not meaning.
 */
export const leaningOf = (text: string): Leaning =>
  text
    .split(CLAUSE_END)
    .map(clauseLeaning)
    .findLast((leaning) => leaning !== 'silent') ?? 'silent'
