import { z } from 'zod'

/** A timer that is to wait for more than 2 ** 31 ms, 24 days, fires at once. */
export const longestSeconds = 2_000_000

/** A number of seconds in a config. */
export const seconds = z.number().positive().max(longestSeconds)

/** Whole milliseconds of so many seconds: `AbortSignal.timeout` refuses parts of one, and 2.01 * 1000 has one. */
export const milliseconds = (duration: number): number => Math.ceil(duration * 1000)
