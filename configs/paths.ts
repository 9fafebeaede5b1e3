/** Where a value stands in the config: `grpo.clipLow`, `lora.targetModules.0`. */
export type KeyPath = readonly (string | number)[]

export const pathText = (path: KeyPath): string => path.join('.')

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** The value at a path, or undefined where the path leaves the tree. */
export const valueAt = (tree: unknown, path: KeyPath): unknown =>
  path.reduce<unknown>((node, key) => (isContainer(node) ? node[key] : undefined), tree)

/** Paths of all values that hold no further ones; an empty list or map is such a value. */
export const leafPaths = (tree: unknown, path: KeyPath = []): KeyPath[] => {
  if (!isContainer(tree)) return [path]
  const entries = Object.entries(tree)
  return entries.length === 0 ? [path] : entries.flatMap(([key, value]) => leafPaths(value, [...path, key]))
}

/** Freezes a tree of plain objects, in place. */
export const deepFreeze = <T>(tree: T): T => {
  if (isContainer(tree)) Object.values(Object.freeze(tree)).forEach(deepFreeze)
  return tree
}
