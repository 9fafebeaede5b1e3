import { basename, resolve } from 'node:path'
import { exitCodes, PipelineError } from '../../data/errors.ts'
import { readPool } from '../../data/pool/pool-file.ts'
import type { Prompt } from '../../data/records/prompt.ts'
import { parseCheckpointChoice } from '../../trainer/evaluation/choose-checkpoint.ts'
import { renderEvaluation } from '../../trainer/evaluation-table.ts'
import { defineCommand } from '../command.ts'
import { evaluateRun } from '../evaluate-run.ts'
import { withJudgeEngine } from '../judge-engine.ts'
import { wholeNumber } from '../options.ts'
import { findRun, loadRunConfig } from '../run-config.ts'

const readPrompts = async (file: string, wanted: (prompt: Prompt) => boolean): Promise<Prompt[]> => {
  const prompts: Prompt[] = []
  for await (const prompt of readPool(file)) if (wanted(prompt)) prompts.push(prompt)
  return prompts
}

/** A folder's name; those that training writes are refused, as they decide which checkpoint is best. */
const ownName = (name: string | undefined): string | undefined => {
  if (name === undefined || (/^[A-Za-z0-9][\w.-]{0,99}$/.test(name) && !/^(?:final|step-\d+)$/.test(name))) return name
  throw new PipelineError('usage', `--name ${JSON.stringify(name)} cannot be the name of an evaluation`, {
    remedy: 'Use up to 100 letters, digits, ".", "_" and "-"; "final" and "step-N" are those of training itself.',
  })
}

export const evalCommand = defineCommand({
  name: 'eval',
  summary: 'Compare the base model with a checkpoint of a run, on held-out prompts',
  options: {
    run: { type: 'string', demandOption: true, describe: 'id of the run, or its path' },
    dir: { type: 'string', default: 'runs', describe: 'directory of the runs' },
    checkpoint: {
      type: 'string',
      default: 'last',
      requiresArg: true,
      describe: 'last, best (chosen by evaluations during training), or the number of steps it was made after',
    },
    prompts: { type: 'string', describe: 'pool file with other prompts: all of them are used' },
    samples: {
      ...wholeNumber('samples', 1),
      describe: 'completions of each prompt; default: evaluation.samples of the run',
    },
    name: { type: 'string', describe: 'name of the result below eval/; default: the prompts’, and the checkpoint’s' },
    json: { type: 'boolean', default: false, describe: 'print the summary as JSON' },
  },
  examples: [
    ['drift-grpo eval --run tiny-2026-01-01-1', 'on the held-out prompts of the run’s own pool'],
    ['drift-grpo eval --run runs/mine --checkpoint best', 'the checkpoint that did best while it trained'],
    ['drift-grpo eval --run runs/mine --prompts other.jsonl --samples 8', 'on other prompts'],
  ],
  run: async (args, { cwd, env, out, interrupts }) => {
    const run = await findRun(args.run, args.dir, cwd)
    const sets = args.samples === undefined ? [] : [`evaluation.samples=${args.samples}`]
    const { config } = await loadRunConfig(run, sets)
    const other = args.prompts === undefined ? undefined : resolve(cwd, args.prompts)
    const prompts =
      other === undefined
        ? await readPrompts(run.pool, ({ split }) => split === 'heldout')
        : await readPrompts(other, () => true)
    const checkpoint = parseCheckpointChoice(args.checkpoint)
    const stage = other === undefined ? 'heldout' : basename(other, '.jsonl')
    const name = ownName(args.name) ?? (checkpoint === 'last' ? stage : `${stage}-${checkpoint}`)
    out.progress(`evaluating ${run.id}, ${config.evaluation.samples} samples of each prompt`)
    let shown = 0
    // One signal is enough to stop: there is nothing to finish that would be worth waiting for.
    const signal = interrupts('stopping').finish
    const request = {
      ...{ run, config, checkpoint, prompts, name, stage, cwd, signal },
      most: other === undefined ? config.evaluation.prompts : prompts.length,
      samples: config.evaluation.samples,
      onWarning: (message: string) => out.progress(`warning: ${message}`),
      onStatus: out.progress,
      onProgress: (done: number, total: number) => {
        const tenth = Math.floor((10 * done) / total)
        if (tenth > shown) out.progress(`${done}/${total} groups of samples`)
        shown = Math.max(shown, tenth)
      },
    }
    const { summary } = await withJudgeEngine(config, { cwd, env, signal }, out.progress, () => evaluateRun(request))
    out.data(args.json ? JSON.stringify(summary) : renderEvaluation(summary))
    out.progress(`written to ${run.evaluation(name)}`)
    return exitCodes.ok
  },
})
