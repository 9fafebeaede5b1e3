import type { NodeId } from '../../data/records/node.ts'
import type { JudgeHint, JudgePeriod, JudgeScope } from './view-judge.ts'

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`

interface Rule {
  readonly title: string
  readonly rule: string
  /** It compares with the first steps. */
  readonly needsBefore: boolean
  /** What is said where it fires; null where it does not. */
  readonly fires: (recent: JudgePeriod, before: JudgePeriod) => string | null
}

const limits = { ceiling: 0.8, collapse: 0.2, deep: 0.05, length: 3, dead: 0.5, rise: 0.05 } as const

const ceilingRule: Rule = {
  title: 'Ceiling',
  rule: `more than ${percent(limits.ceiling)} of the recent scores within a hundredth of the maximum`,
  needsBefore: false,
  fires: ({ atMaximum }) => (atMaximum > limits.ceiling ? `${percent(atMaximum)} at the maximum` : null),
}

const collapseRule: Rule = {
  title: 'Variance collapse',
  rule: `deviation of the recent scores below ${limits.collapse} of the first ones; below ${limits.deep} hardly anything is left`,
  needsBefore: true,
  fires: ({ sd }, before) => {
    if (before.sd === 0 || sd / before.sd >= limits.collapse) return null
    return `${sd.toFixed(3)} against ${before.sd.toFixed(3)}${sd / before.sd < limits.deep ? ', hardly anything left' : ''}`
  },
}

const lengthRule: Rule = {
  title: 'Length drift',
  rule: `mean length of the recent completions more than ${limits.length} deviations of the first steps' means away from theirs`,
  needsBefore: true,
  fires: ({ tokens }, before) => {
    const z = before.tokensSd === 0 ? 0 : (tokens - before.tokens) / before.tokensSd
    if (Math.abs(z) <= limits.length) return null
    return `${before.tokens.toFixed(0)} to ${tokens.toFixed(0)} tokens, ${Math.abs(z).toFixed(1)} deviations`
  },
}

const groupRule: Rule = {
  title: 'Group collapse',
  rule: `more than ${percent(limits.dead)} of the recent groups teach nothing: all completions earned the same, or too few have a reward`,
  needsBefore: false,
  fires: ({ dead }) => (dead > limits.dead ? `${percent(dead)} of the groups` : null),
}

/** The one that tells a gamed judge from a model that got better: then the rest rises too. */
const aloneRule: Rule = {
  title: 'The judge rises alone',
  rule: `mean score up by at least ${limits.rise} since the first steps, and the other components together no better than then`,
  needsBefore: true,
  fires: ({ mean, rest }, before) => {
    if (rest === null || before.rest === null) return null
    if (mean - before.mean < limits.rise || rest > before.rest) return null
    return `judge ${before.mean.toFixed(2)} to ${mean.toFixed(2)}, the rest ${percent(before.rest)} to ${percent(rest)} of what it can give`
  },
}

const rules: readonly Rule[] = [aloneRule, ceilingRule, collapseRule, lengthRule, groupRule]

const firedAt = (rule: Rule, node: NodeId, { recent, before }: JudgeScope): JudgeHint['fired'] => {
  if (recent === null || (rule.needsBefore && before === null)) return []
  const said = rule.fires(recent, before ?? recent)
  return said === null ? [] : [{ node, said }]
}

/** Every rule with the nodes at which it fires. On healthy runs some fire too: each is a reason to look, and no verdict. */
export const judgeHints = (scopes: readonly JudgeScope[]): JudgeHint[] =>
  rules.map((rule) => ({
    ...{ title: rule.title, rule: rule.rule },
    fired: scopes.flatMap((scope) => (scope.node === null ? [] : firedAt(rule, scope.node, scope))),
    isOpen: rule.needsBefore && scopes.every(({ before }) => before === null),
  }))
