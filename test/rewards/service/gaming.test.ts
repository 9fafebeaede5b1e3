import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { createComposite } from '../../../rewards/composite.ts'
import { RewardsConfig } from '../../../rewards/config.ts'
import { gatherEvidence, type Profile } from '../../../rewards/evidence.ts'
import { samplePrompts } from '../../judge/samples.ts'
import { gamingCases, type GamingCase } from './gaming-cases.ts'

const total = (profile: Profile, { node, completion }: GamingCase): number => {
  const { score } = createComposite(RewardsConfig.parse({ profile }), false)
  const result = score(gatherEvidence(profile, samplePrompts[node].facts, completion))
  return result.kind === 'scored' ? result.total : Number.NaN
}

const row = (one: GamingCase): string =>
  `| ${one.node} | ${one.trick} | ${total('paper', one).toFixed(2)} | ${total('hardened', one).toFixed(2)} |`

describe('answers of the right form that the prompt itself contradicts', () => {
  it.each(gamingCases)('$node $trick: paid in full by paper, docked by hardened', (one) => {
    expect(total('paper', one)).toBeCloseTo(4.6, 9)
    expect(total('hardened', one)).toBeLessThan(4.6 - 0.19)
  })

  it('stand in the documentation with both scores', () => {
    const text = readFileSync(join(packageRoot(), 'docs/reward-service.md'), 'utf8')
    const table = /<!-- gaming -->\n([^]*?)<!-- \/gaming -->/.exec(text)?.[1]
    const header = ['| node | what the answer does | paper | hardened |', '|---|---|---|---|']
    expect(table?.trim().split('\n')).toStrictEqual([...header, ...gamingCases.map(row)])
  })
})
