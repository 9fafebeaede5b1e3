import type { ExampleCount } from '../nodes/template.ts'
import { nodeIds } from '../records/node.ts'
import type { NodeId } from '../records/node.ts'
import type { Prompt, Split } from '../records/prompt.ts'
import type { Draft } from './draft.ts'
import { renderDraft } from './draft.ts'
import { allocate, divide, hasEnough, largestBalanced } from './quota.ts'
import { random, shuffle } from './random.ts'
import type { Tally } from './tally.ts'

/** Drafts of one split, by node and group. */
export class DraftStock {
  readonly #byGroup = new Map<NodeId, Map<string, Draft[]>>(nodeIds.map((node) => [node, new Map()]))

  add(draft: Draft): void {
    const groups = this.#byGroup.get(draft.node)
    const drafts = groups?.get(draft.group)
    if (drafts === undefined) groups?.set(draft.group, [draft])
    else drafts.push(draft)
  }

  drafts(node: NodeId, group: string): readonly Draft[] {
    return this.#byGroup.get(node)?.get(group) ?? []
  }

  counts(node: NodeId): Map<string, number> {
    return new Map([...(this.#byGroup.get(node) ?? [])].map(([group, drafts]) => [group, drafts.length]))
  }

  /** There is enough of every class for so many prompts of each node. */
  satisfies(perNode: ReadonlyMap<string, number>): boolean {
    return nodeIds.every((node) => hasEnough(node, this.counts(node), perNode.get(node) ?? 0))
  }
}

/** Prompts a node gets: an equal part of the total. */
export const perNode = (total: number): Map<string, number> =>
  divide(total, { n1: 1, n2: 1, n3: 1, n4: 1, n5: 1 } satisfies Record<NodeId, number>)

export interface Selection {
  /** Null: as many as stay balanced. */
  readonly total: number | null
  readonly split: Split
  readonly seed: number
  readonly examples: ExampleCount
  /** Ids that are taken already; chosen ones are added. */
  readonly taken: Set<string>
  readonly tally: Tally
}

/** Renders drafts of one group in a seeded order until `wanted` different prompts are found. */
const takeGroup = (drafts: readonly Draft[], wanted: number, name: string, selection: Selection): Prompt[] => {
  const chosen: Prompt[] = []
  const { seed, split, examples, taken, tally } = selection
  let looked = 0
  for (const draft of shuffle(drafts, random(seed, split, name))) {
    if (chosen.length >= wanted) break
    looked++
    const prompt = renderDraft(draft, split, examples)
    if (taken.has(prompt.id)) {
      tally.reject({ node: draft.node, reason: 'duplicate' })
      continue
    }
    taken.add(prompt.id)
    tally.keep(prompt, draft.group)
    chosen.push(prompt)
  }
  tally.rejectMany({ node: drafts[0]?.node ?? null, reason: 'over_balance' }, drafts.length - looked)
  return chosen
}

const takeNode = (stock: DraftStock, node: NodeId, wanted: number | undefined, selection: Selection): Prompt[] => {
  const counts = stock.counts(node)
  const total = wanted ?? largestBalanced(node, counts)
  const quotas = allocate(node, counts, total)
  const groups = [...new Set([...quotas.keys(), ...counts.keys()])].toSorted()
  const prompts = groups.flatMap((group) =>
    takeGroup(stock.drafts(node, group), quotas.get(group) ?? 0, `${node}/${group}`, selection),
  )
  if (prompts.length < total) selection.tally.missing(selection.split, node, total - prompts.length)
  return prompts
}

/** Chooses a balanced set of different prompts, in the order of their ids. */
export const select = (stock: DraftStock, selection: Selection): Prompt[] => {
  const wanted = selection.total === null ? null : perNode(selection.total)
  return nodeIds
    .flatMap((node) => takeNode(stock, node, wanted?.get(node), selection))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
}
