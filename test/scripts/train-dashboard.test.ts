import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { makeRuns } from '../support/dashboard.ts'

// It starts below the priority of whatever else the machine does.
vi.setConfig({ testTimeout: 600_000 })

describe('the dashboard of a training', () => {
  let runs: Awaited<ReturnType<typeof makeRuns>>
  beforeAll(async () => {
    runs = await makeRuns()
  })
  afterAll(() => runs.remove())
  const train = (wanted: 'yes' | 'no') => {
    const program = join(packageRoot(), 'test/support/shown-training.ts')
    const args = ['--import', import.meta.resolve('tsx'), program, runs.directory, wanted]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    const said = async (pattern: RegExp): Promise<RegExpExecArray> => {
      for (;;) {
        const found = pattern.exec(text)
        if (found !== null) return found
        if (child.exitCode !== null) throw new Error(`it ended without saying ${pattern}: ${text}`)
        await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
      }
    }
    return { child, said, text: () => text }
  }
  /** Resolves when nothing answers there any more. */
  const isGone = async (url: string): Promise<void> => {
    for (;;) {
      const answer = await fetch(url).catch(() => null)
      if (answer === null) return
      await answer.text()
    }
  }

  it('shows its run, says how to see it from elsewhere, and ends with it', async () => {
    const { child, said } = train('yes')
    const [, url = '', port = ''] = await said(/dashboard: (http:\/\/127\.0\.0\.1:(\d+))\/runs\/mine\?token=/)
    await said(new RegExp(`ssh -L ${port}:127.0.0.1:${port} `))
    child.stdin.end()
    await said(/over/)
    await isGone(url)
    expect(child.signalCode).toBeNull()
  })
  it('is open to those only who have the address that was printed', async () => {
    const { child, said } = train('yes')
    const [, page = '', url = '', token = ''] = await said(/dashboard: ((http:\/\/[\d.:]+)\/\S+\?token=(\S{32}))\n/)
    expect((await fetch(`${url}/api/runs/mine`)).status).toBe(401)
    const response = await fetch(page, { redirect: 'manual' })
    expect(response.headers.get('location')).toBe('/runs/mine')
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect((await fetch(`${url}/api/runs/mine`, { headers: { cookie } })).status).toBe(200)
    // Other accounts see the command lines of this one.
    const commands = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout
    expect(commands).toContain('train-dashboard-process')
    expect(commands).not.toContain(token)
    child.stdin.end()
    await said(/over/)
  })
  it('ends when the training is killed', async () => {
    const { child, said } = train('yes')
    const [, url = ''] = await said(/dashboard: (http:\/\/127\.0\.0\.1:\d+)/)
    child.kill('SIGKILL')
    await isGone(url)
    expect(child.killed).toBe(true)
  })
  it('takes another port where the usual one is taken', async () => {
    const other = createServer()
    other.listen(7333, '127.0.0.1')
    // Taken by this server, or by another one already.
    await Promise.race([once(other, 'listening'), once(other, 'error')])
    const { child, said } = train('yes')
    const [, url = ''] = await said(/dashboard: (http:\/\/127\.0\.0\.1:\d+)/)
    expect(url).not.toContain(':7333')
    child.stdin.end()
    await once(child, 'exit')
    if ((other.address() as AddressInfo | null) !== null) other.close()
  })
  it('is not there when nobody wants it', async () => {
    const { child, said, text } = train('no')
    await said(/training/)
    child.stdin.end()
    await said(/over/)
    expect(text()).not.toContain('dashboard')
  })
})
