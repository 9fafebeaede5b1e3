import { describe, expect, it } from 'vitest'
import { commands, wordOf } from '../../scripts/run-cli.ts'

const describes = (option: { readonly describe?: string | undefined }, pattern: RegExp): boolean =>
  pattern.test(option.describe ?? '')

describe('options of different commands', () => {
  it('that mean the directory of the runs all have one name', () => {
    const named = commands.flatMap((command) =>
      Object.entries(command.options)
        .filter(([, option]) => describes(option, /^directory of the runs/))
        .map(([name]) => [wordOf(command), name]),
    )
    expect(named).toEqual(expect.arrayContaining(['train', 'eval', 'runs'].map((word) => [word, 'dir'])))
    expect(named.filter(([, name]) => name !== 'dir')).toEqual([])
  })

  it('have no second spelling for it', () => {
    const others = commands.flatMap(({ options }) => Object.keys(options).filter((name) => /^runs?-?dir$/i.test(name)))
    expect(others).toEqual([])
  })
})
