import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import process from 'node:process'
import { PassThrough, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { openOutput } from '../../scripts/output.ts'
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

/** Ends like a device without room for anything. */
const fullDisk = (): Writable =>
  new Writable({
    write: (_chunk, _encoding, done) =>
      done(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })),
  })

describe('a channel that takes nothing', () => {
  it('lets work go on when it is the one of progress', async () => {
    const stderr = fullDisk()
    const { progress } = openOutput(new PassThrough(), stderr)
    const closed = new Promise((resolve) => stderr.once('close', resolve))
    progress('step 1')
    await closed
    expect(() => progress('step 2')).not.toThrow()
  })

  it.runIf(existsSync('/dev/full'))('is a failure without a stack trace when it is the one of data', () => {
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), fixture], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    closeSync(full)
    expect({ status, stderr }).toStrictEqual({
      status: 3,
      stderr:
        'error: the disk is full: ENOSPC: no space left on device, write\n  What was to go to standard output is not all there.\ndone\n',
    })
  })
})

describe('text from outside', () => {
  it('reaches neither channel with what would act on a terminal', () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    const { data, progress } = openOutput(stdout, stderr)
    data('\u001B[2Jmodel text')
    progress('\u001B]0;file name\u0007')
    expect([String(stdout.read()), String(stderr.read())]).toStrictEqual([
      '\\u001b[2Jmodel text\n',
      '\\u001b]0;file name\\u0007\n',
    ])
  })
})
