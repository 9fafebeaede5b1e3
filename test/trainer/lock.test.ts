import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { acquireLock, processStart } from '../../trainer/lock.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'

const path = (): string => join(temporaryDirectory(), 'lock.json')
const held = (lock: string, holder: object): void =>
  writeFileSync(lock, JSON.stringify({ host: hostname(), ...holder }))

describe('the lock of a run', () => {
  it('keeps a second process out while the first one lives, and names it', async () => {
    const lock = path()
    const release = await acquireLock(lock)
    await expect(acquireLock(lock)).rejects.toThrow(`in use by process ${process.pid}`)
    await release()
    expect(readdirSync(dirname(lock))).toEqual([])
    await (
      await acquireLock(lock)
    )()
  })

  it('is taken over from a process that has ended', async () => {
    const lock = path()
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    held(lock, { pid, startedAt: '1' })
    await acquireLock(lock)
    expect(JSON.parse(readFileSync(lock, 'utf8'))).toMatchObject({ pid: process.pid })
  })

  it('is taken over when the pid now belongs to another process', async () => {
    const lock = path()
    held(lock, { pid: process.pid, startedAt: 'long ago' })
    await expect(acquireLock(lock)).resolves.toBeTypeOf('function')
  })

  it('is taken over when it is unreadable, and respected when it is of another machine', async () => {
    const torn = path()
    writeFileSync(torn, '{"pid":')
    await expect(acquireLock(torn)).resolves.toBeTypeOf('function')
    const remote = path()
    held(remote, { pid: 1, startedAt: '1', host: 'another-machine' })
    await expect(acquireLock(remote)).rejects.toThrow(/on another-machine/)
    expect(existsSync(remote)).toBe(true)
  })

  it('goes to exactly one of many takers', async () => {
    const lock = path()
    held(lock, { pid: process.pid, startedAt: 'long ago' })
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => acquireLock(lock)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('tells a living process from none', () => {
    expect(processStart(process.pid)).toMatch(/\S/)
    expect(processStart(2 ** 22 + 1)).toBeUndefined()
  })
})
