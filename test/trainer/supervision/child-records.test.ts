import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { processStart } from '../../../trainer/lock.ts'
import { endOrphans, findOrphans, recordChild } from '../../../trainer/supervision/child-records.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'

const started = new Set<number>()
afterEach(() => {
  for (const pid of started) if (processStart(pid) !== undefined) process.kill(-pid, 'SIGKILL')
  started.clear()
})

/** A process in a group of its own that lives until it is ended. */
const sleeper = async (script = 'setInterval(() => {}, 1000)'): Promise<number> => {
  const child = spawn(process.execPath, ['-e', `${script}; console.log('there')`], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  const pid = child.pid ?? 0
  started.add(pid)
  return pid
}

/** A program that starts an engine on record, says its pid, and is then killed. */
const killedOwner = async (directory: string, ending: string): Promise<number> => {
  const module = join(packageRoot(), 'trainer/supervision/child-records.ts')
  const script = `
    import { spawn } from 'node:child_process'
    import { recordChild } from ${JSON.stringify(module)}
    const child = spawn(process.execPath, ['-e', ${JSON.stringify(`${ending}; setInterval(() => {}, 1000); console.log('there')`)}], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    recordChild(${JSON.stringify(directory)}, 'policy server', child.pid)
    child.stdout.once('data', () => console.log(child.pid))
    setInterval(() => {}, 1000)
  `
  const owner = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string]
  const pid = Number(line)
  started.add(pid)
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  return pid
}

/** Changes the record of a child. */
const rewrite = (directory: string, pid: number, changes: object): void => {
  const file = join(directory, `${pid}.json`)
  const record = JSON.parse(readFileSync(file, 'utf8')) as object
  writeFileSync(file, JSON.stringify({ ...record, ...changes }))
}
const deadOwner = { owner: { pid: 2 ** 22 + 1, startedAt: '1' } }

describe('a child on record', () => {
  it('is no orphan while its owner lives; its record goes with it', async () => {
    const directory = temporaryDirectory()
    const pid = await sleeper()
    const forget = recordChild(directory, 'policy server', pid)
    expect(readdirSync(directory)).toEqual([`${pid}.json`])
    expect(await findOrphans(directory)).toEqual([])
    forget()
    expect(readdirSync(directory)).toEqual([])
  })

  it('is found and ended when its owner was killed, even if it ignores SIGTERM', async () => {
    const directory = temporaryDirectory()
    const pid = await killedOwner(directory, 'process.on("SIGTERM", () => {})')
    expect(processStart(pid)).toBeDefined()
    expect(await findOrphans(directory)).toMatchObject([{ what: 'policy server', pid }])
    expect(await endOrphans(directory, { graceMs: 50, pollMs: 10 })).toEqual([
      `ended the policy server (process ${pid}) that a killed run had left behind`,
    ])
    expect(processStart(pid)).toBeUndefined()
    expect(readdirSync(directory)).toEqual([])
  })

  it('is ended with a child of its own that outlives it', async () => {
    const directory = temporaryDirectory()
    const file = join(temporaryDirectory(), 'pid')
    const stubborn = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); require("fs").writeFileSync(${JSON.stringify(file)}, String(process.pid))`
    const pid = await killedOwner(
      directory,
      `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(stubborn)}], { stdio: "ignore" })`,
    )
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toMatch(/^\d+$/)
    const child = Number(readFileSync(file, 'utf8'))
    await endOrphans(directory, { pollMs: 10 })
    expect(processStart(pid)).toBeUndefined()
    await expect.poll(() => processStart(child)).toBeUndefined()
  })

  it('whose id was given to another process is left alone', async () => {
    const directory = temporaryDirectory()
    const pid = await sleeper()
    recordChild(directory, 'policy server', pid)
    rewrite(directory, pid, { ...deadOwner, startedAt: '12345' })
    expect(await endOrphans(directory)).toEqual([])
    expect(processStart(pid)).toBeDefined()
    expect(existsSync(join(directory, `${pid}.json`))).toBe(false)
  })

  it('of another machine is left alone, and so is a record that cannot be read', async () => {
    const directory = temporaryDirectory()
    const pid = await sleeper()
    recordChild(directory, 'policy server', pid)
    rewrite(directory, pid, { ...deadOwner, host: 'elsewhere' })
    writeFileSync(join(directory, '17.json'), '{"pid":')
    mkdirSync(join(directory, 'other'))
    expect(await endOrphans(directory)).toEqual([])
    expect(processStart(pid)).toBeDefined()
    expect(readdirSync(directory)).toHaveLength(3)
  })

  it('is looked for in vain where nothing was ever started', async () => {
    expect(await endOrphans(join(temporaryDirectory(), 'none'))).toEqual([])
  })
})
