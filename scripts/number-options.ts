import { PipelineError } from '../data/errors.ts'

const refuse = (name: string, value: unknown, expected: string): never => {
  throw new PipelineError('usage', `--${name}: ${String(value)} is not ${expected}`)
}

/** A yargs option for a whole number from `least` up. */
export const wholeNumber = (name: string, least: number) =>
  ({
    type: 'number',
    requiresArg: true,
    coerce: (value: number): number =>
      Number.isSafeInteger(value) && value >= least ? value : refuse(name, value, `a whole number from ${least} up`),
  }) as const

/** A yargs option for a share. */
export const shareOption = (name: string) =>
  ({
    type: 'number',
    requiresArg: true,
    coerce: (value: number): number => (value >= 0 && value <= 1 ? value : refuse(name, value, 'a share from 0 to 1')),
  }) as const
