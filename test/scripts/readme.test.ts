import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shippedConfigs } from '../../configs/find.ts'
import { packageRoot } from '../../data/package-root.ts'
import { commands, wordOf } from '../../scripts/run-cli.ts'

const documents = ['README.md', 'CONTRIBUTING.md']
  .map((name) => join(packageRoot(), name))
  .map((file) => readFileSync(file, 'utf8'))
const prose = documents.join('\n')

/** Lines of fenced blocks and inline code: what a reader would type. */
const code = [...prose.matchAll(/```[a-z]*\n(.*?)```/gs), ...prose.matchAll(/`([^`\n]+)`/g)]
  .map(([, text = '']) => text)
  .join('\n')

const manifest = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
  bin: Record<string, string>
}

const unique = (pattern: RegExp): string[] => [...new Set([...code.matchAll(pattern)].map(([, found = '']) => found))]

describe('what the documents tell people to type', () => {
  it('names npm scripts that exist', () => {
    const builtIn = new Set(['start', 'test', 'install', 'ci', 'link', 'run', 'exec', 'pack'])
    const named = [...unique(/\bnpm run ([\w:-]+)/g), ...unique(/\bnpm (?!run\b)([a-z]+)/g)]
    expect(named.filter((name) => !(name in manifest.scripts) && !builtIn.has(name))).toStrictEqual([])
  })

  it('names commands that exist', () => {
    const named = unique(/\bdrift-grpo ([a-z][a-z-]*)/g)
    expect(named.filter((name) => !commands.some((command) => wordOf(command) === name))).toStrictEqual([])
  })

  it('names shipped configs that exist, or says that the file is the reader’s own', () => {
    const named = unique(/--config ([\w.-]+\.yaml)\b/g).filter((name) => !/^(my|mine|train|your)/.test(name))
    expect(named.filter((name) => !shippedConfigs().includes(name))).toStrictEqual([])
  })

  it('names options that the commands have', () => {
    const wrong = code.split('\n').flatMap((line) => {
      const word = /\bdrift-grpo ([a-z-]+)/.exec(line)?.[1] ?? (/\btrain\s+--/.test(line) ? 'train' : undefined)
      const command = commands.find((one) => wordOf(one) === word)
      if (command === undefined) return []
      const options = [...line.matchAll(/\s--([a-z][a-z-]*)/g)].map(([, option = '']) => option)
      return options
        .filter((option) => option !== 'help' && !(option in command.options))
        .map((option) => `${line}: --${option}`)
    })
    expect(wrong).toStrictEqual([])
  })
})
