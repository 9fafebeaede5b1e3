import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { RolloutRecord, RunEvent } from '../../../data/records/run.ts'
import type { Judge } from '../../../judge/judge.ts'
import { runTraining, type TrainingOptions, type TrainingOutcome } from '../../../trainer/train.ts'
import {
  captured,
  letterJudge,
  makeTinyModel,
  noPython,
  shortPool,
  source,
  temporaryDirectory,
  tinyConfig,
} from '../../support/tiny-training.ts'

const program = join(packageRoot(), 'test/support/worker-engine.mjs')

const linesOf = (path: string): unknown[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)

const eventsOf = ({ directory }: TrainingOutcome): RunEvent[] =>
  linesOf(join(directory, 'events.jsonl')).map((line) => RunEvent.parse(line))

/** What two runs must have in common that sampled the same. */
const resultOf = ({ directory, adapter }: TrainingOutcome) => ({
  groups: [0, 1].map((step) =>
    linesOf(join(directory, `rollouts/step-00000${step}.jsonl`)).map((line) => RolloutRecord.parse(line).group),
  ),
  weights: readFileSync(join(adapter ?? '', 'adapter_model.safetensors')).toString('base64'),
})

/** Does something once, when the first completion of the second step is judged: the others are still to be sampled. */
const judgeThen = (act: () => void): Judge => {
  let asked = 0
  return {
    ...letterJudge,
    judge: async (request) => {
      asked += 1
      if (asked === 3 * 4 + 1) act()
      return await letterJudge.judge(request)
    },
  }
}

describe.skipIf(noPython)('a training whose sampler is lost in the middle of a step', () => {
  let model = ''
  let expected: ReturnType<typeof resultOf>

  const options = (server: object, judge: Judge, extra: Partial<TrainingOptions> = {}): TrainingOptions => {
    const runs = temporaryDirectory()
    return {
      config: tinyConfig(model, runs, {
        run: { dir: runs, steps: 2, checkpointEvery: 2, id: 'supervised' },
        // One request at a time: when the first group is judged, the others are not sampled yet.
        sampling: { server: server as never, concurrency: 1 },
        evaluation: { atEnd: false },
      }),
      pool: shortPool(12, 5),
      ...{ judge, source, progress: captured(), ...extra },
    }
  }

  beforeAll(async () => {
    model = makeTinyModel()
    expected = resultOf(await runTraining(options({ kind: 'embedded' }, letterJudge)))
  }, 600_000)
  it('starts it again, and ends as if nothing had been', async () => {
    const server = { kind: 'spawn', command: program, dtype: 'float32' }
    let records = ''
    const judge = judgeThen(() => {
      const children = readdirSync(records).map(
        (name) => JSON.parse(readFileSync(join(records, name), 'utf8')) as { what: string; pid: number },
      )
      expect(children.map(({ what }) => what).toSorted()).toEqual(['policy server', 'worker'])
      for (const { what, pid } of children) if (what === 'policy server') process.kill(pid, 'SIGKILL')
    })
    const given = options(server, judge, { onOpened: async (run) => void (records = run.processes) })
    const outcome = await runTraining(given)
    expect(resultOf(outcome)).toEqual(expected)
    expect(readdirSync(records)).toEqual([])
    const told = eventsOf(outcome).map(({ kind, message }) => `${kind}: ${message}`)
    expect(told).toEqual([
      expect.stringContaining('started: '),
      expect.stringMatching(/^paused: the policy server is lost: [^]*signal SIGKILL/),
      expect.stringMatching(/^warning: starting the policy server again \(1 of at most 3 times\)/),
      expect.stringMatching(
        /^continued: the policy server is back after .* proved: base, policy-supervised-000000, policy-supervised-000001$/,
      ),
      expect.stringContaining('checkpoint: '),
      expect.stringContaining('finished: '),
    ])
  }, 600_000)
})
