import { cpus } from 'node:os'
import { parseCompletion } from '../../data/completion/parse.ts'
import { nodeIds } from '../../data/records/node.ts'
import { createComposite } from '../../rewards/composite.ts'
import { RewardsConfig } from '../../rewards/config.ts'
import { gatherEvidence, profiles } from '../../rewards/evidence.ts'
import { goldCompletions, samplePrompts } from '../judge/samples.ts'
import { structuralCases } from '../rewards/adversarial.ts'

/**
 * Speed of the structural reward in processor time: whole scores a second of typical completions, and the time for
 * completions of one and two megabytes (linear means a ratio near 2). Usage: npm run bench -- rewards [seconds]
 */
const seconds = Number(process.argv[2] ?? 1)

/** Milliseconds of processor time: what other programs on the machine do does not count. */
const cpuTime = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const perSecond = (work: () => void): number => {
  for (let i = 0; i < 5000; i += 1) work()
  const started = cpuTime()
  let runs = 0
  while (cpuTime() - started < seconds * 1000) {
    for (let i = 0; i < 500; i += 1) work()
    runs += 500
  }
  return Math.round((runs / (cpuTime() - started)) * 1000)
}

const milliseconds = (work: () => void): number => {
  const times = Array.from({ length: 7 }, () => {
    const started = cpuTime()
    work()
    return cpuTime() - started
  })
  return Number((times.toSorted((a, b) => a - b)[3] ?? 0).toFixed(2))
}

const brokenJson = structuralCases.find((example) => example.name === 'trailing comma')?.completion ?? ''

for (const profile of profiles) {
  const composite = createComposite(RewardsConfig.parse({ profile }), false)
  const score = (node: (typeof nodeIds)[number], text: string): unknown =>
    composite.score(gatherEvidence(profile, samplePrompts[node].facts, text))
  const typical = Object.fromEntries(nodeIds.map((node) => [node, perSecond(() => score(node, goldCompletions[node]))]))
  console.log(
    JSON.stringify({ profile, scoresPerSecond: { ...typical, brokenJson: perSecond(() => score('n1', brokenJson)) } }),
  )
}

const { score } = createComposite(RewardsConfig.parse({}), false)
const envelope = (answer: string): string => `<reasoning>\na b c\n</reasoning>\n<answer>\n${answer}\n</answer>`
const shapes: Record<string, (bytes: number) => string> = {
  'one long string': (bytes) => envelope(`{"why": "${'word '.repeat(bytes / 5)}"}`),
  'many keys': (bytes) => envelope(`{${Array.from({ length: bytes / 12 }, (_, i) => `"k${i}":${i}`).join(',')}}`),
  'list items': (bytes) => envelope(`{"write_operations": "${'a.b(c=d) | '.repeat(bytes / 11)}"}`),
  'open brackets': (bytes) => envelope('['.repeat(bytes)),
  'halves of tags': (bytes) => '<answer'.repeat(bytes / 7),
}
for (const [shape, make] of Object.entries(shapes)) {
  const [one, two] = [make(1e6), make(2e6)].map((text) =>
    milliseconds(() => score(gatherEvidence('paper', samplePrompts.n2.facts, text))),
  )
  console.log(JSON.stringify({ shape, millisecondsPerMegabyte: one, twoMegabytes: two }))
}

const parses = perSecond(() => parseCompletion(goldCompletions.n5))
console.log(JSON.stringify({ parsesPerSecond: parses, cpu: cpus()[0]?.model, node: process.version }))
