import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { exitCodes, PipelineError } from '../../data/errors.ts'
import { importAgentDojo } from '../../data/pool/import/agentdojo.ts'
import { importChat } from '../../data/pool/import/chat.ts'
import type { Reject } from '../../data/pool/draft.ts'
import { buildPool, buildPoolFrom, writePool, type BuildOptions, type Pool } from '../../data/pool/build.ts'
import { knownAttacks, shortfalls } from '../../data/pool/shortfall.ts'
import { nodeContracts, nodeIds } from '../../data/records/node.ts'
import { generateTrajectories } from '../../data/world/trajectories.ts'
import { defineCommand } from '../command.ts'
import { shareOption, wholeNumber } from '../options.ts'
import { table } from '../table.ts'

/** Recordings have no natural end of training prompts: as many are taken as stay balanced. */
const fromRecordings = (path: string, options: BuildOptions, unlabelled: boolean | undefined): Pool => {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    throw new PipelineError('pool', `there is no directory and no file ${path}`, {
      remedy:
        'Give the directory that holds runs/, and derived/ with labels if there are any; or a file of chat transcripts.',
    })
  }
  const refused: Record<string, number> = {}
  const reject: Reject = ({ reason }) => {
    refused[`trajectory/${reason}`] = (refused[`trajectory/${reason}`] ?? 0) + 1
  }
  const trajectories = found.isDirectory()
    ? importAgentDojo(path, { ...(unlabelled === undefined ? {} : { unlabelled }), reject })
    : importChat(path, { reject })
  const { prompts, report } = buildPoolFrom(trajectories, options)
  if (prompts.length === 0) {
    const count = Object.values(refused).reduce((sum, one) => sum + one, 0)
    throw new PipelineError('pool', `no prompt can be made of ${path}: ${count} recorded runs were refused`, {
      remedy: 'Give the directory that holds runs/; --unlabelled takes runs without labels.',
    })
  }
  return { prompts, report: { ...report, rejected: { ...report.rejected, ...refused } } }
}

const summaryOf = ({ report }: Pool): string => {
  const rows = nodeIds.map((id) => {
    const name = `${id} ${nodeContracts[id].tag}`
    const { train, heldout } = report.splits
    return [
      name,
      train.byNode[name] ?? 0,
      heldout.byNode[name] ?? 0,
      (train.missing[name] ?? 0) + (heldout.missing[name] ?? 0),
    ]
  })
  const rejected = Object.entries(report.rejected).map(([reason, count]) => [reason, count])
  const counts = table(['node', 'train', 'held out', 'missing'], rows)
  return rejected.length === 0 ? counts : `${counts}\n\n${table(['rejected (node/reason)', 'count'], rejected)}`
}

export const buildPoolCommand = defineCommand({
  name: 'build-pool',
  summary: 'Build a pool of prompts from the simulated world or from recorded runs',
  options: {
    out: { type: 'string', demandOption: true, describe: 'directory for pool.jsonl and report.json' },
    world: {
      ...wholeNumber('world', 5),
      conflicts: 'recordings',
      describe: 'number of training prompts from the simulated world',
    },
    recordings: {
      type: 'string',
      describe: 'directory of recorded runs in the AgentDojo format, or .json or .jsonl file of chat transcripts',
    },
    unlabelled: {
      type: 'boolean',
      describe: 'also use recorded runs without certain labels: prompts without a target',
    },
    heldout: { ...wholeNumber('heldout', 5), default: 100, describe: 'number of held-out prompts' },
    seed: { ...wholeNumber('seed', 0), default: 0, describe: 'everything random derives from this number' },
    examples: { type: 'number', choices: [0, 1], default: 0, describe: 'worked examples in each prompt' },
    'mistake-share': {
      ...shareOption('mistake-share'),
      default: 0.1,
      describe: 'share of prompts with a plausible mistake in their context',
    },
    'hide-share': { ...shareOption('hide-share'), default: 0.3, describe: 'share of undoing calls left undocumented' },
    json: { type: 'boolean', default: false, describe: 'print the report as JSON' },
  },
  examples: [
    ['drift-grpo build-pool --world 1000 --out my-pool', 'from the simulated world'],
    ['drift-grpo build-pool --recordings my-runs --out my-pool', 'from recorded runs'],
    ['drift-grpo build-pool --recordings chats.jsonl --out my-pool', 'from chat transcripts: prompts without targets'],
  ],
  run: async (args, { cwd, out }) => {
    const options = {
      seed: args.seed,
      heldout: args.heldout,
      examples: args.examples === 1 ? (1 as const) : (0 as const),
      mistakeShare: args['mistake-share'],
      hideShare: args['hide-share'],
    }
    if (args.world === undefined && args.recordings === undefined) {
      throw new PipelineError('usage', 'give --world N or --recordings PATH', {
        remedy: 'See drift-grpo build-pool --help.',
      })
    }
    out.progress('reading trajectories')
    const pool =
      args.recordings === undefined
        ? buildPool(generateTrajectories, { ...options, train: args.world ?? 0 })
        : fromRecordings(resolve(cwd, args.recordings), { ...options, train: null }, args.unlabelled)
    const directory = resolve(cwd, args.out)
    await writePool(directory, pool)
    out.progress(`wrote ${pool.prompts.length} prompts to ${join(directory, 'pool.jsonl')}`)
    const trainAsked = args.recordings === undefined
    for (const text of [...shortfalls(pool.report, { trainAsked }), ...knownAttacks(pool.report)])
      out.progress(`warning: ${text}`)
    out.data(args.json ? JSON.stringify(pool.report) : summaryOf(pool))
    return exitCodes.ok
  },
})
