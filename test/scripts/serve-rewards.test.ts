import { once } from 'node:events'
import { connect } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { labelOf, item } from '../rewards/service/support.ts'
import { goldCompletions } from '../judge/samples.ts'
import { JudgeServer } from '../support/judge-server.ts'
import { runProgram, startProgram, type Started } from '../support/run-program.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'

const structuralOnly = ['--config', 'tiny.yaml', '--set', 'judge.kind=none']

/** Starts the command on a free port and waits for its address. */
const serve = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const started = startProgram('scripts/cli.ts', ['serve-rewards', '--port', '0', ...args], { env })
  const address = once(started.child.stdout ?? started.child, 'data')
  await started.said('R is at most')
  const [line] = (await address) as [string]
  return { ...started, url: line.trim() }
}

const stop = async ({ child, ended }: Started): Promise<number | null> => {
  child.kill('SIGTERM')
  return (await ended).code
}

const post = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, json: await response.json() }
}

describe('serve-rewards', () => {
  it('prints its address, scores, and ends in order on a signal, whoever is still connected', async () => {
    const server = await serve([...structuralOnly, '--inline'])
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const { json } = await post(`${server.url}/v1/score`, { items: [item('a')] })
    expect(json).toMatchObject({ profile: 'hardened', results: [{ id: 'a', total: expect.closeTo(4.6, 9) }] })
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    await once(socket, 'connect')
    const code = await stop(server)
    const { stdout, stderr } = await server.ended
    expect(code).toBe(143)
    expect(stdout).toBe(`${server.url}\n`)
    expect(stderr).toContain('0 prompts, profile hardened, judge none, R is at most 4.60')
    expect(stderr).toContain('finishing the requests in flight')
  })

  it('knows the prompts of a pool by id, and asks the judge of its config', async () => {
    const file = join(temporaryDirectory(), 'pool.jsonl')
    const messages = [
      { role: 'system', content: 's' },
      { role: 'user', content: 'Writes: payments.send | mail.archive' },
    ]
    writeFileSync(file, `${JSON.stringify({ ...labelOf('n3'), messages })}\n`)
    const server = await serve(['--config', 'tiny.yaml', '--pool', file])
    const { json } = await post(`${server.url}/v1/slime?reply=object`, {
      prompt: messages,
      response: `${goldCompletions.n3}<|im_end|>`,
      label: { ...labelOf('n3'), messages },
    })
    expect(json).toMatchObject({ reward: expect.any(Number), judge: expect.any(Number), strict_format: 0.5 })
    expect(await stop(server)).toBe(143)
    expect((await server.ended).stderr).toContain('1 prompts, profile hardened, judge reference, R is at most 5.60')
  })

  it('cuts the stop tokens that it was told, and says on stderr what it refuses, once while it lasts', async () => {
    const server = await serve([...structuralOnly, '--inline', '--stop-token', '<END>', '--stop-token', '<PAD>'])
    const response = `${goldCompletions.n1}<END><PAD>`
    const { json } = await post(`${server.url}/v1/slime`, { prompt: '', response, label: labelOf('n1') })
    expect(json).toBeCloseTo(4.6, 9)
    for (const label of ['7', '7', '7']) await post(`${server.url}/v1/slime`, { prompt: '', response: '', label })
    await stop(server)
    const lines = (await server.ended).stderr.split('\n').filter((line) => line.startsWith('422'))
    expect(lines).toStrictEqual([expect.stringContaining('422 POST /v1/slime: label: must be the id of a prompt')])
  })

  it('says on stderr that it waits for the judge, and when it goes on', async () => {
    let down = true
    const judge = await JudgeServer.start({ behave: () => (down ? { status: 503 } : 'verdict') })
    onTestFinished(() => judge.close())
    const settings = {
      ...{ kind: 'llm', baseUrl: judge.url, model: 'judge', cache: { dir: null }, retries: 0 },
      breaker: { failures: 1, pauseSeconds: 0.1 },
    }
    const server = await serve(['--config', 'tiny.yaml', '--inline', '--set', `judge=${JSON.stringify(settings)}`])
    const answer = post(`${server.url}/v1/score`, { items: [item('a')] })
    await server.said('waiting for the judge: HTTP 503')
    down = false
    expect((await answer).json).toMatchObject({ results: [{ unscored: null }] })
    await stop(server)
    expect((await server.ended).stderr).toContain('the judge is back after')
  })

  it('takes its token from the environment, and asks for it', async () => {
    const server = await serve([...structuralOnly, '--inline', '--host', '0.0.0.0'], {
      DRIFT_GRPO_REWARD_TOKEN: 'sesame',
    })
    const url = `${server.url.replace('0.0.0.0', '127.0.0.1')}/v1/score`
    expect((await post(url, { items: [] })).status).toBe(401)
    expect((await post(url, { items: [] }, { authorization: 'Bearer sesame' })).status).toBe(200)
    await stop(server)
  })

  it.each([
    ['another address without a token', ['--host', '0.0.0.0'], 'there is no token'],
    ['a port that is none', ['--port', '70000'], '70000'],
  ])('refuses %s', async (_, args, message) => {
    const { code, stdout, stderr } = await runProgram('scripts/cli.ts', [
      'serve-rewards',
      ...[...structuralOnly, '--inline'],
      ...args,
    ])
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('unexpected')
  })
})
