import { relative, resolve } from 'node:path'
import { exitCodes, PipelineError } from '../../data/errors.ts'
import type { StoredVerdict } from '../../judge/cache/entry.ts'
import { VerdictStore } from '../../judge/cache/store.ts'
import { defineCommand, type CommandContext } from '../command.ts'
import { table } from '../table.ts'

interface Arguments {
  readonly json: boolean
  readonly yes: boolean
}

type Action = (store: VerdictStore, args: Arguments, context: CommandContext) => Promise<number>

/** Verdicts of one model under one wording, on one node. */
interface Part {
  readonly model: string
  readonly rubrics: string
  readonly node: string
  verdicts: number
  meanScore: number
  tokens: number
}

const partsOf = (verdicts: Iterable<StoredVerdict>): Part[] => {
  const parts = new Map<string, Part>()
  for (const { model, rubrics, node, score, promptTokens, completionTokens } of verdicts) {
    const key = JSON.stringify([model, rubrics, node])
    const part = parts.get(key) ?? { ...{ model, rubrics, node }, verdicts: 0, meanScore: 0, tokens: 0 }
    part.verdicts += 1
    part.meanScore += (score - part.meanScore) / part.verdicts
    part.tokens += promptTokens + completionTokens
    parts.set(key, part)
  }
  return [...parts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part)
}

function* soundOnes(store: VerdictStore): Generator<StoredVerdict> {
  for (const { verdict } of store.entries()) if (verdict !== null) yield verdict
}

const stats: Action = async (store, { json }, { out }) => {
  const parts = partsOf(soundOnes(store))
  const { directory, size: records, fileBytes } = store
  if (json) out.data(JSON.stringify({ directory, records, fileBytes, parts }))
  else {
    const rows = parts.map((part) => {
      const { model, rubrics, node, verdicts, meanScore, tokens } = part
      return [model, rubrics, node, verdicts, meanScore.toFixed(2), tokens]
    })
    out.data(table(['model', 'rubrics', 'node', 'verdicts', 'mean score', 'tokens paid'], rows))
    out.progress(`${records} records, ${(fileBytes / 2 ** 20).toFixed(1)} MiB in ${directory}`)
  }
  return exitCodes.ok
}

const verify: Action = async (store, { json }, { out }) => {
  const damaged: string[] = []
  let records = 0
  for (const { key, verdict } of store.entries()) {
    records += 1
    if (verdict === null) damaged.push(key)
  }
  if (json) out.data(JSON.stringify({ records, damaged }))
  else if (damaged.length > 0) out.data(damaged.join('\n'))
  out.progress(
    `${records} records, ${damaged.length} damaged${damaged.length === 0 ? '' : ' (asked for again when needed)'}`,
  )
  return damaged.length === 0 ? exitCodes.ok : exitCodes.finding
}

const exportAll: Action = async (store, _, { out }) => {
  for (const { key, verdict } of store.entries()) if (verdict !== null) out.data(JSON.stringify({ key, ...verdict }))
  return exitCodes.ok
}

const clear: Action = async (store, { json, yes }, { out }) => {
  const records = store.size
  if (!yes) {
    throw new PipelineError('usage', `${store.directory} holds ${records} verdicts, which would be paid for again`, {
      remedy: 'Say --yes to remove them.',
    })
  }
  await store.clear()
  if (json) out.data(JSON.stringify({ removed: records }))
  out.progress(`removed ${records} verdicts from ${store.directory}`)
  return exitCodes.ok
}

const actions = { stats, verify, export: exportAll, clear } as const satisfies Record<string, Action>
const names = Object.keys(actions) as (keyof typeof actions)[]

export const judgeCacheCommand = defineCommand({
  name: 'judge-cache <action>',
  summary: 'Look at the verdicts that a language model was paid for, check, export or remove them',
  positionals: { action: { type: 'string', choices: names, describe: 'what to do' } },
  options: {
    action: { type: 'string', choices: names, demandOption: true, hidden: true },
    dir: { type: 'string', default: '.cache/judge', describe: 'directory of the cache (judge.cache.dir)' },
    yes: { type: 'boolean', default: false, describe: 'clear: really remove everything' },
    json: { type: 'boolean', default: false, describe: 'print JSON instead of a table; export is JSON lines anyway' },
  },
  examples: [
    ['drift-grpo judge-cache stats', 'how many verdicts there are, by model and node'],
    ['drift-grpo judge-cache verify', 'exit code 10 when a record is damaged'],
    ['drift-grpo judge-cache export > verdicts.jsonl', 'every verdict with its reason'],
  ],
  run: async (args, context) => {
    const directory = resolve(context.cwd, args.dir)
    if (!VerdictStore.exists(directory)) {
      throw new PipelineError('usage', `there is no verdict cache in ${relative(context.cwd, directory) || '.'}`, {
        remedy: 'Give its directory with --dir: judge.cache.dir of the config that it was made with.',
      })
    }
    const store = await VerdictStore.open(directory)
    try {
      return await actions[args.action](store, args, context)
    } finally {
      await store.close()
    }
  },
})
