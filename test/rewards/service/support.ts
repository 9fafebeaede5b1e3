import type { Hono } from 'hono'
import type { NodeId } from '../../../data/records/node.ts'
import type { Prompt } from '../../../data/records/prompt.ts'
import { JudgeError, type Judge } from '../../../judge/judge.ts'
import { RewardsConfig } from '../../../rewards/config.ts'
import { createRewardApp } from '../../../rewards/service/app.ts'
import type { ServiceOptions } from '../../../rewards/service/service.ts'
import { goldCompletions, samplePrompts } from '../../judge/samples.ts'

export const paper = RewardsConfig.parse({ profile: 'paper' })
export const hardened = RewardsConfig.parse({ profile: 'hardened' })

/** The structural components, in the order of the registry. */
export const structural = [
  'json_sanity',
  'json_schema',
  'json_valid',
  'reasoning_length',
  'soft_format',
  'strict_format',
  'total_length',
  'xml_count',
]

/** A service without a judge, unless one is given. */
export const appWith = (options: Partial<ServiceOptions> = {}): Hono =>
  createRewardApp({ rewards: paper, judge: null, ...options })

/** A prompt as a client writes it into a request. */
export const inline = (node: NodeId): Pick<Prompt, 'node' | 'messages' | 'facts' | 'target'> => {
  const { messages, facts, target } = samplePrompts[node]
  return { node, messages, facts, target }
}

/** What a label needs: the messages come with the trainer's prompt. */
export const labelOf = (node: NodeId) => {
  const { facts, target } = samplePrompts[node]
  return { node, facts, target }
}

export const item = (id: string, node: NodeId = 'n1', completion = goldCompletions[node]) => ({
  id,
  prompt: inline(node),
  completion,
})

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly json: unknown
}

/** Posts JSON; gives status, headers and the parsed answer. */
export const post = async (app: Hono, path: string, body: unknown): Promise<Answer> => {
  const response = await app.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, json: await response.json() }
}

/** A judge that gives 0.5, except that it fails on completions with the word. */
export const failingOn = (word: string): Judge => ({
  name: 'moody',
  judge: async ({ completion }) => {
    if (completion.includes(word)) throw new JudgeError('the endpoint is down', { retryable: true })
    return { score: 0.5, reason: 'so so', model: 'moody', cached: false, latencyMs: 0 }
  },
})

/** A judge that answers when it is told to. */
export const patientJudge = () => {
  const waiting: (() => void)[] = []
  let arrived: () => void = () => undefined
  const asked = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const judge: Judge = {
    name: 'patient',
    judge: async () => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        arrived()
      })
      return { score: 1, reason: 'in the end', model: 'patient', cached: false, latencyMs: 0 }
    },
  }
  return { judge, asked, answer: () => waiting.splice(0).forEach((resolve) => resolve()) }
}
