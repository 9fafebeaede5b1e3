import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { loadEvaluation, readStatistics, type RecordedEvaluation } from '../evaluation/load.ts'
import { reportContent } from '../evaluation/report/content.ts'
import type { EvaluationSample } from '../../data/records/run.ts'
import type { EvaluationPrompt, EvaluationReply, GroupDetail } from './view.ts'
import type { RunReader } from './run-reader.ts'
import type { Prompts } from './pool.ts'

const bare = (samples: readonly EvaluationSample[]): EvaluationPrompt['base'] =>
  samples.map(({ seed, score, verdict, exactlyRight }) => ({ seed, score, verdict, exactlyRight }))
const texts = (samples: readonly EvaluationSample[]) => samples.map(({ completion }) => completion.text)

interface Kept {
  readonly modified: number
  readonly recorded: RecordedEvaluation
  reply: EvaluationReply | null
}

/** Each holds every completion of its evaluation. A group's page looks through all: fewer would be read again each time. */
const mostKept = 128

/** Evaluations of a run, compared by the very code of the gate and the report; each is read and computed once. */
export class Evaluations {
  readonly #reader: RunReader
  readonly #kept = new LRUCache<string, Kept>({ max: mostKept })

  constructor(reader: RunReader) {
    this.#reader = reader
  }

  /** Null where there is no finished evaluation of that name. */
  async reply(name: string): Promise<EvaluationReply | null> {
    const kept = await this.#load(name)
    if (kept === null) return null
    if (kept.reply === null) {
      // Computing them would keep everybody else waiting for half a second.
      const known = await readStatistics(kept.recorded.directory)
      const { facts, notes, headline, verdict, statistics } = reportContent(this.#reader.id, kept.recorded, known)
      kept.reply = { summary: kept.recorded.summary, facts, notes, headline, verdict, statistics }
    }
    return kept.reply
  }

  async prompt(name: string, promptId: string, prompts: Prompts): Promise<EvaluationPrompt | null> {
    const kept = await this.#load(name)
    if (kept === null) return null
    const own = (samples: readonly EvaluationSample[]) => samples.filter((sample) => sample.promptId === promptId)
    const [base, trained] = [own(kept.recorded.base), own(kept.recorded.trained)]
    if (base.length === 0 && trained.length === 0) return null
    return {
      prompt: await prompts.find(promptId),
      base: bare(base),
      trained: bare(trained),
      texts: { base: texts(base), trained: texts(trained) },
    }
  }

  /** What the base model said to a prompt, wherever it was evaluated. */
  async baseCompletions(promptId: string): Promise<GroupDetail['base']> {
    const found = new Map<string, GroupDetail['base'][number]>()
    for (const name of await this.#reader.evaluationNames()) {
      // An evaluation that cannot be read is no reason to show nothing of a group.
      const kept = await this.#load(name).catch(() => null)
      for (const { promptId: id, completion, score } of kept?.recorded.base ?? []) {
        if (id !== promptId || found.has(completion.text)) continue
        const total = score.kind === 'scored' ? score.total : null
        found.set(completion.text, { evaluation: name, text: completion.text, total })
      }
    }
    return [...found.values()]
  }

  async #load(name: string): Promise<Kept | null> {
    if (!(await this.#reader.evaluationNames()).includes(name)) return null
    const directory = join(this.#reader.root, 'eval', name)
    const file = await stat(join(directory, 'summary.json')).catch(() => null)
    if (file === null) return null
    const known = this.#kept.get(name)
    if (known?.modified === file.mtimeMs) return known
    const kept = { modified: file.mtimeMs, recorded: await loadEvaluation(directory), reply: null }
    this.#kept.set(name, kept)
    return kept
  }
}
