import { existsSync, statSync } from 'node:fs'
import { z } from 'zod'
import { isRecord, parseJson } from '../../data/json.ts'
import { PipelineError } from '../../data/errors.ts'
import { Score, Verdict } from '../../data/records/reward.ts'
import { readLines } from '../../data/store/jsonl.ts'
import type { RecordedCompletion } from '../../rewards/rescore.ts'

/** One completion of a file, with the place where it stands. */
export interface GivenCompletion extends RecordedCompletion {
  /** `file:line`. */
  readonly where: string
  readonly promptId: string
  /** Position among the completions of its line. */
  readonly index: number
}

/** What people write: `{"promptId": …, "completion": "…"}`, with a verdict where one is known. */
const Plain = z.strictObject({
  promptId: z.string(),
  completion: z.string(),
  verdict: Verdict.nullish(),
})

// The two records of a run hold much that is not needed here, token by token; only what is read is checked.
/** A line of eval/<name>/*.jsonl. */
const Sample = z.object({
  promptId: z.string(),
  completion: z.object({ text: z.string() }),
  score: Score,
  verdict: Verdict.nullable(),
})

/** A line of rollouts/step-NNNNNN.jsonl. */
const Group = z
  .object({
    group: z.object({ promptId: z.string(), completions: z.array(z.object({ text: z.string() })) }),
    verdicts: z.array(Verdict.nullable()),
    scores: z.array(Score),
  })
  .refine(
    ({ group, verdicts, scores }) => group.completions.length === scores.length && scores.length === verdicts.length,
    { error: 'completions, verdicts and scores differ in number', path: ['group', 'completions'] },
  )

type Reader = (value: unknown, where: string) => GivenCompletion[]

const readPlain: Reader = (value, where) => {
  const { promptId, completion, verdict } = parse(Plain, value, where)
  return [{ where, promptId, index: 0, text: completion, verdict: verdict ?? null, score: null }]
}

const readSample: Reader = (value, where) => {
  const { promptId, completion, verdict, score } = parse(Sample, value, where)
  return [{ where, promptId, index: 0, text: completion.text, verdict, score }]
}

const readGroup: Reader = (value, where) => {
  const { group, verdicts, scores } = parse(Group, value, where)
  return group.completions.map(({ text }, index) => ({
    where,
    promptId: group.promptId,
    index,
    text,
    verdict: verdicts[index] ?? null,
    score: scores[index] ?? null,
  }))
}

const fault = (where: string, what: string, cause?: unknown): PipelineError =>
  new PipelineError('rewards', `${where}: ${what}`, {
    remedy: 'A line is {"promptId": "…", "completion": "…"}, or a line of a run’s rollouts/ or eval/.',
    cause,
  })

const parse = <T>(schema: z.ZodType<T>, value: unknown, where: string): T => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const path = issue?.path.map(String).join('.') ?? ''
  throw fault(where, `${path === '' ? '' : `${path}: `}${issue?.message ?? 'is wrong'}`)
}

const readerOf = (value: Record<string, unknown>): Reader => {
  if ('group' in value) return readGroup
  return isRecord(value['completion']) ? readSample : readPlain
}

const show = (text: string): string => JSON.stringify(text.length <= 60 ? text : `${text.slice(0, 59)}…`)

/** Reads one line; `where` (`file:line`) stands in front of every error. */
const parseLine = (text: string, where: string): GivenCompletion[] => {
  const value = parseJson(text)
  if (value === undefined) throw fault(where, `not a whole JSON object, found ${show(text)}`)
  if (!isRecord(value)) throw fault(where, `a line is an object, found ${show(text)}`)
  return readerOf(value)(value, where)
}

/**
 * Streams the completions of a file of JSON lines, in constant memory. Each line is one of three forms: the plain one,
 * a sample of an evaluation, or a group of rollouts. Anything else is an error that names file, line and field: nothing
 * is skipped but blank lines. `name` is the file as messages call it.
 */
export async function* readCompletions(path: string, name = path): AsyncGenerator<GivenCompletion> {
  if (!existsSync(path) || !statSync(path).isFile())
    throw new PipelineError('rewards', `${name}: there is no such file`, { remedy: 'Give a file of JSON lines.' })
  for await (const { line, text } of readLines(path)) {
    if (text.trim() !== '') yield* parseLine(text, `${name}:${line}`)
  }
}
