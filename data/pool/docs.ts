import { neutraliseLine } from '../nodes/neutral.ts'
import type { EndpointDoc } from '../records/trajectory.ts'
import type { Rng } from '../world/random.ts'
import { shuffle } from './random.ts'

const summaryLimit = 160

export const endpointName = ({ app, endpoint }: { app: string; endpoint: string }): string => `${app}.${endpoint}`

export interface ShownDocs {
  /** One line an endpoint. */
  readonly lines: string[]
  /** Of each write endpoint, the call that the lines show to undo it. */
  readonly inverses: Record<string, string | null>
}

/** Between what an endpoint does and the call that undoes it: summaries may bring it, the lines shown decide on it. */
const undonePhrase = '; undone by '

const signature = (doc: EndpointDoc): string => `${endpointName(doc)}(${doc.params.join(', ')})`

/** The bare description: without a signature in front and without a word about undoing. */
const describe = (doc: EndpointDoc): string => {
  const text = doc.summary.startsWith(`${endpointName(doc)}(`) ? doc.summary.replace(/^[^)]*\):\s*/, '') : doc.summary
  const plain = neutraliseLine(text.split(undonePhrase, 1)[0] ?? '')
  return plain.length <= summaryLimit ? plain : `${plain.slice(0, summaryLimit).trimEnd()} […]`
}

/** Values that the undoing call needs beyond those of the write itself come from the write's result. */
const undoing = (write: EndpointDoc, inverse: EndpointDoc): string => {
  const fromResult = inverse.params.filter((name) => !write.params.includes(name))
  const source = fromResult.length === 0 ? '' : `, with ${fromResult.join(' and ')} from its result`
  return `${undonePhrase}${signature(inverse)}${source}`
}

const docLine = (doc: EndpointDoc, inverse: EndpointDoc | undefined): string =>
  neutraliseLine(`${signature(doc)}: ${describe(doc)}${inverse === undefined ? '' : undoing(doc, inverse)}`)

const byName = (docs: Iterable<EndpointDoc>): Map<string, EndpointDoc> =>
  new Map([...docs].map((doc) => [endpointName(doc), doc]))

/** Endpoints of the same apps that neither are nor undo one of the writes. */
const distractors = (all: Map<string, EndpointDoc>, own: Map<string, EndpointDoc>, rng: Rng): EndpointDoc[] => {
  const apps = new Set([...own.values()].map(({ app }) => app))
  const inverses = new Set([...own.values()].map(({ undoneBy }) => undoneBy))
  const others = [...all].filter(([name, { app }]) => apps.has(app) && !own.has(name) && !inverses.has(name))
  return shuffle(others, rng)
    .slice(0, rng.int(1, 2))
    .map(([, doc]) => doc)
}

/**
 * The documentation that an evaluate_risk prompt shows: the writes' endpoints, the calls that undo them, and one or two
 * others. `hideShare` of the undoing calls are left out, and with them every word about them, which makes their writes
 * irreversible on the evidence shown.
 */
export const chooseDocs = (
  writes: readonly EndpointDoc[],
  known: readonly EndpointDoc[],
  hideShare: number,
  rng: Rng,
): ShownDocs => {
  const all = byName(known)
  const own = byName(writes)
  const inverses = [...new Set([...own.values()].flatMap(({ undoneBy }) => undoneBy ?? []))]
  const kept = inverses.filter((name) => own.has(name) || !rng.chance(hideShare)).flatMap((name) => all.get(name) ?? [])
  const shown = byName([...own.values(), ...kept, ...distractors(all, own, rng)])
  const inverseOf = ({ undoneBy }: EndpointDoc): EndpointDoc | undefined =>
    undoneBy === null ? undefined : shown.get(undoneBy)
  const inverseName = (doc: EndpointDoc): string | null => (inverseOf(doc) === undefined ? null : doc.undoneBy)
  return {
    lines: [...shown].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, doc]) => docLine(doc, inverseOf(doc))),
    inverses: Object.fromEntries([...own].map(([name, doc]) => [neutraliseLine(name), inverseName(doc)])),
  }
}
