import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findPython } from '../../../scripts/setup/find-python.mjs'
import { SetupError } from '../../../scripts/setup/report.mjs'
import { temporaryDirectory } from '../../support/temporary.ts'

const folder = temporaryDirectory()

/** A program that answers like a Python of that version. */
const fakePython = (name: string, answer: string): string => {
  const file = join(folder, name)
  writeFileSync(file, `#!/bin/sh\necho "${answer}"\n`)
  chmodSync(file, 0o755)
  return file
}

describe('the search for a Python', () => {
  it('takes the one that DRIFT_GRPO_PYTHON names', () => {
    const command = fakePython('good', '3.12.1 True')
    expect(findPython({ DRIFT_GRPO_PYTHON: command })).toStrictEqual({ command, version: '3.12.1' })
  })

  it.each([
    ['too old', '3.9.2 True', 'version 3.9.2'],
    ['of the wrong major version', '2.7.18 True', 'version 2.7.18'],
    ['without venv', '3.11.2 False', 'version 3.11.2, without the venv module'],
    ['no Python at all', 'hello', 'version hello'],
  ])('refuses one that is %s, and says so', (name, answer, problem) => {
    const command = fakePython(name.replaceAll(' ', '-'), answer)
    const search = () => findPython({ DRIFT_GRPO_PYTHON: command })
    expect(search).toThrow(SetupError)
    expect(search).toThrow(`tried ${command}: ${problem}`)
  })

  it('names what it tried when the command does not exist', () => {
    const search = () => findPython({ DRIFT_GRPO_PYTHON: join(folder, 'nowhere') })
    expect(search).toThrow('Python 3.11 or newer is needed')
    expect(search).toThrow('nowhere: not found')
  })
})
