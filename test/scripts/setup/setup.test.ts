import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { nodeModulesAreCurrent } from '../../../scripts/setup/node-modules.mjs'
import { madeElsewhere, relocate } from '../../../scripts/setup/relocate.mjs'
import { filesBelow, hashFiles } from '../../../scripts/setup/stamp.mjs'
import { temporaryDirectory } from '../../support/temporary.ts'

let root = ''
beforeEach(() => {
  root = realpathSync(temporaryDirectory())
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
    const hash = (): string => hashFiles(root, filesBelow(root, '.ts'))
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

describe('a checkout that was moved', () => {
  const make = (name: string): string => {
    const checkout = join(root, name)
    mkdirSync(join(checkout, 'src'), { recursive: true })
    writeFileSync(join(checkout, 'src', 'one.ts'), '1')
    return checkout
  }

  it('has the stamps that it had', () => {
    const [here, there] = [make('here'), make('there')]
    const hash = (checkout: string): string => hashFiles(checkout, filesBelow(join(checkout, 'src'), '.ts'))
    expect(hash(there)).toBe(hash(here))
  })

  /** An environment as Python makes it, with a real program in it; its interpreter is a script that says who it is. */
  const environment = (checkout: string): string => {
    const venv = join(checkout, '.venv')
    mkdirSync(join(venv, 'bin'), { recursive: true })
    writeFileSync(join(venv, 'pyvenv.cfg'), `home = /usr/bin\ncommand = /usr/bin/python3 -m venv ${venv}\n`)
    const program = (name: string, text: string): void => writeFileSync(join(venv, 'bin', name), text, { mode: 0o755 })
    program('python', '#!/bin/sh\necho "$0"\n')
    for (const name of ['pip', 'ruff']) program(name, `#!${venv}/bin/python\n`)
    program('long', `#!/bin/sh\n'''exec' ${venv}/bin/python "$0" "$@"\n' '''\n`)
    writeFileSync(join(venv, 'bin', 'activate'), `VIRTUAL_ENV=${venv}\n`)
    writeFileSync(join(venv, 'bin', 'binary'), Buffer.from(`\0\u00ff${venv}`))
    return venv
  }

  it('is noticed, and its environment calls its own interpreter again', () => {
    const before = environment(make('old'))
    expect(madeElsewhere(before)).toBeUndefined()
    renameSync(join(root, 'old'), join(root, 'new'))
    const venv = join(root, 'new', '.venv')
    const home = madeElsewhere(venv)
    expect(home).toBe(before)
    const binary = readFileSync(join(venv, 'bin', 'binary'))
    relocate(venv, home ?? '')
    expect(madeElsewhere(venv)).toBeUndefined()
    for (const name of ['pip', 'ruff', 'long'])
      expect(spawnSync(join(venv, 'bin', name), { encoding: 'utf8' }).stdout.trim()).toBe(join(venv, 'bin', 'python'))
    for (const file of ['bin/activate', 'pyvenv.cfg'])
      expect(readFileSync(join(venv, file), 'utf8')).not.toContain(before)
    expect(readFileSync(join(venv, 'bin', 'binary'))).toEqual(binary)
  })

  it('is no stranger when it is only reached by another path', () => {
    environment(make('real'))
    symlinkSync(join(root, 'real'), join(root, 'link'))
    expect(madeElsewhere(join(root, 'link', '.venv'))).toBeUndefined()
  })

  it('that is a copy does not go on calling the interpreter of the original', () => {
    environment(make('original'))
    cpSync(join(root, 'original'), join(root, 'copy'), { recursive: true })
    expect(madeElsewhere(join(root, 'copy', '.venv'))).toBe(join(root, 'original', '.venv'))
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
