import { Rng } from '../world/random.ts'

/** A stream of choices, named by what it is for: number and order of other choices never matter. */
export const random = (...name: readonly (string | number)[]): Rng => Rng.of(name.join('\0'))

/** The items in a random order; the list itself stays as it is. */
export const shuffle = <T>(items: readonly T[], rng: Rng): T[] =>
  items
    .map((item) => ({ item, key: rng.next() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item)
