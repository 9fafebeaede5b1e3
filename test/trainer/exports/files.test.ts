import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { exportCsv } from '../../../trainer/exports/csv-files.ts'
import { exportParquet } from '../../../trainer/exports/parquet-files.ts'
import { readMetrics } from '../../../trainer/exports/run-rows.ts'
import { hostile, rewards, writeResumedRun } from '../../support/exported-run.ts'
import { parseCsv } from '../../support/parse-csv.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'

const run = writeResumedRun(temporaryDirectory(), 'mine')

const readCsv = (path: string): Record<string, string>[] => {
  const [header = [], ...rows] = parseCsv(readFileSync(path, 'utf8'))
  return rows.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i] ?? '']))) as Record<
    string,
    string
  >[]
}

describe('a run as CSV', () => {
  const out = join(run.root, 'csv')

  it('has one line a step, of the attempt that counts, and one line a completion', async () => {
    expect(await exportCsv(run, await readMetrics(run), out)).toStrictEqual(['metrics.csv', 'rollouts.csv'])
    const metrics = readCsv(join(out, 'metrics.csv'))
    expect(metrics.map(({ step, attempt, reward }) => [step, attempt, reward])).toStrictEqual(
      rewards.map((reward, step) => [String(step), step < 2 ? '1' : '2', String(reward)]),
    )
    expect(metrics[0]?.['kl']).toBe('')
    const rollouts = readCsv(join(out, 'rollouts.csv'))
    expect(rollouts).toHaveLength(2 * rewards.length)
    expect(rollouts[4]).toMatchObject({
      step: '2',
      attempt: '2',
      node: 'n1',
      reward: '2.2',
      'reward/json_valid': '0.5',
    })
    expect(rollouts[5]).toMatchObject({ reward: '', unscored: 'judge: no verdict', finish_reason: 'length' })
  })

  it('that cannot be written is an error of the export, and leaves no half of a file', async () => {
    const blocked = temporaryDirectory()
    symlinkSync(join(blocked, 'no/such'), join(blocked, 'rollouts.csv.tmp'))
    await expect(exportCsv(run, await readMetrics(run), blocked)).rejects.toMatchObject({ code: 'ENOENT' })
    expect(readdirSync(blocked)).toStrictEqual(['metrics.csv'])
  })

  it('holds what models wrote as text, never as a formula', () => {
    const [first] = readCsv(join(out, 'rollouts.csv'))
    expect(first).toMatchObject({ completion: `'${hostile}`, judge_reason: `'@sum` })
  })
})

describe('a run as Parquet', () => {
  const out = join(run.root, 'parquet')
  const read = async (name: string): Promise<Record<string, unknown>[]> =>
    await parquetReadObjects({ file: await asyncBufferFromFile(join(out, name)) })

  it('has the same two tables, with types and nulls, and completions to the letter', async () => {
    await exportParquet(run, await readMetrics(run), out)
    expect(readdirSync(out).toSorted()).toStrictEqual(['metrics.parquet', 'rollouts.parquet'])
    const metrics = await read('metrics.parquet')
    expect(metrics.map(({ step, reward }) => [step, reward])).toStrictEqual(
      rewards.map((reward, step) => [step, reward]),
    )
    expect(metrics[0]).toMatchObject({ kl: null, at: new Date(Date.UTC(2026, 0, 1)) })
    const rollouts = await read('rollouts.parquet')
    expect(rollouts).toHaveLength(2 * rewards.length)
    expect(rollouts[0]).toMatchObject({ completion: hostile, reward: 1, tokens: 2, judge_score: 0.5, unscored: null })
    expect(rollouts[1]).toMatchObject({
      completion: '',
      reward: null,
      unscored: 'judge: no verdict',
      judge_score: null,
    })
    const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(join(out, 'rollouts.parquet')))
    expect(schema.find(({ name }) => name === 'step')).toMatchObject({ type: 'INT32' })
    expect(schema.find(({ name }) => name === 'completion')).toMatchObject({ converted_type: 'UTF8' })
  })
})
