import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { nodeModulesAreCurrent } from '../../../scripts/setup/node-modules.mjs'
import { filesBelow, hashFiles } from '../../../scripts/setup/stamp.mjs'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'drift-grpo-setup-'))
})

describe('set-up', () => {
  it('ends with exit code 3 and one message, before anything is downloaded, when there is no Python', () => {
    cpSync(join(packageRoot(), 'scripts', 'setup.mjs'), join(root, 'scripts', 'setup.mjs'))
    cpSync(join(packageRoot(), 'scripts', 'setup'), join(root, 'scripts', 'setup'), { recursive: true })
    const { status, stderr, stdout } = spawnSync(process.execPath, [join(root, 'scripts', 'setup.mjs')], {
      encoding: 'utf8',
      env: { ...process.env, DRIFT_GRPO_PYTHON: '/nowhere/python' },
    })
    expect({ status, stdout }).toStrictEqual({ status: 3, stdout: '' })
    expect(stderr).toContain('Python 3.11 or newer is needed')
    expect(stderr).not.toContain('    at ')
    expect(existsSync(join(root, 'node_modules'))).toBe(false)
  })
})

describe('the stamp over sources', () => {
  it('changes with a name, a content and a new file, not with anything else', () => {
    const hash = (): string => hashFiles(filesBelow(root, '.ts'))
    mkdirSync(join(root, 'a'))
    writeFileSync(join(root, 'a', 'one.ts'), '1')
    const before = hash()
    writeFileSync(join(root, 'a', 'one.ts'), '1')
    writeFileSync(join(root, 'a', 'notes.md'), 'other')
    expect(hash()).toBe(before)
    writeFileSync(join(root, 'a', 'one.ts'), '2')
    const edited = hash()
    writeFileSync(join(root, 'a', 'two.ts'), '')
    expect(new Set([before, edited, hash()]).size).toBe(3)
  })
})

describe('installed Node packages', () => {
  const write = (file: string, packages: object): void => writeFileSync(join(root, file), JSON.stringify({ packages }))
  const locked = {
    '': { version: '1.0.0' },
    'node_modules/a': { version: '1.2.3' },
    'node_modules/other-platform': { version: '1.0.0', optional: true },
  }

  it('are current when every locked version is there, other platforms aside', () => {
    mkdirSync(join(root, 'node_modules'))
    write('package-lock.json', locked)
    write('node_modules/.package-lock.json', { 'node_modules/a': { version: '1.2.3' } })
    expect(nodeModulesAreCurrent(root)).toBe(true)
  })

  it('are stale when one is missing or of another version, or nothing is installed', () => {
    write('package-lock.json', locked)
    expect(nodeModulesAreCurrent(root)).toBe(false)
    mkdirSync(join(root, 'node_modules'))
    write('node_modules/.package-lock.json', { 'node_modules/a': { version: '1.2.4' } })
    expect(nodeModulesAreCurrent(root)).toBe(false)
    write('node_modules/.package-lock.json', {})
    expect(nodeModulesAreCurrent(root)).toBe(false)
  })
})
