import { existsSync } from 'node:fs'
import { PipelineError } from '../errors.ts'
import type { Prompt } from '../records/prompt.ts'
import { readLines } from '../store/jsonl.ts'
import { parsePoolLine } from './pool-line.ts'

/**
 * Streams the prompts of a pool file: one JSON object a line, as `build-pool` writes them. A pool of one's own needs
 * only, on each line,
 *
 *     {"node": "n3", "messages": [{"role": "system", "content": …}, {"role": "user", "content": …}],
 *      "facts": {"writes": ["mail.send(to=ana)"]}, "target": {"apps": ["mail"]}}
 *
 * with `node` an id or a tag and `target` left out where it is unknown; `split` is `train` unless given. Anything wrong
 * is an error that names file, line, field and value. Nothing is skipped, except equal prompts, which are one prompt.
 */
export async function* readPool(path: string): AsyncGenerator<Prompt> {
  if (!existsSync(path))
    throw new PipelineError('pool', `${path}: no such pool`, {
      remedy: 'Build one with build-pool, or correct pool.path.',
    })
  const seen = new Set<string>()
  for await (const { line, text } of readLines(path)) {
    if (text.trim() === '') continue
    const prompt = parsePoolLine(text, `${path}:${line}`)
    if (seen.has(prompt.id)) continue
    seen.add(prompt.id)
    yield prompt
  }
}
