import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from '../data/package-root.ts'

const COMPONENTS = 'rewards/components'
const TARGET = 'rewards/registry.generated.ts'

const registrySource = (
  names: readonly string[],
): string => `// Generated from ${COMPONENTS}/ by scripts/gen-registry.ts. Do not edit.
${names.map((name) => `import { reward as ${name} } from './components/${name}.ts'`).join('\n')}

/** Every component, by name. */
export const rewardRegistry = {
${names.map((name) => `  ${name},`).join('\n')}
} as const

/** The components' names, in the order of the registry. */
export const rewardNames = [
${names.map((name) => `  '${name}',`).join('\n')}
] as const

export type RewardName = (typeof rewardNames)[number]
`

/**
 * Writes the registry of reward components from the files of their folder; with `check` it only compares.
 * Returns the path of the file that is stale (`check`) or was rewritten, or null when it was up to date.
 */
export const generateRegistry = async ({
  check,
  root = packageRoot(),
}: {
  check: boolean
  root?: string
}): Promise<string | null> => {
  const files = await readdir(join(root, COMPONENTS))
  const names = files.filter((file) => /^[a-z][a-z0-9_]*\.ts$/.test(file)).map((file) => file.slice(0, -'.ts'.length))
  const source = registrySource(names.toSorted())
  const current = await readFile(join(root, TARGET), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  if (current === source) return null
  if (!check) await writeFile(join(root, TARGET), source)
  return TARGET
}
