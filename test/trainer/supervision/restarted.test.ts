import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { restarted } from '../../../trainer/supervision/restarted.ts'
import { fakeClient } from '../../support/fake-engines.ts'
import { fakeServer } from '../../support/fake-server.ts'

describe('an engine that hangs', () => {
  it.each([
    ['while its end is waited for', 3_600_000, 0],
    ['while it is asked whether it lives', 0, 1],
  ])('holds nobody up who ends: %s', async (_, graceMs, asked) => {
    const server = await fakeServer(() => 'hang')
    onTestFinished(() => server.close())
    const first = {
      url: server.url,
      token: '',
      pid: 0,
      gone: new AbortController().signal,
      stop: async () => undefined,
    }
    const start = () => Promise.reject(new Error('nobody is to be started'))
    const source = restarted({ name: 'it', first, start, clientOf: ({ url }) => fakeClient(url), graceMs })
    const closing = new AbortController()
    const reviving = source.revive(closing.signal, () => undefined)
    await vi.waitUntil(() => server.calls.length === asked)
    closing.abort(new Error('enough'))
    await expect(reviving).rejects.toThrow('enough')
  })
})
