import { describe, expect, it } from 'vitest'
import { runProgram, startProgram } from '../support/run-program.ts'

const fixture = 'test/scripts/fixtures/chatty.ts'

describe('output', () => {
  it('keeps data on stdout and progress on stderr', async () => {
    const { code, stdout, stderr } = await runProgram(fixture, [])
    expect({ code, lines: stdout.split('\n').length, stderr }).toStrictEqual({ code: 0, lines: 201, stderr: 'done\n' })
  })

  it('survives a reader that goes away, as in `| head`', async () => {
    const { child, ended } = startProgram(fixture, [])
    child.stdout?.once('data', () => child.stdout?.destroy())
    const { code, stderr } = await ended
    expect({ code, stderr }).toStrictEqual({ code: 0, stderr: 'done\n' })
  })
})
