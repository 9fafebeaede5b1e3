import { join } from 'node:path'
import { Prompt } from '../../data/records/prompt.ts'
import { readLines } from '../../data/store/jsonl.ts'
import type { PromptText } from './view.ts'

/** The prompts of a run, read once; absent where the copy of a run has no pool. */
export class Prompts {
  readonly #path: string
  #texts: Promise<ReadonlyMap<string, PromptText>> | null = null

  constructor(root: string) {
    this.#path = join(root, 'pool.jsonl')
  }

  async find(id: string): Promise<PromptText | null> {
    this.#texts ??= this.#read()
    return (await this.#texts).get(id) ?? null
  }

  async #read(): Promise<ReadonlyMap<string, PromptText>> {
    const texts = new Map<string, PromptText>()
    try {
      for await (const { text } of readLines(this.#path)) {
        const { data } = Prompt.safeParse(text.trim() === '' ? null : JSON.parse(text))
        if (data !== undefined) texts.set(data.id, { messages: data.messages, target: data.target, split: data.split })
      }
    } catch (error) {
      // Without its pool, or with a torn one, a run's completions can still be read.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && !(error instanceof SyntaxError)) throw error
    }
    return texts
  }
}
