import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { Split } from '../../data/records/prompt.ts'
import { promptStream } from '../../data/pool/stream.ts'
import { generateTrajectories } from '../../data/world/trajectories.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    split: { type: 'string', default: 'train' },
    count: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1000' },
    block: { type: 'string', default: '20000' },
  },
})
if (values.out === undefined) throw new Error('--out is missing')

/** Writes the first prompts of the simulated world's stream as JSON lines. */
const file = createWriteStream(values.out)
const stream = promptStream(generateTrajectories, {
  split: Split.parse(values.split),
  seed: Number(values.seed),
  block: Number(values.block),
  examples: 0,
  mistakeShare: 0.1,
  hideShare: 0.3,
})
for (let left = Number(values.count); left > 0; left -= 1) {
  if (!file.write(`${JSON.stringify(stream.next().value)}\n`)) await once(file, 'drain')
}
file.end()
await once(file, 'finish')
