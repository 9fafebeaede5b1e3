import { XMLParser } from 'fast-xml-parser'

/** What a judge's reply says. `id` is what it copied from the question; null when it has none. */
export type ReadVerdict =
  | { readonly ok: true; readonly score: number; readonly reason: string; readonly id: string | null }
  | { readonly ok: false; readonly problem: string }

const OPENING = '<verdict>'
const CLOSING = '</verdict>'
/** 0, 1 or a plain decimal between them; no sign, no exponent, no comma. */
const SCORE = /^(?:0(?:\.\d{1,20})?|1(?:\.0{1,20})?)$/
/** A reason is one sentence; whatever is longer was not meant as one. */
const REASON_LIMIT = 2000

// Texts are taken as they stand: no entity is resolved, no value converted, and inside a field nothing is markup.
const parser = new XMLParser({
  preserveOrder: true,
  processEntities: false,
  ignoreAttributes: false,
  parseTagValue: false,
  trimValues: false,
  stopNodes: ['verdict.id', 'verdict.score', 'verdict.reason'],
})

/** Any `<` that opens none of the form's own tags is text: "a < b", and comments, character data and attributes too. */
const STRAY = /<(?!\/?(?:verdict|id|score|reason)>)/g
/** A private character stands for it while markup is read. */
const STAND_IN = '\uE000'

const failed = (problem: string): ReadVerdict => ({ ok: false, problem })

const countOf = (text: string, part: string): number => text.split(part).length - 1

/** What follows the thinking; null when it is not clear where that ends. A template may have opened it already. */
const afterThinking = (reply: string): string | null => {
  const end = reply.indexOf('</think>')
  if (end === -1) return reply.includes('<think>') ? null : reply
  const thought = reply.slice(0, end).replace(/^\s*<think>/, '')
  const said = reply.slice(end + '</think>'.length)
  return thought.includes('<think>') || said.includes('think>') ? null : said
}

const textOf = (content: unknown): string => {
  const [first] = content as { '#text'?: unknown }[]
  return typeof first?.['#text'] === 'string' ? first['#text'].replaceAll(STAND_IN, '<').trim() : ''
}

/** The fields of the element, each at most once and with nothing between them; null when there is anything else. */
const fieldsOf = (element: string): ReadonlyMap<string, string> | null => {
  const fields = new Map<string, string>()
  const [verdict] = parser.parse(element.replace(STRAY, STAND_IN)) as { verdict?: Record<string, unknown>[] }[]
  for (const child of verdict?.verdict ?? []) {
    const [[name, content] = ['', '']] = Object.entries(child)
    if (name === '#text') {
      if (String(content).trim() !== '') return null
    } else if (name === 'verdict' || fields.has(name)) return null
    else fields.set(name, textOf(content))
  }
  return fields
}

const parseFields = (element: string): ReadonlyMap<string, string> | null => {
  try {
    return fieldsOf(element)
  } catch {
    // The parser throws plain errors for anything that is not well formed: all of it is "no verdict".
    return null
  }
}

/**
 * Reads the one verdict that ends a reply: `<verdict><score>0.7</score><reason>…</reason></verdict>`, with or without an
 * `<id>`, after any thinking, and nothing but white space behind it. A second verdict or score, a score that is no plain
 * decimal from 0 to 1, or a verdict that is cut off makes it no verdict. Never throws, never repairs.
 */
export const readVerdict = (reply: string): ReadVerdict => {
  const said = afterThinking(reply)
  if (said === null) return failed('its thinking does not end')
  if (countOf(said, OPENING) !== 1 || countOf(said, CLOSING) !== 1) return failed('it has not exactly one verdict')
  const element = said.slice(said.indexOf(OPENING)).trimEnd()
  if (!element.endsWith(CLOSING)) return failed('something stands after its verdict')
  const fields = parseFields(element)
  const score = fields?.get('score')
  const reason = fields?.get('reason')
  if (score === undefined || reason === undefined) return failed('its verdict is not one score and one reason')
  if (!SCORE.test(score)) return failed(`its score is ${JSON.stringify(score.slice(0, 20))}`)
  return { ok: true, score: Number(score), reason: reason.slice(0, REASON_LIMIT), id: fields?.get('id') ?? null }
}
