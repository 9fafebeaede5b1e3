import { describe, expect, it } from 'vitest'
import type { StepMetrics } from '../../data/records/metrics.ts'
import { createProgress, duration } from '../../trainer/progress.ts'
import { captured } from '../support/tiny-training.ts'

const line = (step: number, reward: number | null): StepMetrics => ({
  step,
  attempt: 1,
  at: '',
  from_version: 0,
  policy_version: 1,
  reward,
  'reward/n1': 1.25,
  kl: 0.0123,
  step_time: 2,
})

describe('progress', () => {
  it('is one plain line a step where nobody can rewrite one', () => {
    const stream = captured()
    const progress = createProgress(stream, {})
    progress.status('loading')
    progress.note('a note')
    progress.step(line(0, 2.5), 10)
    progress.close()
    expect(stream.text()).toBe(
      'a note\nstep 1/10  R 2.50  n1 1.3 n2 - n3 - n4 - n5 -  KL 0.012  2.0 s/step, 18 s left\n',
    )
  })

  it('breaks a long silence there with what is going on, but never a short one', () => {
    const stream = captured()
    let now = 0
    const progress = createProgress(stream, {}, () => now)
    for (const [at, text] of [
      [29, 'evaluation final: 2/100'],
      [31, 'evaluation final: 3/100'],
      [60, 'evaluation final: 6/100'],
      [61, 'evaluation final: 7/100'],
    ] as const) {
      now = at * 1000
      progress.status(text)
    }
    expect(stream.text()).toBe('evaluation final: 3/100\nevaluation final: 7/100\n')
  })

  it('shows what would act on a terminal instead of sending it there', () => {
    const stream = captured(true)
    const progress = createProgress(stream, { NO_COLOR: '1' })
    progress.note('judge said \u001B]0;owned\u0007\rall well')
    progress.status('\u009B2J')
    progress.close()
    expect(stream.text()).toBe('judge said \\u001b]0;owned\\u0007\\u000dall well\n\r\u001B[2K\\u009b2J\n')
  })

  it('is one rewritten line on a terminal, with notes above it', () => {
    const stream = captured(true)
    const progress = createProgress(stream, { NO_COLOR: '1' })
    progress.step(line(0, 1), 3)
    progress.note('checkpoint')
    progress.step(line(1, 2), 3)
    progress.close()
    expect(stream.text().split('\r\u001B[2K')).toEqual([
      '',
      expect.stringMatching(/^step 1\/3/),
      expect.stringMatching(/^checkpoint\nstep 1\/3/),
      expect.stringMatching(/^step 2\/3.*\n$/),
    ])
  })

  it('never wraps, colours only a terminal, and honours NO_COLOR', () => {
    const text = (isTTY: boolean, env: NodeJS.ProcessEnv, columns = 200): string => {
      const stream = { ...captured(isTTY), columns }
      createProgress(stream, env).step(line(0, 1), 3)
      return stream.text().replace('\r\u001B[2K', '')
    }
    expect(text(true, {})).toContain('\u001B[1mR 1.00')
    for (const plain of [text(true, { NO_COLOR: '1' }), text(true, { TERM: 'dumb' }), text(false, {})])
      expect(plain).not.toContain('\u001B')
    expect(text(true, {}, 20)).toHaveLength(19)
    // What does not fit is left out whole: the time that is left is always there.
    for (const columns of [40, 60, 80, 100]) expect(text(true, { NO_COLOR: '1' }, columns)).toMatch(/ left$/)
  })

  it('shows the change of the recent mean against the first steps, once there is something to compare', () => {
    const stream = captured()
    const progress = createProgress(stream, {})
    for (let step = 0; step < 20; step++) progress.step(line(step, step < 5 ? 1 : 3), 30)
    progress.step(line(20, null), 30)
    const lines = stream.text().trimEnd().split('\n')
    expect(lines[3]).toContain('R 1.00  n1')
    expect(lines[4]).toContain('R 1.00 (+0.00)')
    expect(lines[19]).toContain('R 3.00 (+2.00)')
    expect(lines[20]).toContain('R - (+2.00)')
  })

  it.each([
    [0.4, '0 s'],
    [75, '1 min 15 s'],
    [3600 * 2 + 60 * 3, '2 h 03 min'],
  ])('writes %d seconds as %s', (seconds, expected) => {
    expect(duration(seconds)).toBe(expected)
  })
})
