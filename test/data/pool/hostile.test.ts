import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { assert as assertProperty, property, uint8Array } from 'fast-check'
import { createTar } from 'nanotar'
import { describe, expect, it } from 'vitest'
import { PipelineError } from '../../../data/errors.ts'
import { packageRoot } from '../../../data/package-root.ts'
import { importAgentDojo } from '../../../data/pool/import/agentdojo.ts'
import { importChat } from '../../../data/pool/import/chat.ts'
import { readRunFiles } from '../../../data/pool/import/run-files.ts'
import { parsePoolLine } from '../../../data/pool/pool-line.ts'
import { Prompt } from '../../../data/records/prompt.ts'
import { Trajectory } from '../../../data/records/trajectory.ts'
import { shortPool } from '../../support/tiny-training.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { spoilt, spoiltLines } from '../../support/spoilt.ts'

const recordings = join(packageRoot(), 'test/fixtures/recordings')
const runFile = 'runs/toy-model/library/user_task_2/important_instructions/injection_task_0.json'
const jsonOf = (name: string): unknown => JSON.parse(readFileSync(join(recordings, name), 'utf8')) as unknown
const linesOf = (name: string): unknown[] =>
  readFileSync(join(recordings, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)

/** The error, which must be one of ours and short; null where there was none. */
const refused = (read: () => void): string | null => {
  try {
    read()
    return null
  } catch (error) {
    expect(error).toBeInstanceOf(PipelineError)
    const { message } = error as PipelineError
    expect(message.length).toBeLessThan(1000)
    return message
  }
}

describe('a spoilt line of a pool', () => {
  it('is a prompt or an error of the pool that names the line', () => {
    const whole = shortPool(5, 0).map((prompt) => ({ ...prompt, id: undefined }))
    assertProperty(
      property(spoilt(...whole), (text) => {
        const message = refused(() => expect(Prompt.safeParse(parsePoolLine(text, 'p:1')).success).toBe(true))
        expect(message ?? 'p:1: ').toMatch(/^p:1: /)
      }),
      { numRuns: 300 },
    )
  })
})

describe('spoilt recordings', () => {
  const copy = temporaryDirectory()
  cpSync(recordings, copy, { recursive: true })

  const files: readonly (readonly [string, readonly unknown[]])[] = [
    [runFile, [jsonOf(runFile)]],
    ['derived/labels.jsonl', linesOf('derived/labels.jsonl')],
    ['derived/api_docs.json', [jsonOf('derived/api_docs.json')]],
    ['derived/reversibility_draft.json', [jsonOf('derived/reversibility_draft.json')]],
  ]
  it.each(files)('in %s give valid trajectories, or an error of the pool', (name, content) => {
    const texts = name.endsWith('.jsonl') ? spoiltLines(content) : spoilt(...content)
    assertProperty(
      property(texts, (text) => {
        writeFileSync(join(copy, name), text)
        refused(() => {
          for (const one of importAgentDojo(copy, { unlabelled: true }))
            expect(Trajectory.safeParse(one).error).toBeUndefined()
        })
      }),
      { numRuns: 40 },
    )
    cpSync(join(recordings, name), join(copy, name))
  })

  it('of chats give valid trajectories, or an error of the pool', () => {
    const path = join(temporaryDirectory(), 'chat.jsonl')
    assertProperty(
      property(spoiltLines(linesOf('chat.jsonl')), (text) => {
        writeFileSync(path, text)
        refused(() => {
          for (const one of importChat(path)) expect(Trajectory.safeParse(one).error).toBeUndefined()
        })
      }),
      { numRuns: 100 },
    )
  })
})

const archive = (name: string, bytes: Uint8Array): string => {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'runs'))
  writeFileSync(join(directory, 'runs', name), bytes)
  return directory
}
const read = (directory: string) => [...readRunFiles(directory)]

/** The first entry's header with another field; its checksum is nobody's concern here. */
const edited = (tar: Uint8Array, at: number, text: string): Uint8Array => {
  const bytes = Uint8Array.from(tar)
  bytes.set(Buffer.from(text, 'latin1'), at)
  return bytes
}

describe('a hostile archive', () => {
  const tar = createTar([{ name: 'm/s/t/a/i.json', data: '{}' }])

  it.each([
    ['a way up', '../../../../m/s/t/a/i.json'],
    ['an absolute path', '/etc/m/s/t/a/i.json'],
  ])('with %s is read where it lies, and nothing is written', (_, name) => {
    const directory = archive('x.tar', createTar([{ name, data: '{}' }]))
    expect(read(directory)).toMatchObject([{ key: 'm/s/t/a/i.json', text: '{}' }])
    expect(execFileSync('find', [directory, '-type', 'f'], { encoding: 'utf8' }).trim()).toBe(
      join(directory, 'runs/x.tar'),
    )
  })

  it.each(['1', '2', '3', '4', '6'])(
    'has no run in an entry of type %s: links and devices are not followed',
    (type) => {
      expect(read(archive('x.tar', edited(tar, 156, type)))).toEqual([])
    },
  )

  it.each([
    ['negative', '-0000001000'],
    ['no number', 'zzzzzzzzzzz'],
    ['beyond the end', '77777777777'],
    ['binary', '\u0080\0\0\0\0\0\0\0\0\0\u0001\0'],
  ])('with a size that is %s is refused', (_, size) => {
    expect(refused(() => read(archive('x.tar', edited(tar, 124, size))))).toMatch(/x\.tar: not a readable tar archive/)
  })

  it.each(['x.tar', 'x.tar.gz'])('of any bytes is read or refused: %s', (name) => {
    assertProperty(
      property(uint8Array({ minLength: 0, maxLength: 3000 }), (bytes) => {
        const damage = Uint8Array.from(tar, (byte, i) => byte ^ (bytes[i] ?? 0))
        for (const content of [bytes, damage])
          refused(() => read(archive(name, name.endsWith('gz') ? gzipSync(content) : content)))
      }),
      { numRuns: 20 },
    )
  })

  it('that unpacks to far more than it holds is refused before it fills the memory', () => {
    const bomb = gzipSync(Buffer.alloc(100 * 2 ** 20))
    expect(bomb.length).toBeLessThan(2 ** 18)
    expect(refused(() => read(archive('x.tgz', bomb)))).toMatch(/unpacks to more than/)
    const labels = archive('x.tar', tar)
    mkdirSync(join(labels, 'derived'))
    writeFileSync(join(labels, 'derived/labels.jsonl.gz'), bomb)
    expect(refused(() => [...importAgentDojo(labels)])).toMatch(/unpacks to more than/)
  })
})

describe('links in a directory of recordings', () => {
  it.each([
    ['to a file elsewhere', (at: string) => symlinkSync(join(recordings, runFile), at)],
    ['to itself', (at: string) => symlinkSync(at, at)],
    ['to a directory above', (at: string) => symlinkSync('../../..', at)],
  ])('%s are refused', (_, link) => {
    const directory = temporaryDirectory()
    const at = join(directory, 'runs/m/s/t/a/i.json')
    mkdirSync(dirname(at), { recursive: true })
    link(at)
    expect(refused(() => read(directory))).toMatch(/i\.json: .*link/)
  })

  it('may be the directory itself', () => {
    const directory = temporaryDirectory()
    symlinkSync(join(recordings, 'runs'), join(directory, 'runs'))
    expect(read(directory).length).toBeGreaterThan(0)
  })
})
