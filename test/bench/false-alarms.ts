/**
 * Measures how often the gate fails runs that do not differ: the samples of a real evaluation, dealt at random into two
 * halves, many times over. Evaluate with 8 samples a prompt to have halves of 4.
 *
 *     npm run bench -- false-alarms runs/<id>/eval/heldout [deals]
 */
import { regressionLevels, type RegressionLevel, type RegressionTest } from '../../data/records/regression.ts'
import { loadEvaluation, sideOf, sideNames, type EvaluationSide } from '../../trainer/evaluation/load.ts'
import { defaultFailOn, regressionVerdict } from '../../trainer/evaluation/regression.ts'
import { benjaminiHochberg } from '../../trainer/statistics/benjamini-hochberg.ts'
import { dealEqualRuns } from '../support/equal-runs.ts'

const [directory = '', deals = '1000'] = process.argv.slice(2)
const count = Number(deals)
const evaluation = await loadEvaluation(directory)

const families: Readonly<Record<string, readonly RegressionLevel[]>> = {
  total: ['total'],
  'node (5 tests)': ['node'],
  'component (45 tests)': ['component'],
  'accuracy (6 tests)': ['accuracy'],
  'default (total, node, accuracy)': defaultFailOn,
  'all four levels': regressionLevels,
}
const alphas = [0.05, 0.01]

const fails = (tests: readonly RegressionTest[], levels: readonly RegressionLevel[], alpha: number): boolean =>
  benjaminiHochberg(tests.filter(({ level }) => levels.includes(level)).map(({ p }) => p)).some((q) => q <= alpha)

/** False alarms by family and alpha. */
const measure = (side: EvaluationSide, minDelta: number | undefined): string[] => {
  const alarms = new Map<string, number>()
  for (let seed = 0; seed < count; seed++) {
    const [one, other] = dealEqualRuns(side, seed)
    const { tests } = regressionVerdict(one, other, { failOn: [...regressionLevels], minDelta, seed, resamples: 999 })
    for (const [family, levels] of Object.entries(families)) {
      for (const alpha of alphas) {
        const key = `${family} ${alpha}`
        alarms.set(key, (alarms.get(key) ?? 0) + Number(fails(tests, levels, alpha)))
      }
    }
  }
  return Object.keys(families).map(
    (family) => `| ${family} | ${alphas.map((alpha) => alarms.get(`${family} ${alpha}`)).join(' | ')} |`,
  )
}

for (const name of sideNames.toReversed()) {
  const side = sideOf(evaluation, name)
  for (const minDelta of [undefined, 0]) {
    process.stdout.write(`\n${name}, margin ${minDelta ?? '2 % of each maximum'}: false alarms in ${count}\n\n`)
    process.stdout.write(
      `| fails on | ${alphas.map((alpha) => `alpha ${alpha}`).join(' | ')} |\n|---|${'---|'.repeat(alphas.length)}\n`,
    )
    process.stdout.write(`${measure(side, minDelta).join('\n')}\n`)
  }
}
