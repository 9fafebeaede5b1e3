import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { readMetrics } from '../../../trainer/exports/run-rows.ts'
import { crc32c, maskedCrc32c } from '../../../trainer/exports/tensorboard/crc32c.ts'
import { exportTensorboard, openEventFile } from '../../../trainer/exports/tensorboard/event-files.ts'
import { frame, scalarsEvent } from '../../../trainer/exports/tensorboard/events.ts'
import { rewards, writeResumedRun } from '../../support/exported-run.ts'
import { python, temporaryDirectory } from '../../support/tiny-training.ts'

const nothing = new AbortController().signal

/** Splits a file into its records; throws where a length or a checksum is wrong. */
const records = (file: Buffer): Buffer[] => {
  const found: Buffer[] = []
  for (let at = 0; at < file.length;) {
    const length = Number(file.readBigUInt64LE(at))
    const data = file.subarray(at + 12, at + 12 + length)
    if (file.readUInt32LE(at + 8) !== maskedCrc32c(file.subarray(at, at + 8))) throw new Error('length is broken')
    if (file.readUInt32LE(at + 12 + length) !== maskedCrc32c(data)) throw new Error('data is broken')
    found.push(data)
    at += 16 + length
  }
  return found
}

/** Programs that have TensorBoard: one that a variable names, or the project's own. */
const interpreter = [process.env['DRIFT_GRPO_TENSORBOARD_PYTHON'], python].find(
  (program) =>
    program !== undefined &&
    existsSync(program) &&
    spawnSync(program, ['-c', 'import tensorboard.backend.event_processing.event_accumulator']).status === 0,
)

interface Read {
  readonly scalars: Readonly<Record<string, readonly [step: number, value: number, at: number][]>>
  readonly histograms: Readonly<Record<string, readonly [step: number, count: number, least: number][]>>
}

const readWithTensorboard = (directory: string): Read => {
  const script = join(packageRoot(), 'test', 'support', 'read-events.py')
  const { stdout, stderr, status } = spawnSync(interpreter ?? '', [script, directory], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Read
}

describe('records of TensorBoard', () => {
  it('have the checksum of RFC 3720', () => {
    expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa)
    expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43)
    expect(crc32c(Buffer.from(Array.from({ length: 32 }, (_, i) => i)))).toBe(0x46dd794e)
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
  })

  it('are the bytes that TensorFlow writes for the same event', () => {
    // tf.compat.v1.Event(wall_time=1.5, step=300, summary=[Value(tag='a/b', simple_value=0.25)])
    const data = '09000000000000f83f10ac022a0c0a0a0a03612f62150000803e'
    expect(records(scalarsEvent({ at: 1500, step: 300, values: { 'a/b': 0.25 } }))[0]?.toString('hex')).toBe(data)
    expect(frame(Buffer.from('abc')).toString('hex')).toBe(
      `0300000000000000${hex(maskedCrc32c(Buffer.from('0300000000000000', 'hex')))}616263${hex(maskedCrc32c(Buffer.from('abc')))}`,
    )
  })

  it('can be split again, and a changed byte is noticed', async () => {
    const run = writeResumedRun(temporaryDirectory(), 'mine')
    const out = join(run.root, 'tb')
    const [name = ''] = await exportTensorboard(run, await readMetrics(run), out)
    const file = readFileSync(join(out, name))
    expect(records(file)[0]?.toString('latin1')).toContain('brain.Event:2')
    expect(records(file)).toHaveLength(1 + 2 * rewards.length)
    file.writeUInt8(file.readUInt8(20) ^ 1, 20)
    expect(() => records(file)).toThrow('data is broken')
  })

  it('are one file under one name, however often they are written', async () => {
    const run = writeResumedRun(temporaryDirectory(), 'mine')
    const out = join(run.root, 'tb')
    const rows = await readMetrics(run)
    await exportTensorboard(run, rows, out)
    await exportTensorboard(run, rows, out)
    expect(readdirSync(out)).toHaveLength(1)
    expect(readdirSync(out)[0]).toContain('tfevents')
  })
})

const hex = (value: number): string => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes.toString('hex')
}

describe.skipIf(interpreter === undefined)(
  'TensorBoard (skipped without it: name a Python that has it in DRIFT_GRPO_TENSORBOARD_PYTHON)',
  () => {
    it('reads an exported run: the attempt that counts, and what is null not at all', async () => {
      const run = writeResumedRun(temporaryDirectory(), 'mine')
      const out = join(run.root, 'tb')
      await exportTensorboard(run, await readMetrics(run), out)
      const { scalars, histograms } = readWithTensorboard(out)
      expect(scalars['reward']?.map(([step]) => step)).toStrictEqual([0, 1, 2, 3, 4])
      scalars['reward']?.forEach(([, value], i) => expect(value).toBeCloseTo(rewards[i]!, 6))
      expect(scalars['kl']?.map(([step]) => step)).toStrictEqual([1, 2, 3, 4])
      expect(scalars['reward']?.[1]?.[2]).toBe(Date.UTC(2026, 0, 1, 0, 0, 1) / 1000)
      expect(histograms['rollouts/reward/n1']?.map(([step, count]) => [step, count])).toStrictEqual(
        rewards.map((_, step) => [step, 1]),
      )
    })

    it('takes the later attempt where a live run made steps again', async () => {
      const run = writeResumedRun(temporaryDirectory(), 'mine')
      mkdirSync(run.at('tensorboard'), { recursive: true })
      for (const [attempt, steps] of [
        [1, [0, 1, 2, 3]],
        [2, [2, 3, 4]],
      ] as const) {
        const sink = await openEventFile(run, attempt)
        for (const step of steps)
          await sink.write([{ step, at: Date.now(), values: { reward: 10 * attempt + step } }], nothing)
        await sink.close('finished', nothing)
      }
      const { scalars } = readWithTensorboard(run.at('tensorboard'))
      expect(scalars['reward']?.map(([step, value]) => [step, value])).toStrictEqual([
        ...[0, 1].map((step) => [step, 10 + step]),
        ...[2, 3, 4].map((step) => [step, 20 + step]),
      ])
    })
  },
)
