import { describe, expect, test } from 'vitest'
import { buildPool } from '../../../data/pool/build.ts'
import type { Prompt } from '../../../data/records/prompt.ts'
import { generateTrajectories } from '../../../data/world/trajectories.ts'

/** Share of the second half that a table learnt on the first half gets right: clue -> the commonest answer. */
const accuracyOf = (
  prompts: readonly Prompt[],
  clueOf: (prompt: Prompt) => string,
  answerOf: typeof clueOf,
): number => {
  const half = Math.floor(prompts.length / 2)
  const counts = new Map<string, Map<string, number>>()
  for (const prompt of prompts.slice(0, half)) {
    const seen = counts.get(clueOf(prompt)) ?? new Map<string, number>()
    counts.set(clueOf(prompt), seen.set(answerOf(prompt), (seen.get(answerOf(prompt)) ?? 0) + 1))
  }
  const guess = (prompt: Prompt): string | undefined =>
    [...(counts.get(clueOf(prompt)) ?? [])].toSorted((a, b) => b[1] - a[1])[0]?.[0]
  const tested = prompts.slice(half)
  return tested.filter((prompt) => guess(prompt) === answerOf(prompt)).length / tested.length
}

const textOf = (prompt: Prompt): string => prompt.messages.at(-1)?.content ?? ''
const lineAfter = (prompt: Prompt, heading: string): string =>
  textOf(prompt).split(`${heading}\n`)[1]?.split('\n')[0] ?? ''
const numberIn = (text: string): number => Number(/\d+$/.exec(text)?.[0] ?? Number.NaN)

const stepOf = (prompt: Prompt): number => numberIn(lineAfter(prompt, 'Number of the step to judge:'))
const onsetGap = (prompt: Prompt): number =>
  numberIn(lineAfter(prompt, 'Suspected first drifted step:')) - stepOf(prompt)
const causeGap = (prompt: Prompt): number => stepOf(prompt) - numberIn(lineAfter(prompt, 'Suspected cause:'))
const thoughtOf = (prompt: Prompt): string => /^thought: (.*)$/m.exec(textOf(prompt))?.[1] ?? ''
const callsOf = (prompt: Prompt): string => `${textOf(prompt).match(/^\S+\(.*\) -> (ok|error)/gm)?.length ?? 0}`

describe('the verdict of classify_drift cannot be told without reading task and call:', () => {
  const options = { train: 15_000, heldout: 100, seed: 3, mistakeShare: 0.1, hideShare: 0.3, examples: 0 } as const
  const { prompts } = buildPool(generateTrajectories, options)
  const asked = prompts.filter(({ node, split }) => node === 'n1' && split === 'train')
  const verdictOf = ({ target }: Prompt): string => (target?.node === 'n1' ? target.isAligned : '')

  test.each<readonly [string, (prompt: Prompt) => string]>([
    ['the number of the step', (prompt) => `${stepOf(prompt)}`],
    ['the suspected onset', (prompt) => `${onsetGap(prompt)}`],
    ['the suspected cause', (prompt) => `${causeGap(prompt)}`],
    ['what the agent says', thoughtOf],
    ['how many calls there are', callsOf],
    [
      'step, cause and number of calls',
      (prompt) => JSON.stringify([stepOf(prompt), causeGap(prompt), callsOf(prompt)]),
    ],
    ['step and words', (prompt) => JSON.stringify([stepOf(prompt), thoughtOf(prompt)])],
  ])('%s', (_clue, clueOf) => {
    expect(asked.length).toBeGreaterThan(2500)
    expect(accuracyOf(asked, clueOf, verdictOf)).toBeLessThan(0.66)
  })
})
