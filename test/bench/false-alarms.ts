/**
 * Measures the gate on a real evaluation: how often it fails models that do not differ, and how often it catches a model that
 * was made worse. The samples of the trained model are dealt at random into two halves, many times over; both halves are the
 * same policy. For the second question a share of one half's completions is replaced by what the base model answered to the
 * same prompt. Evaluate with 8 samples a prompt to have halves of 4.
 *
 *     npx tsx test/bench/false-alarms.ts runs/<id>/eval/heldout [deals] [levels…]
 */
import { nodeIds, type NodeId } from '../../data/records/node.ts'
import { regressionLevels, type RegressionLevel, type RegressionTest } from '../../data/records/regression.ts'
import type { EvaluationSample } from '../../data/records/run.ts'
import { Rng } from '../../data/world/random.ts'
import { loadEvaluation, sideOf, sideNames, type EvaluationSide } from '../../trainer/evaluation/load.ts'
import { byPrompt } from '../../trainer/evaluation/pairing.ts'
import { defaultFailOn, regressionVerdict } from '../../trainer/evaluation/regression.ts'
import { benjaminiHochberg } from '../../trainer/statistics/benjamini-hochberg.ts'
import { binomialInterval } from '../support/binomial.ts'
import { dealEqualRuns } from '../support/equal-runs.ts'

const [directory = '', deals = '1000', ...wanted] = process.argv.slice(2)
const count = Number(deals)
const asked = wanted.length === 0 ? [...regressionLevels] : regressionLevels.filter((level) => wanted.includes(level))
const evaluation = await loadEvaluation(directory)

const families: Readonly<Record<string, readonly RegressionLevel[]>> = {
  total: ['total'],
  'node (5 tests)': ['node'],
  'component (45 tests)': ['component'],
  'accuracy (6 tests)': ['accuracy'],
  'default (total, node, accuracy)': defaultFailOn,
  'all four levels': regressionLevels,
}
const alphas = [0.05, 0.01] as const
/** The same sign patterns each time: what differs is the deal. */
const settings = { seed: 0, resamples: 4999 }

const found = (tests: readonly RegressionTest[], levels: readonly RegressionLevel[], alpha: number): string[] => {
  const family = tests.filter(({ level }) => levels.includes(level))
  const q = benjaminiHochberg(family.map(({ p }) => p))
  return family.filter((_, i) => (q[i] ?? 1) <= alpha).map(({ name }) => name)
}

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const head = (first: string): void => {
  say(`| ${first} | ${alphas.map((alpha) => `alpha ${alpha}`).join(' | ')} |\n|---|${'---|'.repeat(alphas.length)}`)
}
const rate = (hits: number, of: number): string => {
  const [low, high] = binomialInterval(hits, of).map((share) => (100 * share).toFixed(2))
  return `${hits} of ${of} (${low} to ${high} %)`
}

const falseAlarms = (side: EvaluationSide): void => {
  const shown = Object.entries(families).filter(([, levels]) => levels.every((level) => asked.includes(level)))
  const alarms = new Map<string, number>()
  for (let seed = 0; seed < count; seed++) {
    const [one, other] = dealEqualRuns(side, seed)
    const { tests } = regressionVerdict(one, other, { ...settings, failOn: asked })
    for (const [name, levels] of shown) {
      for (const alpha of alphas) {
        const key = `${name} ${alpha}`
        alarms.set(key, (alarms.get(key) ?? 0) + Number(found(tests, levels, alpha).length > 0))
      }
    }
  }
  head(`${side.side}: false alarms, fails on`)
  for (const [name] of shown)
    say(`| ${name} | ${alphas.map((alpha) => rate(alarms.get(`${name} ${alpha}`) ?? 0, count)).join(' | ')} |`)
}

/** Replaces about this share of completions by the base model's to the same prompt; null: at every node. */
const degrade = (side: EvaluationSide, share: number, node: NodeId | null, seed: number): EvaluationSide => {
  const rng = Rng.of(`degrade ${seed}`)
  const base = byPrompt(evaluation.base)
  const samples = side.samples.map((sample): EvaluationSample => {
    const others = base.get(sample.promptId) ?? []
    const isHit = rng.chance(share) && (node === null || sample.node === node) && others.length > 0
    return isHit ? rng.pick(others) : sample
  })
  return { ...side, samples }
}

const plants: readonly (readonly [share: number, everywhere: boolean])[] = [
  ...([0.05, 0.1, 0.2, 0.3] as const).map((share) => [share, true] as const),
  ...([0.1, 0.2, 0.3, 0.5] as const).map((share) => [share, false] as const),
]

const power = (side: EvaluationSide, tries: number): void => {
  say('')
  head('caught by the default levels, answers of the base model')
  for (const [share, everywhere] of plants) {
    const hits = alphas.map(() => 0)
    let fall = 0
    for (let seed = 0; seed < tries; seed++) {
      const [one, other] = dealEqualRuns(side, seed)
      const node = everywhere ? null : (nodeIds[seed % nodeIds.length] ?? 'n1')
      const verdict = regressionVerdict(one, degrade(other, share, node, seed), settings)
      const place = node === null ? '' : `${node} `
      alphas.forEach((alpha, i) => {
        const names = found(verdict.tests, defaultFailOn, alpha)
        hits[i] = (hits[i] ?? 0) + Number(names.some((name) => name.startsWith(place)))
      })
      fall -=
        verdict.tests.find((test) => test.level === (node === null ? 'total' : 'node') && test.node === node)?.delta ??
        0
    }
    const where = everywhere ? 'at every node' : 'at one node'
    const size = `R there falls by ${(fall / tries).toFixed(2)}`
    say(`| ${100 * share} % ${where} (${size}) | ${hits.map((hit) => rate(hit, tries)).join(' | ')} |`)
  }
}

const sides = sideNames.toReversed().map((name) => sideOf(evaluation, name))
for (const side of sides) falseAlarms(side)
const [trained] = sides
if (trained !== undefined) power(trained, Math.ceil(count / 5))
