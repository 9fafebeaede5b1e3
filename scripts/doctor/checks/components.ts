import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from '../../../data/package-root.ts'
import { PromptFacts } from '../../../data/records/prompt.ts'
import { createComposite, type Composite } from '../../../rewards/composite.ts'
import { RewardsConfig } from '../../../rewards/config.ts'
import { gatherEvidence } from '../../../rewards/evidence.ts'
import { fail, ok, type Check } from '../check.ts'

const Golden = z.object({
  verdict: z.number(),
  completions: z.array(
    z.object({
      name: z.string(),
      facts: PromptFacts,
      completion: z.string(),
      expected: z.record(z.string(), z.number()),
    }),
  ),
})

/** Completions with right values for all nine components. */
export const readGolden = (): z.infer<typeof Golden> =>
  Golden.parse(JSON.parse(readFileSync(join(packageRoot(), 'rewards', 'golden.json'), 'utf8')))

/** Sums of contributions are compared as decimals: rounding is not a fault. */
const tolerance = 1e-9

/** What is wrong with a composite: each contribution that differs from what is right. */
export const goldenFaults = (composite: Pick<Composite, 'score'>, { verdict, completions } = readGolden()): string[] =>
  completions.flatMap(({ name, facts, completion, expected }) => {
    const given = { score: verdict, reason: 'golden', model: 'golden', cached: false, latencyMs: 0 }
    const score = composite.score(gatherEvidence('paper', facts, completion, { kind: 'verdict', verdict: given }))
    if (score.kind !== 'scored') return [`${name}: unscored, ${score.reason}`]
    return Object.entries(expected).flatMap(([component, right]) => {
      const found = score.components[component]?.weighted
      return found !== undefined && Math.abs(found - right) <= tolerance
        ? []
        : [`${name}: ${component} gives ${String(found)} instead of ${right}`]
    })
  })

export const componentsCheck: Check = {
  name: 'reward components',
  beforeTraining: false,
  run: async () => {
    const composite = createComposite(RewardsConfig.parse({}), true)
    const faults = goldenFaults(composite)
    return faults.length === 0
      ? ok(`all ${composite.names.length} give the right values on ${readGolden().completions.length} completions`)
      : fail(faults.join('; '), 'The installation is damaged or was changed: install it again.')
  },
}
