import { valueKinds, valuesBySplit } from '../../data/world/values/lists.ts'

/** Prints the names of the training split: a JSON array of strings. */
process.stdout.write(JSON.stringify([...new Set(valueKinds.flatMap((kind) => valuesBySplit.train[kind]))]))
