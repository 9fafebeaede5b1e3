import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { buildIsCurrent } from '../../scripts/setup/build.mjs'
import { runInProcess } from '../support/in-process-cli.ts'
import { makeRun } from '../support/published-run.ts'
import { shortPool, temporaryDirectory } from '../support/tiny-training.ts'

/** Makes a file of each kind that is none of the kind that is wanted. */
const rubbish = {
  'an empty file': (path: string) => writeFileSync(path, ''),
  'a truncated line': (path: string) => writeFileSync(path, '{"node": "n1", "mess'),
  'NUL bytes': (path: string) => writeFileSync(path, Buffer.alloc(4096)),
  'bytes that are no text': (path: string) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0x80, 0x0a, 0xc3])),
  'a list': (path: string) => writeFileSync(path, '[1, 2, 3]\n'),
  null: (path: string) => writeFileSync(path, 'null\n'),
  'deep nesting': (path: string) => writeFileSync(path, `${'['.repeat(100_000)}\n`),
  'a directory': (path: string) => mkdirSync(path),
  'a link to itself': (path: string) => symlinkSync(path, path),
  'a link to nothing': (path: string) => symlinkSync(`${path}.nowhere`, path),
} as const
type Kind = keyof typeof rubbish

let template = ''
beforeAll(async () => {
  template = temporaryDirectory()
  await makeRun({ id: 'mine', cwd: template })
  const lines = shortPool(5, 0).map((prompt) => `${JSON.stringify({ ...prompt, id: undefined })}\n`)
  writeFileSync(join(template, 'pool.jsonl'), lines.join(''))
})

/** A working directory with a run and a pool, in which one file is rubbish. */
const spoil = (kind: Kind, file: string): string => {
  const cwd = temporaryDirectory()
  cpSync(template, cwd, { recursive: true })
  execFileSync('rm', ['-rf', join(cwd, file)])
  rubbish[kind](join(cwd, file))
  return cwd
}

const readers: Readonly<Record<string, readonly [file: string, args: readonly string[]]>> = {
  'score --pool': ['pool.jsonl', ['score', '--pool', 'pool.jsonl', '--completions', 'mine.jsonl']],
  'score --completions': ['mine.jsonl', ['score', '--pool', 'pool.jsonl', '--completions', 'mine.jsonl']],
  'score --against': ['runs/mine/config.resolved.json', ['score', '--against', 'mine']],
  'report, summary': ['runs/mine/eval/final/summary.json', ['report', '--run', 'mine', '--out', 'out']],
  'report, samples': ['runs/mine/eval/final/base.jsonl', ['report', '--run', 'mine', '--out', 'out']],
  regress: ['runs/mine/eval/final/trained.jsonl', ['regress', '--trained', 'mine']],
  'train --resume': ['runs/mine/config.resolved.json', ['train', '--resume', 'mine']],
  'train --config': ['bad.yaml', ['train', '--config', 'bad.yaml']],
  'audit --config': ['bad.yaml', ['audit', '--config', 'bad.yaml']],
  'push, config': ['runs/mine/config.resolved.json', ['push', '--run', 'mine', '--repo', 'a/b', '--dry-run']],
  'push, meta': ['runs/mine/meta.json', ['push', '--run', 'mine', '--repo', 'a/b', '--dry-run']],
  'push, pool': ['pool.jsonl', ['push', '--pool', '.', '--repo', 'a/b', '--dry-run']],
  'judge-cache': ['cache', ['judge-cache', 'stats', '--dir', 'cache']],
  'build-pool': ['recordings', ['build-pool', '--recordings', 'recordings', '--out', 'out']],
}

/** An empty file of JSON lines is none of the faults; an empty directory of verdicts is an empty cache. */
const harmless = (reader: string, kind: Kind): boolean =>
  (kind === 'an empty file' && reader === 'score --completions') ||
  ((kind === 'a directory' || kind === 'a link to nothing') && reader === 'judge-cache')

describe.each(Object.entries(readers))('%s', (reader, [file, args]) => {
  it.each(Object.keys(rubbish) as Kind[])('ends with one message for %s', async (kind) => {
    const { code, stderr } = await runInProcess(args, spoil(kind, file), { HF_HOME: temporaryDirectory() })
    expect(stderr).not.toMatch(/^ {4}at /m)
    expect(stderr).not.toContain('unexpected error')
    expect(stderr.length).toBeLessThan(5000)
    expect(harmless(reader, kind) ? [0, 2, 3] : [2, 3]).toContain(code)
  })
})

describe('a line of 100 MB', () => {
  it('is read in one pass, and refused as what it is', async () => {
    const cwd = spoil('an empty file', 'mine.jsonl')
    const part = 'x'.repeat(10_000_000)
    for (let i = 0; i < 10; i++) appendFileSync(join(cwd, 'mine.jsonl'), part)
    const { code, stderr } = await runInProcess(readers['score --completions']?.[1] ?? [], cwd)
    expect({ code, stderr }).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('mine.jsonl:1: not a whole JSON'),
    })
    expect(stderr.length).toBeLessThan(1000)
  })
})

/** Of util-linux: another user, where this one may become any. */
const setpriv = '/usr/bin/setpriv'
const isRoot = process.getuid?.() === 0
const canDrop = isRoot && spawnSync(setpriv, ['--version']).status === 0

describe.skipIf(!canDrop || !buildIsCurrent(packageRoot()))('files that nobody may read', () => {
  it('are named, with what is wrong', () => {
    const cwd = spoil('a list', 'mine.jsonl')
    chmodSync(cwd, 0o755)
    chmodSync(join(cwd, 'mine.jsonl'), 0o600)
    const program = [
      process.execPath,
      join(packageRoot(), 'dist/scripts/cli.js'),
      ...(readers['score --pool']?.[1] ?? []),
    ]
    const { status, stderr } = spawnSync(setpriv, ['--reuid=65534', '--clear-groups', ...program], {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, HOME: cwd },
    })
    expect({ status, stderr }).toMatchObject({ status: 3, stderr: expect.stringContaining('permission denied') })
    expect(existsSync(join(cwd, 'out'))).toBe(false)
  })
})
