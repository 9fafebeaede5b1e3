import { readList } from '../../data/completion/fields.ts'
import { operationApp } from '../../data/records/operation.ts'
import type { Rubric } from './case.ts'
import { criterion, f1, gradeOf } from './grade.ts'
import { invents, mentionsAny } from './grounding.ts'
import { saysAbsent } from './wording.ts'

/** Agreement of the apps with the truth; no repeats, none invented, and reasoning that names apps of the writes. */
export const gradeApps: Rubric<'n3'> = ({ answer: { reasoning, value }, facts, target, shown }) => {
  const apps = readList(value.get('apps_name'))
  if (apps === null) return { score: 0, reason: 'the list is missing or cannot be read' }
  const agreement = f1(apps, target.apps)
  const known = new Set(facts.writes.map(operationApp))
  const named = target.apps.length === 0 ? saysAbsent(reasoning) : mentionsAny(reasoning, target.apps)
  return gradeOf([
    criterion('exactly the apps', 0.7, agreement),
    criterion('each app once', 0.1, agreement > 0 && new Set(apps).size === apps.length),
    criterion('only apps of a listed write', 0.1, agreement > 0 && apps.every((app) => known.has(app))),
    criterion('reasoning that names the apps', 0.1, named && !invents(reasoning, shown)),
  ])
}
