import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { runProgram } from '../support/run-program.ts'

describe('generated files', () => {
  it('are up to date', async () => {
    expect(await runProgram('scripts/gen.ts', ['--check'])).toStrictEqual({ code: 0, stdout: '', stderr: '' })
  })

  it('give the worker the schema of every record that it is sent', () => {
    const folder = join(packageRoot(), 'trainer', 'python', 'grpo_worker', 'schemas')
    for (const name of ['SessionRequest', 'UpdateBatch', 'UpdateResult']) {
      const schema = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Record<string, unknown>
      expect(schema).toMatchObject({ title: name, type: 'object', additionalProperties: false })
    }
  })
})
