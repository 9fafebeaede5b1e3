import { describe, expect, it } from 'vitest'
import { JudgeConfig } from '../../judge/config.ts'
import { createJudge } from '../../judge/create.ts'

describe('createJudge', () => {
  it('makes the reference judge by default and none on request', async () => {
    expect((await createJudge(JudgeConfig.parse(undefined)))?.name).toBe('reference')
    expect(await createJudge(JudgeConfig.parse({ kind: 'none' }))).toBeNull()
  })

  it('refuses unknown kinds and keys', () => {
    expect(JudgeConfig.safeParse({ kind: 'oracle' }).success).toBe(false)
    expect(JudgeConfig.safeParse({ kind: 'none', model: 'x' }).success).toBe(false)
  })
})
