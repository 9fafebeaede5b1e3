import { describe, expect, it } from 'vitest'
import { judgeHints } from '../../../trainer/dashboard/judge-hints.ts'
import type { JudgePeriod, JudgeScope } from '../../../trainer/dashboard/view-judge.ts'

const first: JudgePeriod = {
  ...{ n: 100, mean: 0.4, sd: 0.3, atMaximum: 0.2, distinct: 5, entropy: 2, withRest: 0, withLength: 0 },
  ...{ rest: 0.5, tokens: 50, tokensSd: 2, dead: 0.2 },
}

const scopeOf = (recent: Partial<JudgePeriod>, before: JudgePeriod | null = first): JudgeScope => ({
  ...{ node: 'n1', failed: 0, windows: [], before },
  recent: { ...first, ...recent },
})

const firing = (scope: JudgeScope): string[] =>
  judgeHints([scope])
    .filter(({ fired }) => fired.length > 0)
    .map(({ title }) => title)

describe('a hint about the judge', () => {
  it.each<[title: string, beyond: Partial<JudgePeriod>, within: Partial<JudgePeriod>]>([
    ['The judge rises alone', { mean: 0.46, rest: 0.5 }, { mean: 0.46, rest: 0.51 }],
    ['The judge rises alone', { mean: 0.46, rest: 0.4 }, { mean: 0.44, rest: 0.4 }],
    ['Ceiling', { atMaximum: 0.81 }, { atMaximum: 0.8 }],
    ['Variance collapse', { sd: 0.059 }, { sd: 0.061 }],
    ['Length drift', { tokens: 56.1 }, { tokens: 56 }],
    ['Length drift', { tokens: 43.9 }, { tokens: 44 }],
    ['Group collapse', { dead: 0.51 }, { dead: 0.5 }],
  ])('fires just beyond its limit and not at it: %s', (title, beyond, within) => {
    expect(firing(scopeOf(beyond))).toEqual([title])
    expect(firing(scopeOf(within))).toEqual([])
  })
  it('stays open where there are no first steps to compare with', () => {
    const open = judgeHints([scopeOf({ mean: 0.9, sd: 0, tokens: 500 }, null)])
    expect(open.filter(({ isOpen }) => isOpen).map(({ title }) => title)).toEqual([
      'The judge rises alone',
      'Variance collapse',
      'Length drift',
    ])
    expect(open.flatMap(({ fired }) => fired)).toEqual([])
  })
})
