import { join, resolve } from 'node:path'
import { exitCodes, PipelineError } from '../../data/errors.ts'
import { defineCommand } from '../command.ts'
import { renderEvaluation } from '../../trainer/evaluation-table.ts'
import { listRuns, readEvaluations, readRun, type RunSummary } from '../run-list.ts'
import { decimal, table } from '../table.ts'

const columns = ['run', 'state', 'step', 'reward: first', 'last', 'updated']

const rowOf = (run: RunSummary): string[] => [
  run.id,
  run.heldBy === null ? run.state : `${run.state}, in use`,
  run.state === 'unreadable' ? '-' : `${run.step}/${run.steps}`,
  decimal(run.firstReward),
  decimal(run.lastReward),
  run.updatedAt,
]

export const runsCommand = defineCommand({
  name: 'runs [id]',
  summary: 'List the runs of a directory, or show one with its evaluations',
  positionals: { id: { type: 'string', describe: 'one run' } },
  options: {
    id: { type: 'string', hidden: true },
    dir: { type: 'string', default: 'runs', describe: 'directory of the runs' },
    json: { type: 'boolean', default: false, describe: 'print JSON instead of a table' },
  },
  examples: [
    ['drift-grpo runs', 'all runs below runs/, the latest first'],
    ['drift-grpo runs tiny-2026-01-01-1 --json', 'one run as JSON'],
  ],
  run: async ({ id, dir, json }, { cwd, out }) => {
    const runsDir = resolve(cwd, dir)
    if (id === undefined) {
      const runs = await listRuns(runsDir)
      if (runs.length === 0) out.progress(`no runs in ${runsDir}`)
      if (json) out.data(JSON.stringify(runs))
      else if (runs.length > 0) out.data(table(columns, runs.map(rowOf)))
      return exitCodes.ok
    }
    const run = await readRun(runsDir, id)
    if (run === undefined) {
      throw new PipelineError('usage', `there is no run ${id} in ${runsDir}`, { remedy: 'drift-grpo runs lists them.' })
    }
    const evaluations = await readEvaluations(join(runsDir, id))
    if (json) out.data(JSON.stringify({ ...run, evaluations }))
    else {
      out.data(table(columns, [rowOf(run)]))
      if (run.message !== null) out.data(run.message)
      for (const evaluation of evaluations)
        out.data(`\nevaluation ${evaluation.name} (${evaluation.at})\n${renderEvaluation(evaluation)}`)
    }
    return exitCodes.ok
  },
})
