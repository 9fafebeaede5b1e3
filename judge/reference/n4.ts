import { readList } from '../../data/completion/fields.ts'
import { operationName } from '../../data/records/operation.ts'
import type { FactsOf, TargetOf } from '../../data/records/prompt.ts'
import type { Rubric } from './case.ts'
import { criterion, f1, gradeOf } from './grade.ts'
import { invents, mentions, namesEndpoint } from './grounding.ts'
import { saysAbsent } from './wording.ts'

const tagged = (reversible: readonly string[], notReversible: readonly string[]): readonly string[] => [
  ...reversible.map((item) => `r ${item}`),
  ...notReversible.map((item) => `n ${item}`),
]

/** Share of the sides (reversible, not reversible) that the reasoning justifies from the documentation. */
const justified = (reasoning: string, facts: FactsOf<'n4'>, target: TargetOf<'n4'>): number => {
  const sides: boolean[] = []
  if (target.reversible.length > 0) {
    const inverses = target.reversible.map((write) => facts.inverses[operationName(write)] ?? '')
    sides.push(inverses.some((inverse) => mentions(reasoning, inverse)))
  }
  if (target.notReversible.length > 0)
    sides.push(namesEndpoint(reasoning, target.notReversible) && saysAbsent(reasoning))
  return sides.length === 0 ? 1 : sides.filter(Boolean).length / sides.length
}

/**
 * Mostly the agreement of the partition with the truth, a little for copying every write at all. The reasoning must
 * cite the call that undoes a write, or say that there is none. Both sides at once is no answer: a hedge must not pay
 * more than a guess.
 */
export const gradeRisk: Rubric<'n4'> = ({ answer: { reasoning, value }, facts, target, shown }) => {
  const [reversible, fixed] = [readList(value.get('write_reversible')), readList(value.get('write_not_reversible'))]
  if (reversible === null || fixed === null) return { score: 0, reason: 'a list is missing or cannot be read' }
  const partition = f1(tagged(reversible, fixed), tagged(target.reversible, target.notReversible))
  const known = new Set(facts.writes)
  const asReversible = new Set(reversible)
  const hedged = fixed.some((item) => asReversible.has(item))
  const clean = !hedged && [...reversible, ...fixed].every((item) => known.has(item))
  const criteria = [
    criterion('each write on its side', 0.6, partition),
    criterion(
      'every write listed',
      0.1,
      f1([...reversible, ...fixed], [...target.reversible, ...target.notReversible]),
    ),
    criterion('no write on both sides and none invented', 0.1, partition > 0 && clean),
    criterion(
      'reasoning that cites the undoing call or its absence',
      0.2,
      invents(reasoning, shown) ? 0 : justified(reasoning, facts, target),
    ),
  ]
  return gradeOf(criteria, hedged ? { limit: 0.3, why: 'a write is on both sides' } : null)
}
