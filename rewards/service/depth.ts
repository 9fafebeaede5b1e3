/** Containers inside each other. Far beyond any real body, and shallow enough for whatever recurses over one later. */
export const maxDepth = 64

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

/** True when containers are nested deeper than `limit`. Iterative: depth costs no stack. */
export const isDeeperThan = (value: unknown, limit: number): boolean => {
  let level: object[] = isContainer(value) ? [value] : []
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= limit) return true
    level = level.flatMap((container) => (Object.values(container) as unknown[]).filter(isContainer))
  }
  return false
}
