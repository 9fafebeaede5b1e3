import { isRecord } from '../data/json.ts'
import { parseYaml } from './yaml-source.ts'
import type { KeyPath } from './paths.ts'

/** One `--set a.b=c`. */
export interface Override {
  readonly path: KeyPath
  readonly value: unknown
  /** As the user typed it. */
  readonly flag: string
}

/** Longer ones would hide the message that they are part of. */
const longestFlag = 200

const form = /^([A-Za-z]\w*(?:\.[A-Za-z0-9]\w*)*)=(.*)$/s

/** Deeper than any config. */
const mostParts = 16

/** Reads `a.b=c`; the value is YAML, so that `null`, `[a, b]` and `1e-3` mean what they mean in the file. */
export const parseOverride = (text: string): Override | { readonly flag: string; readonly problem: string } => {
  const flag = `--set ${text.length > longestFlag ? `${text.slice(0, longestFlag)}…` : text}`
  const match = form.exec(text)
  if (match === null) return { flag, problem: 'expected key.path=value, such as grpo.beta=0.02' }
  const { value, errors } = parseYaml(match[2] ?? '')
  if (errors[0] !== undefined) return { flag, problem: `the value is not YAML: ${errors[0].message}` }
  const path = (match[1] ?? '').split('.')
  if (path.length > mostParts) return { flag, problem: `a key path has at most ${mostParts} parts` }
  return { flag, path, value }
}

/** A copy of the tree with one value replaced; maps on the way are made where they are missing. */
export const applyOverride = (tree: unknown, { path, value }: Pick<Override, 'path' | 'value'>): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return value
  const map = isRecord(tree) ? tree : {}
  return { ...map, [key]: applyOverride(map[key], { path: rest, value }) }
}
