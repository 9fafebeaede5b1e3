import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readJsonFile } from '../../../data/store/json-file.ts'
import { readRecords } from '../../../data/store/jsonl.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const Step = z.object({ step: z.int() })
const damage = { boundary: 'checkpoint', remedy: 'Restore it.' } as const
const file = join(temporaryDirectory(), 'record')

const recordsOf = async (text: string): Promise<unknown[]> => {
  writeFileSync(file, text)
  const records: unknown[] = []
  for await (const record of readRecords(file, Step, damage)) records.push(record)
  return records
}

describe('a file of JSON', () => {
  it('is its value, and null where it is missing', async () => {
    writeFileSync(file, '{"step": 3}')
    expect(await readJsonFile(file, Step, damage)).toStrictEqual({ step: 3 })
    expect(await readJsonFile(`${file}-of-nobody`, Step, damage)).toBeNull()
  })

  it.each(['', '{"step": ', '{"step": "three"}', 'null'])('that is damaged is named: %j', async (text) => {
    writeFileSync(file, text)
    await expect(readJsonFile(file, Step, damage)).rejects.toMatchObject({
      ...damage,
      message: expect.stringContaining(`${file} cannot be read: `) as string,
    })
  })
})

describe('a file of records', () => {
  it('is read without what a dead writer left', async () => {
    expect(await recordsOf('{"step":1}\n{"st\n{"step":2}\n{"step":3}')).toStrictEqual([{ step: 1 }, { step: 2 }])
  })

  it('is named where a record is another one', async () => {
    await expect(recordsOf('{"step":1}\n{"stop":1}\n')).rejects.toMatchObject(damage)
  })
})
