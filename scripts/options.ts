import { PipelineError } from '../data/errors.ts'

const refuse = (name: string, value: unknown, expected: string): never => {
  throw new PipelineError('usage', `--${name}: ${String(value)} is not ${expected}`)
}

/** A yargs option for a whole number from `least` up, or to `most`. */
export const wholeNumber = (name: string, least: number, most: number = Number.MAX_SAFE_INTEGER) => {
  const expected = `a whole number from ${least} ${most === Number.MAX_SAFE_INTEGER ? 'up' : `to ${most}`}`
  return {
    type: 'number',
    requiresArg: true,
    coerce: (value: number): number =>
      Number.isSafeInteger(value) && value >= least && value <= most ? value : refuse(name, value, expected),
  } as const
}

/** A yargs option for a port, 0 for a free one. */
export const portOption = (name: string) => wholeNumber(name, 0, 65_535)

/** A yargs option for a share. */
export const shareOption = (name: string) =>
  ({
    type: 'number',
    requiresArg: true,
    coerce: (value: number): number => (value >= 0 && value <= 1 ? value : refuse(name, value, 'a share from 0 to 1')),
  }) as const

/** The yargs option that overrides values of a config. */
export const setOption = (example: string) =>
  ({
    type: 'string',
    array: true,
    default: [] as string[],
    describe: `override one value, as in --set ${example}`,
    requiresArg: true,
    nargs: 1,
  }) as const
