import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { findConfig } from '../../configs/find.ts'
import { loadConfig } from '../../configs/load.ts'
import { packageRoot } from '../../data/package-root.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const shipped = (name: string): string => join(packageRoot(), 'configs', name)
let cwd = ''
beforeEach(() => {
  cwd = temporaryDirectory()
})

describe('the file behind a config name', () => {
  it('is one of the working directory first, then a shipped one', () => {
    expect(findConfig('tiny.yaml', cwd)).toBe(shipped('tiny.yaml'))
    writeFileSync(join(cwd, 'tiny.yaml'), '')
    expect(findConfig('tiny.yaml', cwd)).toBe(join(cwd, 'tiny.yaml'))
  })

  it('may be named without its ending', () => {
    expect(findConfig('tiny', cwd)).toBe(shipped('tiny.yaml'))
  })

  it('is never a shipped one when the name has a folder in it', () => {
    expect(() => findConfig('./mine/tiny.yaml', cwd)).toThrow('there is no config ./mine/tiny.yaml')
  })

  it('is not a directory', () => {
    mkdirSync(join(cwd, 'tiny.yaml'))
    expect(findConfig('tiny.yaml', cwd)).toBe(shipped('tiny.yaml'))
  })

  it('is guessed when the name is misspelt', () => {
    expect(() => findConfig('tinny.yaml', cwd)).toThrow(
      expect.objectContaining({ remedy: expect.stringContaining('Did you mean tiny.yaml?') as string }),
    )
  })
})

describe('a file that is no text', () => {
  it('is refused as such', async () => {
    writeFileSync(join(cwd, 'bad.yaml'), Buffer.from([0x72, 0xff, 0xfe, 0x00]))
    await expect(loadConfig({ name: 'bad.yaml', sets: [], cwd })).rejects.toThrow('is not UTF-8 text')
  })

  it('is refused unread when it is far larger than a config', async () => {
    writeFileSync(join(cwd, 'large.yaml'), '# x\n'.repeat(2 ** 18 + 1))
    await expect(loadConfig({ name: 'large.yaml', sets: [], cwd })).rejects.toMatchObject({
      boundary: 'config',
      message: expect.stringContaining('has 1048580 bytes; a config has at most 1048576'),
    })
  })
})
