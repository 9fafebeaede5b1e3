import { adversarialCompletion, anyNode, seeded } from '../rewards/adversarial.ts'
import { faultOf } from '../rewards/invariants.ts'

/**
 * Scores a million hostile completions in both profiles and checks every invariant on each.
 * Usage: npm run bench -- million [count] [seed]
 */
const count = Number(process.argv[2] ?? 1_000_000)
const random = seeded(Number(process.argv[3] ?? 7))

const started = performance.now()
let characters = 0
let faults = 0
for (let i = 0; i < count; i += 1) {
  const node = anyNode(random)
  const text = adversarialCompletion(random)
  characters += text.length
  const fault = faultOf(node, text)
  if (fault !== null) {
    faults += 1
    if (faults <= 20) console.error(`${node} ${JSON.stringify(text.slice(0, 500))}\n  ${fault}`)
  }
}
const seconds = (performance.now() - started) / 1000
console.log(
  JSON.stringify({ count, faults, characters, seconds: Math.round(seconds), perSecond: Math.round(count / seconds) }),
)
process.exitCode = faults === 0 ? 0 : 1
