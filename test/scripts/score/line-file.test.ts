import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLineFile } from '../../../scripts/score/line-file.ts'

const directory = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'drift-grpo-lines-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe('a file of lines', () => {
  it('has its name only when it is whole', async () => {
    const path = join(directory(), 'deep', 'lines.jsonl')
    const file = await openLineFile(path)
    await file.write({ a: 1 })
    expect(existsSync(path)).toBe(false)
    await file.write({ b: 2 })
    await file.close()
    expect(readFileSync(path, 'utf8')).toBe('{"a":1}\n{"b":2}\n')
  })

  it('leaves nothing behind when it is given up', async () => {
    const path = directory()
    const file = await openLineFile(join(path, 'lines.jsonl'))
    await file.write({ a: 1 })
    await file.discard()
    expect(readdirSync(path)).toEqual([])
  })

  it.skipIf(!existsSync('/dev/full'))('fails, and does not end the process, when the disk is full', async () => {
    const path = directory()
    // The temporary file is a device that takes nothing.
    symlinkSync('/dev/full', join(path, `lines.jsonl.${process.pid}.tmp`))
    const file = await openLineFile(join(path, 'lines.jsonl'))
    const writeAll = async (): Promise<void> => {
      for (let i = 0; i < 20; i += 1) {
        await file.write({ text: 'x'.repeat(1000) })
        await new Promise((resolve) => setImmediate(resolve))
      }
      await file.close()
    }
    await expect(writeAll()).rejects.toThrow('ENOSPC')
    await file.discard()
    expect(readdirSync(path)).toEqual([])
  })
})
