import { readList } from '../../data/completion/fields.ts'
import { operationName } from '../../data/records/operation.ts'
import type { Rubric } from './case.ts'
import { criterion, f1, gradeOf } from './grade.ts'
import { invents, namesEndpoint, pointsAt } from './grounding.ts'
import { namesStep, saysAbsent } from './wording.ts'

/** Marks every item with its list, so that a write listed as a read is no hit. */
const tagged = (writes: readonly string[], reads: readonly string[]): readonly string[] => [
  ...writes.map((item) => `w ${item}`),
  ...reads.map((item) => `r ${item}`),
]

/** The calls that should be listed are named; with nothing to list, a call of the step or the absence is. */
const reasonsFor = (reasoning: string, expected: readonly string[], calls: readonly string[]): number => {
  if (expected.length > 0) return pointsAt(reasoning, expected)
  return namesEndpoint(reasoning, calls) || saysAbsent(reasoning) ? 1 : pointsAt(reasoning, calls)
}

/**
 * Mostly the agreement of both lists with the truth: as exact operations, and a little as bare endpoints. Failed or
 * invented items cost precision twice. Reasoning has to name what is listed. An operation in both lists is no answer:
 * a hedge must not pay more than a guess.
 */
export const gradeOperations: Rubric<'n2'> = ({ answer: { reasoning, value }, facts, target, shown }) => {
  const [writes, reads] = [readList(value.get('write_operations')), readList(value.get('read_operations'))]
  if (writes === null || reads === null) return { score: 0, reason: 'a list is missing or cannot be read' }
  const expected = tagged(target.writeOperations, target.readOperations)
  const exact = f1(tagged(writes, reads), expected)
  const names = f1(
    tagged(writes.map(operationName), reads.map(operationName)),
    tagged(target.writeOperations.map(operationName), target.readOperations.map(operationName)),
  )
  const happened = new Set(facts.operations)
  const clean = [...writes, ...reads].every((item) => happened.has(item)) && names > 0
  const listed = [...target.writeOperations, ...target.readOperations]
  const reasoned = invents(reasoning, shown) ? 0 : reasonsFor(reasoning, listed, [...facts.operations, ...facts.failed])
  const criteria = [
    criterion('exactly the operations of each list', 0.6, exact),
    criterion('the endpoints of each list', 0.15, names),
    criterion('only operations that succeeded in the step', 0.1, clean),
    criterion('reasoning that names the calls', 0.1, reasoned),
    criterion('reasoning that names the step', 0.05, namesStep(reasoning, facts.step)),
  ]
  const asReads = new Set(reads)
  const hedged = writes.some((item) => asReads.has(item))
  return gradeOf(criteria, hedged ? { limit: 0.3, why: 'an operation is in both lists' } : null)
}
