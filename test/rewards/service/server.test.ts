import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { createRewardApp } from '../../../rewards/service/app.ts'
import { serveRewards, type RewardServer } from '../../../rewards/service/server.ts'
import type { ServiceOptions } from '../../../rewards/service/service.ts'
import { item, paper, patientJudge } from './support.ts'

const running: RewardServer[] = []

const start = async (options: Partial<ServiceOptions> = {}): Promise<RewardServer> => {
  const app = createRewardApp({ rewards: paper, judge: null, ...options })
  const server = await serveRewards(app, { host: '127.0.0.1', port: 0 })
  running.push(server)
  return server
}

afterEach(async () => {
  for (const server of running.splice(0)) {
    server.abort()
    await server.close()
  }
})

const score = (server: RewardServer, items: unknown[]) =>
  fetch(`${server.url}/v1/score`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ items }),
  })

describe('the server', () => {
  it('answers over HTTP', async () => {
    const server = await start()
    const response = await score(server, [item('a')])
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ results: [{ id: 'a', total: expect.closeTo(4.6, 9) }] })
  })

  it('answers a burst of connections', async () => {
    const server = await start()
    const answers = await Promise.all(Array.from({ length: 300 }, (_, i) => score(server, [item(String(i))])))
    const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as { results: { id: string }[] }[]
    expect(bodies.map(({ results }) => results[0]?.id)).toStrictEqual(bodies.map((_, i) => String(i)))
  })

  it('refuses a body that is far too large before it has read it', async () => {
    const server = await start({ maxBodyBytes: 1000 })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(
      'POST /v1/score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 50000000\r\n\r\n{',
    )
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /)
    socket.destroy()
  })

  it('keeps the connection of a client that it refuses', async () => {
    const server = await start({ access: { token: 'right', loopbackOnly: true } })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const post = async (path: string, authorization: string, type: string): Promise<[number | undefined, boolean]> => {
      const sent = request(`${server.url}${path}`, {
        ...{ method: 'POST', agent },
        headers: { authorization, 'content-type': type },
      })
      sent.end('x'.repeat(200_000))
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      await readText(answer)
      return [answer.statusCode, sent.reusedSocket]
    }
    expect(await post('/v1/score', 'Bearer wrong', 'application/json')).toEqual([401, false])
    expect(await post('/nowhere', 'Bearer right', 'application/json')).toEqual([404, true])
    expect(await post('/v1/score', 'Bearer right', 'text/plain')).toEqual([415, true])
    expect(await post('/v1/score', 'Bearer right', 'application/json')).toEqual([400, true])
    agent.destroy()
  })

  it('lives on when a client goes away in the middle of a body', async () => {
    const problems: string[] = []
    const server = await start({ onProblem: (text) => problems.push(text) })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(
      'POST /v1/score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"items',
    )
    await once(socket, 'connect')
    socket.destroy()
    expect((await score(server, [item('a')])).status).toBe(200)
    expect(problems.filter((text) => text.startsWith('500'))).toStrictEqual([])
  })

  it('says which port is taken', async () => {
    const { port } = await start()
    const again = serveRewards(createRewardApp({ rewards: paper, judge: null }), { host: '127.0.0.1', port })
    await expect(again).rejects.toMatchObject({
      boundary: 'usage',
      message: `cannot listen on 127.0.0.1:${port}: the port is in use`,
      remedy: expect.stringContaining('--port'),
    })
  })
})

describe('closing', () => {
  it('lets requests in flight finish and takes no new ones', async () => {
    const { judge, asked, answer } = patientJudge()
    const server = await start({ judge })
    const inFlight = score(server, [item('a')])
    await asked
    const closed = server.close()
    await expect(score(server, [item('b')])).rejects.toThrow('fetch failed')
    answer()
    const response = await inFlight
    expect(await response.json()).toMatchObject({ results: [{ id: 'a', total: expect.any(Number) }] })
    await closed
  })

  it.each([
    ['that have had an answer', 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'],
    ['that never asked', ''],
  ])('does not wait for idle connections %s', async (_, sent) => {
    const server = await start()
    const socket = connect(server.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(sent)
    // Whatever came first has been accepted when a later connection has its answer.
    await (sent === '' ? fetch(`${server.url}/healthz`) : once(socket, 'data'))
    const ended = once(socket, 'close')
    socket.resume()
    await server.close()
    await ended
    expect(socket.destroyed).toBe(true)
    // A second time it has nothing to do.
    await server.close()
  })

  it('does not wait for the rest of a body that never comes', async () => {
    const app = createRewardApp({ rewards: paper, judge: null })
    const server = await serveRewards(app, { host: '127.0.0.1', port: 0, arrivalMs: 1 })
    running.push(server)
    const socket = connect(server.port, '127.0.0.1')
    const cut = once(socket, 'close')
    socket.resume()
    socket.write(
      'POST /v1/score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nexpect: 100-continue\r\ncontent-length: 500\r\n\r\n{',
    )
    // The interim answer says that the request has begun.
    await once(socket, 'data')
    await server.close()
    await cut
    expect(socket.destroyed).toBe(true)
  })

  it('is immediate when it is told to abort', async () => {
    const { judge, asked } = patientJudge()
    const server = await start({ judge })
    const inFlight = score(server, [item('a')]).then(
      () => 'answered',
      () => 'cut',
    )
    await asked
    const closed = server.close()
    server.abort()
    await closed
    expect(await inFlight).toBe('cut')
  })
})
