import { describe, expect, it } from 'vitest'
import { isLoopback } from '../../../rewards/service/access.ts'
import { ErrorReply } from '../../../rewards/service/wire.ts'
import { appWith } from './support.ts'

const get = async (app: ReturnType<typeof appWith>, path: string, headers: Record<string, string>) => {
  const response = await app.request(path, { headers })
  return { status: response.status, code: response.ok ? null : ErrorReply.parse(await response.json()).error.code }
}

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

describe('on loopback', () => {
  it.each(['127.0.0.1:8000', 'localhost', 'LOCALHOST:1', '[::1]:8000', '127.8.8.8'])('answers as %s', async (host) => {
    expect(await get(appWith(), '/v1/components', { host })).toStrictEqual({ status: 200, code: null })
  })

  it.each(['evil.example', 'localhost.evil.example:8000', '127.0.0.1.evil.example', '10.0.0.1', '[::2]', ''])(
    'does not answer as %j, whatever the path',
    async (host) => {
      for (const path of ['/v1/components', '/healthz', '/none']) {
        expect(await get(appWith(), path, { host })).toStrictEqual({ status: 403, code: 'forbidden_host' })
      }
    },
  )
})

describe('with a token', () => {
  const app = appWith({ access: { token: 'open sesame', loopbackOnly: false } })

  it.each([
    ['another bearer token', 'Bearer wrong'],
    ['nothing', ''],
    ['an unknown scheme', 'Digest open'],
    ['a wrong password', basic('me', 'wrong')],
    ['the token as user', basic('open sesame', '')],
    ['no base64', 'Basic ???'],
  ])('refuses %s', async (_, authorization) => {
    expect(await get(app, '/v1/components', { authorization })).toStrictEqual({ status: 401, code: 'unauthorized' })
    expect(await get(app, '/metrics', { authorization })).toStrictEqual({ status: 401, code: 'unauthorized' })
  })

  it('takes it as bearer token, and as password for clients that can only put it into the address', async () => {
    const secret = appWith({ access: { token: 'sesame', loopbackOnly: false } })
    for (const authorization of ['Bearer sesame', 'bearer sesame', basic('any', 'sesame'), basic('', 'sesame')]) {
      expect((await get(secret, '/v1/components', { authorization, host: 'gpu-7:8000' })).status).toBe(200)
    }
  })

  it('says that it is up without one', async () => {
    expect((await get(app, '/healthz', { host: 'gpu-7' })).status).toBe(200)
  })
})

it('knows what loopback is', () => {
  expect(['localhost', '127.0.0.1', '::1'].every(isLoopback)).toBe(true)
  expect(['0.0.0.0', '::', '10.0.0.1', 'host'].some(isLoopback)).toBe(false)
})
