import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { lockOf } from '../../../scripts/setup/venv.mjs'

const pins = (text: string): string[] =>
  [...text.matchAll(/^([\w.-]+)==([^\s\\;#]+)/gm)].map(([, name = '', version = '']) => {
    return `${name.toLowerCase().replaceAll(/[._-]+/g, '-')}==${version}`
  })

describe.each(['requirements', 'requirements-dev', 'requirements-trl'])('%s', (name) => {
  const requirements = `trainer/python/${name}.txt`
  const lock = readFileSync(lockOf(requirements), 'utf8')

  it('locks just what it pins, without torch', () => {
    const wanted = pins(readFileSync(requirements, 'utf8')).filter((pin) => !pin.startsWith('torch=='))
    expect(wanted.length).toBeGreaterThan(0)
    expect(pins(lock).toSorted()).toEqual(wanted.toSorted())
  })

  it('has hashes for every package', () => {
    const entries = lock.split(/^(?=[\w.-]+==)/m).slice(1)
    for (const entry of entries) expect(entry).toMatch(/--hash=sha256:[0-9a-f]{64}/)
  })
})
