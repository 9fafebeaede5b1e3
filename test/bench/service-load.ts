import { Agent, request } from 'node:http'
import { PoolConfig } from '../../data/pool/config.ts'
import type { Prompt } from '../../data/records/prompt.ts'
import { goldCompletions } from '../judge/samples.ts'
import { structuralCases } from '../rewards/adversarial.ts'

export const benchPool = PoolConfig.parse({ kind: 'world', train: 200, heldout: 5 })

const groupSize = 4

/** Completions such as a policy in training writes: right ones, and broken ones of ordinary length. */
const completionsOf = (node: Prompt['node']): readonly string[] => {
  const broken = structuralCases.filter((one) => one.node === node && one.completion.length < 2000)
  return [goldCompletions[node], ...broken.slice(0, groupSize - 1).map(({ completion }) => completion)]
}

/** Bodies of `/v1/score`: whole groups of four completions of one prompt. */
export const makeBodies = (prompts: readonly Prompt[], batch: number, count: number, byId: boolean): Buffer[] =>
  Array.from({ length: count }, (_, number) => {
    const items = Array.from({ length: batch }, (__, i) => {
      const prompt = prompts[(number * (batch / groupSize) + Math.floor(i / groupSize)) % prompts.length]
      if (prompt === undefined) throw new Error('the pool is empty')
      const { id, node, messages, facts, target } = prompt
      const completions = completionsOf(node)
      return {
        id: String(i),
        prompt: byId ? { id } : { node, messages, facts, target },
        completion: completions[i % completions.length],
      }
    })
    return Buffer.from(JSON.stringify({ items }))
  })

/** A client that costs as little as possible: it reads answers and throws them away. */
export const openClient = (url: string, connections: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { hostname, port } = new URL(url)
  const post = (body: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length }
      const sent = request({ agent, hostname, port, path: '/v1/score', method: 'POST', headers }, (response) => {
        response.resume()
        response.on('end', () => {
          if (response.statusCode === 200) resolve()
          else reject(new Error(`status ${response.statusCode}`))
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  return { post, close: () => agent.destroy() }
}
