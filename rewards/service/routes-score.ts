import { Hono } from 'hono'
import { z } from 'zod'
import { isRecord } from '../../data/json.ts'
import { rewardRegistry } from '../registry.generated.ts'
import { check, readJson } from './read-body.ts'
import { inTurns } from './score-items.ts'
import type { Service } from './service.ts'
import { ComponentsReply, mostItems, type ScoreReply, type ScoreResult } from './wire.ts'

/** Only the frame is checked as a whole; each item is read on its own. */
const Frame = z.strictObject({ items: z.array(z.unknown()).max(mostItems) })

const known = new Set(['id', 'prompt', 'completion'])

type Item =
  | { readonly id: string; readonly prompt: unknown; readonly completion: string }
  | { readonly id: string | null; readonly field: string; readonly problem: string }

const readItem = (value: unknown): Item => {
  if (!isRecord(value)) {
    return { id: null, field: 'item', problem: 'must be an object with id, prompt and completion' }
  }
  const { id, prompt, completion } = value
  if (typeof id !== 'string') return { id: null, field: 'id', problem: 'must be text' }
  if (typeof completion !== 'string') return { id, field: 'completion', problem: 'must be text' }
  const extra = Object.keys(value).find((key) => !known.has(key))
  if (extra !== undefined) return { id, field: 'item', problem: `unknown key ${JSON.stringify(extra.slice(0, 80))}` }
  return { id, prompt, completion }
}

const scoreItem = async (service: Service, value: unknown): Promise<ScoreResult> => {
  const item = readItem(value)
  if ('problem' in item) return { id: item.id, ...(await service.score(item, '', item.field)) }
  const reading = service.prompts.readPrompt(item.prompt)
  return { id: item.id, ...(await service.score(reading, item.completion, 'prompt')) }
}

/** The project's own routes: many completions at once, and what the scores mean. */
export const scoreRoutes = (service: Service): Hono => {
  const { profile, maximum, judge, names } = service.scorer
  const components = names.map((name) => {
    const { description, range, needs } = rewardRegistry[name]
    return { name, description, weight: service.weightOf(name), range, needs }
  })
  const described = ComponentsReply.parse({ profile, maximum, judge, components })

  return new Hono()
    .post('/v1/score', async (c) => {
      const { items } = check(Frame, (await readJson(c)).value)
      const results = await inTurns(items, (item) => scoreItem(service, item))
      return c.json({ profile, maximum, results } satisfies ScoreReply)
    })
    .get('/v1/components', (c) => c.json(described))
}
