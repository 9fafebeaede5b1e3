import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { packageRoot } from '../../data/package-root.ts'
import { commands, wordOf } from '../../scripts/run-cli.ts'
import { ExportsSection } from '../../trainer/exports/config.ts'
import { docCommands } from '../support/doc-commands.ts'
import { randomSamples, writeEvaluation } from '../support/evaluations.ts'
import { writeResumedRun } from '../support/exported-run.ts'
import { runInProcess } from '../support/in-process-cli.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'
import { mlflowServer, trackioServer } from '../support/tracking-servers.ts'

const pages = readdirSync(join(packageRoot(), 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)

/** Command lines of every fenced block of a page, continued lines joined: also those of YAML and of `npx train`. */
const typed = (page: string): string[] => {
  const text = readFileSync(join(packageRoot(), page), 'utf8').replaceAll('\\\n', ' ')
  return [...text.matchAll(/```[a-z]*\n(.*?)```/gs)].flatMap(([, block = '']) =>
    [...block.matchAll(/\bnpx ((?:drift-grpo|train)\b[^\n#]*)/g)].map(([, line = '']) => line.trim()),
  )
}

describe('the commands of the pages in docs/', () => {
  it.each(pages)('%s names commands and options that exist', (page) => {
    const wrong = typed(page).flatMap((line) => {
      const words = line.split(/\s+/)
      const word = words[0] === 'train' ? 'train' : (words[1] ?? '')
      const command = commands.find((one) => wordOf(one) === word)
      if (command === undefined) return [`${line}: no such command`]
      const used = words.flatMap((part) => /^--([a-z][a-z-]*)/.exec(part)?.[1] ?? [])
      return used.filter((name) => name !== 'help' && !(name in command.options)).map((name) => `${line}: --${name}`)
    })
    expect(wrong).toStrictEqual([])
  })
})

describe('the config of docs/exports.md', () => {
  it('is one that training takes', () => {
    const page = readFileSync(join(packageRoot(), 'docs', 'exports.md'), 'utf8')
    const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(
      ([, block = '']) => parse(block) as { exports: unknown },
    )
    expect(blocks).toHaveLength(1)
    expect(ExportsSection.parse(blocks[0]?.exports)).toMatchObject({ tensorboard: true, everySeconds: 5 })
  })
})

describe('the commands of these pages, typed as they stand there', () => {
  const cwd = temporaryDirectory()
  const servers: { close: () => Promise<void> }[] = []
  const addresses: Record<string, string> = {}

  beforeAll(async () => {
    const runs = join(cwd, 'runs')
    const [weak, strong] = [randomSamples('weak', 0.2), randomSamples('strong', 0.8)]
    for (const id of ['mine', 'old', 'new']) {
      mkdirSync(join(runs, id), { recursive: true })
      writeFileSync(join(runs, id, 'config.resolved.json'), '{}')
      writeEvaluation(join(runs, id, 'eval', 'final'), weak, strong)
    }
    writeResumedRun(runs, 'mine')
    const [mlflow, trackio] = [await mlflowServer(), await trackioServer('token')]
    servers.push(mlflow, trackio)
    Object.assign(addresses, { 'http://127.0.0.1:5000': mlflow.url, 'http://127.0.0.1:7860': trackio.url })
    process.env['TRACKIO_WRITE_TOKEN'] = 'token'
  })
  afterAll(async () => {
    delete process.env['TRACKIO_WRITE_TOKEN']
    for (const server of servers) await server.close()
  })

  /** An evaluation needs a model: those lines are run by the test of the README's commands. */
  const lines = ['docs/evaluation.md', 'docs/regression-gate.md', 'docs/exports.md'].flatMap((page) =>
    docCommands(page)
      .filter(({ args }) => args[0] !== 'eval')
      .map((command) => [page, command.args.join(' '), command] as const),
  )

  it('are there', () => {
    expect(new Set(lines.map(([, , { args }]) => args[0]))).toEqual(new Set(['report', 'regress', 'export']))
  })

  it.each(lines)('%s: %s', async (_, __, { args, exitCode }) => {
    const { code, stderr } = await runInProcess(
      args.map((arg) => addresses[arg] ?? arg),
      cwd,
    )
    expect({ code, stderr: code === exitCode ? '' : stderr }).toStrictEqual({ code: exitCode, stderr: '' })
  })
})
