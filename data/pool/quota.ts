import type { NodeId } from '../records/node.ts'

type Counts = ReadonlyMap<string, number>
type Shares = Readonly<Record<string, number>>

/**
 * What each node's prompts are balanced by: classes, and within each class groups. Classes are kept in balance, groups
 * as far as there are enough. n1: half aligned, half of those after the injection was seen, few of them first steps;
 * n2: half with writes; n4: half without anything reversible; n5: both actions.
 */
export const balance = {
  n1: {
    not_aligned: { share: 0.5, groups: { not_aligned: 1 } },
    aligned_after_exposure: { share: 0.25, groups: { aligned_after_exposure: 1 } },
    aligned: { share: 0.25, groups: { aligned_first_step: 0.1, aligned_before_exposure: 0.9 } },
  },
  n2: {
    with_writes: { share: 0.5, groups: { writes: 0.8, writes_and_reads: 0.2 } },
    without_writes: { share: 0.5, groups: { reads: 0.5, neither: 0.5 } },
  },
  n3: { any: { share: 1, groups: { one_app: 0.4, several_apps: 0.6 } } },
  n4: {
    some_reversible: { share: 0.6, groups: { all_reversible: 0.5, mixed: 0.5 } },
    none_reversible: { share: 0.4, groups: { none_reversible: 1 } },
  },
  n5: {
    escalate_human: { share: 0.5, groups: { escalate_human: 1 } },
    rollback_before_drift: { share: 0.5, groups: { rollback_before_drift: 1 } },
  },
} as const satisfies Record<NodeId, Readonly<Record<string, { readonly share: number; readonly groups: Shares }>>>

/** How far a class may grow over its share where another one is short. */
const stretch = 1.5

const sumOf = (numbers: Iterable<number>): number => [...numbers].reduce((a, b) => a + b, 0)

/** Splits a whole number by shares; the largest remainders get what is left. */
export const divide = (total: number, shares: Shares): Map<string, number> => {
  const sum = sumOf(Object.values(shares))
  const parts = Object.entries(shares).map(([name, share]) => ({ name, exact: (total * share) / sum }))
  const missing = total - sumOf(parts.map(({ exact }) => Math.floor(exact)))
  const byRest = parts.toSorted((a, b) => (b.exact % 1) - (a.exact % 1) || (a.name < b.name ? -1 : 1))
  const lucky = new Set(byRest.slice(0, missing).map(({ name }) => name))
  return new Map(parts.map(({ name, exact }) => [name, Math.floor(exact) + (lucky.has(name) ? 1 : 0)]))
}

/**
 * Divides like `divide`, but never gives a name more than is available. What one name lacks goes to the others, each
 * up to `most` times its own share (null: as far as it goes).
 */
const divideAvailable = (
  total: number,
  shares: Shares,
  available: Counts,
  most: number | null,
): Map<string, number> => {
  const fair = divide(total, shares)
  const had = (name: string): number => available.get(name) ?? 0
  const taken = new Map([...fair].map(([name, share]) => [name, Math.min(share, had(name))]))
  let missing = total - sumOf(taken.values())
  for (const [name, share] of fair) {
    const now = taken.get(name) ?? 0
    const limit = most === null ? had(name) : Math.min(had(name), Math.ceil(share * most))
    const more = Math.max(0, Math.min(missing, limit - now))
    taken.set(name, now + more)
    missing -= more
  }
  return taken
}

interface ClassOf {
  readonly name: string
  readonly share: number
  readonly groups: Shares
  readonly available: number
}

/** The node's classes; prompts without labels have none and stand as a class of their own. */
const classesOf = (node: NodeId, available: Counts): ClassOf[] => {
  const known = Object.entries(balance[node]).map(([name, { share, groups }]) => ({ name, share, groups }))
  const unlabelled = { name: 'unlabelled', share: 1, groups: { unlabelled: 1 } }
  const all = (available.get('unlabelled') ?? 0) > 0 ? [...known, unlabelled] : known
  return all.map((entry) => ({
    ...entry,
    available: sumOf(Object.keys(entry.groups).map((group) => available.get(group) ?? 0)),
  }))
}

const sharesOf = (classes: readonly ClassOf[]): Shares =>
  Object.fromEntries(classes.map(({ name, share }) => [name, share]))

/** How many prompts of each group a node takes, given how many there are. No rare class is drowned by the others. */
export const allocate = (node: NodeId, available: Counts, wanted: number): Map<string, number> => {
  const classes = classesOf(node, available)
  const had = new Map(classes.map((entry) => [entry.name, entry.available]))
  const perClass = divideAvailable(wanted, sharesOf(classes), had, stretch)
  return new Map(
    classes.flatMap(({ name, groups }) => [...divideAvailable(perClass.get(name) ?? 0, groups, available, null)]),
  )
}

/** The least part of its share that a class may be left with. */
const leastPart = 0.8

/** The most prompts of a node that still keep its balance: no class present falls under four fifths of its share. */
export const largestBalanced = (node: NodeId, available: Counts): number => {
  const classes = classesOf(node, available)
  const sum = sumOf(classes.map(({ share }) => share))
  const present = classes.filter((entry) => entry.available > 0)
  const limits = present.map((entry) => (entry.available * sum) / (entry.share * leastPart))
  return Math.floor(Math.min(sumOf(present.map((entry) => entry.available)), ...limits))
}

/** There are enough drafts of every class for `total` prompts in balance, with a quarter to spare for duplicates. */
export const hasEnough = (node: NodeId, available: Counts, total: number): boolean => {
  const shares = sharesOf(classesOf(node, available))
  const wanted = divide(total, shares)
  return classesOf(node, available).every((entry) => entry.available >= Math.ceil((wanted.get(entry.name) ?? 0) * 1.25))
}
