import type { EvaluationSample } from '../../data/records/run.ts'
import { Rng } from '../../data/world/random.ts'
import type { EvaluationSide } from '../../trainer/evaluation/load.ts'
import { byPrompt } from '../../trainer/evaluation/pairing.ts'

/**
 * Two runs that do not differ, out of one: the samples of every prompt are dealt at random into two halves. Both halves come
 * from the same policy, so whatever a gate finds between them is a false alarm.
 */
export const dealEqualRuns = (side: EvaluationSide, seed: number): readonly [EvaluationSide, EvaluationSide] => {
  const rng = Rng.of(`equal runs ${seed}`)
  const halves: [EvaluationSample[], EvaluationSample[]] = [[], []]
  for (const samples of byPrompt(side.samples).values()) {
    const dealt = samples.map((sample) => ({ sample, key: rng.next() })).toSorted((a, b) => a.key - b.key)
    const half = Math.floor(dealt.length / 2)
    dealt.forEach(({ sample }, i) => {
      if (i < 2 * half) halves[i < half ? 0 : 1].push(sample)
    })
  }
  return [
    { ...side, label: 'one half', samples: halves[0] },
    { ...side, label: 'other half', samples: halves[1] },
  ]
}
