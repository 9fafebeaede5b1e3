import { resolve } from 'node:path'
import { exitCodes } from '../../data/errors.ts'
import { defineCommand } from '../command.ts'
import type { Output } from '../output.ts'
import { setOption } from '../options.ts'
import { openScoreJob, type ScoreJob } from '../score/job.ts'
import { renderChange, renderRows } from '../score/render.ts'
import { noFiles, openReportFiles, type ReportFiles } from '../score/report-files.ts'
import { rescoreStream } from '../score/rescore-stream.ts'
import type { ScoreRows } from '../score/tally.ts'

/** Completions that are scored side by side; a judge that is asked has a limit of its own. */
const concurrency = 64
const progressEvery = 10_000

/** summary.json, and what --json prints. */
interface ScoreSummary extends ScoreRows {
  /** The run or the file. */
  readonly source: string
  readonly profile: string
  readonly judge: string
  readonly rewardMaximum: number
  /** Null: there was nothing to compare with. */
  readonly verdict: 'unchanged' | 'changed' | null
  readonly changed: number | null
  readonly seconds: number
}

interface Show {
  readonly json: boolean
  /** The scores are compared with recorded ones. */
  readonly compares: boolean
}

const scoreAll = async (job: ScoreJob, files: ReportFiles, show: Show, out: Output): Promise<ScoreSummary> => {
  const started = performance.now()
  let done = 0
  const { changed, ...rows } = await rescoreStream({
    ...job,
    concurrency,
    compares: show.compares,
    onScore: async (completion) => {
      await files.add(completion)
      if (completion.change !== null && !show.json) out.data(renderChange(completion.given, completion.change))
      done += 1
      if (done % progressEvery === 0) out.progress(`${done} completions scored`)
    },
  })
  const { source, profile, judge, rescorer } = job
  return {
    ...{ source, profile, judge, rewardMaximum: rescorer.maximum },
    verdict: !show.compares ? null : changed === 0 ? 'unchanged' : 'changed',
    changed: show.compares ? changed : null,
    ...rows,
    seconds: (performance.now() - started) / 1000,
  }
}

/** The files of an --out directory are whole or absent, however the work ends. */
const intoFiles = async (files: ReportFiles, work: () => Promise<ScoreSummary>): Promise<ScoreSummary> => {
  try {
    const summary = await work()
    await files.finish(summary)
    return summary
  } catch (error) {
    await files.discard()
    throw error
  }
}

const render = (summary: ScoreSummary, components: readonly string[]): string => {
  const { profile, judge, rewardMaximum, verdict, changed, all } = summary
  const code = verdict === 'changed' ? ` (exit code ${exitCodes.finding})` : ''
  return [
    `R is at most ${rewardMaximum.toFixed(2)}; profile: ${profile}; judge: ${judge}`,
    '',
    renderRows(summary, components),
    ...(verdict === null
      ? []
      : ['', `verdict: ${verdict}; ${changed} of ${all.completions} completions have another reward${code}`]),
  ].join('\n')
}

export const scoreCommand = defineCommand({
  name: 'score',
  summary: 'Score completions that exist already, or score a run again and show every reward that changed',
  options: {
    pool: { type: 'string', describe: 'pool file with the prompts of the completions' },
    completions: { type: 'string', describe: 'file of JSON lines, each a promptId and a completion' },
    against: { type: 'string', describe: 'id of a run, or its path: score its rollouts again and compare' },
    dir: { type: 'string', default: 'runs', describe: 'directory of the runs' },
    config: { type: 'string', describe: 'config with the sections rewards and judge; without one their defaults hold' },
    set: setOption('rewards.profile=hardened'),
    out: { type: 'string', describe: 'directory for scores.jsonl, summary.json and, with --against, changes.jsonl' },
    json: { type: 'boolean', default: false, describe: 'print the summary as JSON' },
  },
  examples: [
    ['drift-grpo score --pool my-pool/pool.jsonl --completions mine.jsonl', 'means by node and component'],
    ['drift-grpo score --against runs/mine', 'has the reward of any recorded completion changed?'],
  ],
  run: async (args, { cwd, env, out }) => {
    const { against, pool, completions, config, set, dir } = args
    const job = await openScoreJob({ against, pool, completions, config, set, dir }, { cwd, env, say: out.progress })
    try {
      const show = { json: args.json, compares: against !== undefined }
      const directory = args.out === undefined ? null : resolve(cwd, args.out)
      const files = directory === null ? noFiles : await openReportFiles(directory, show.compares)
      const summary = await intoFiles(files, () => scoreAll(job, files, show, out))
      out.data(show.json ? JSON.stringify(summary) : render(summary, job.rescorer.names))
      if (directory !== null) out.progress(`written to ${directory}`)
      return summary.verdict === 'changed' ? exitCodes.finding : exitCodes.ok
    } finally {
      await job.close()
    }
  },
})
