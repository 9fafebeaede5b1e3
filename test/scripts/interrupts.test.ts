import { describe, expect, it, onTestFinished } from 'vitest'
import { JudgeServer } from '../support/judge-server.ts'
import { startProgram } from '../support/run-program.ts'

const fixture = 'test/scripts/fixtures/interrupted.ts'

describe('Ctrl-C', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('once (%s) asks for a tidy end and gives exit code %i', async (signal, code) => {
    const { child, said, ended } = startProgram(fixture, [])
    await said('working')
    child.kill(signal)
    const { stderr, ...rest } = await ended
    expect(rest).toStrictEqual({ code, stdout: '' })
    expect(stderr).toContain('finishing; press Ctrl-C once more to stop now')
    expect(stderr).toContain('finished')
  })

  it('twice asks for an end now', async () => {
    const { child, said, ended } = startProgram(fixture, ['stubborn'])
    await said('working')
    child.kill('SIGINT')
    await said('once more')
    child.kill('SIGINT')
    const { code, stderr } = await ended
    expect(code).toBe(130)
    expect(stderr).toContain('stopping now\naborted')
  })

  it('a third time ends a process that heeds neither', async () => {
    const { child, said, ended } = startProgram(fixture, ['deaf'])
    await said('working')
    child.kill('SIGINT')
    await said('once more')
    child.kill('SIGINT')
    await said('stopping now')
    child.kill('SIGINT')
    expect((await ended).code).toBe(130)
  })

  it('once ends a command that waits for somebody else, and is no fault of the program', async () => {
    let told = (): void => undefined
    const asked = new Promise<void>((resolve) => (told = resolve))
    const behave = (): 'hang' => {
      told()
      return 'hang'
    }
    const server = await JudgeServer.start({ behave })
    onTestFinished(() => server.close())
    const judge = JSON.stringify({ kind: 'llm', baseUrl: server.url, model: 'judge' })
    const { child, ended } = startProgram('scripts/cli.ts', [
      'audit',
      '--config',
      'tiny.yaml',
      '--set',
      `judge=${judge}`,
    ])
    await asked
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    expect({ code, stdout }).toStrictEqual({ code: 130, stdout: '' })
    expect(stderr.trimEnd().split('\n').at(-1)).toBe('stopping; press Ctrl-C once more to stop now')
  })
})
