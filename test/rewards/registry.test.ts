import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { generateRegistry } from '../../scripts/gen-registry.ts'

const folders: string[] = []
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })))
})

const copyOfRewards = async (): Promise<string> => {
  const root = await mkdtemp(join(tmpdir(), 'registry-'))
  folders.push(root)
  await cp(join(packageRoot(), 'rewards'), join(root, 'rewards'), { recursive: true })
  return root
}

describe('generateRegistry', () => {
  it('is up to date in the repository', async () => {
    expect(await generateRegistry({ check: true })).toBeNull()
  })

  it('reports a new component as stale, and adds it when it may write', async () => {
    const root = await copyOfRewards()
    await writeFile(join(root, 'rewards/components/tenth.ts'), 'export const reward = null\n')
    const file = join(root, 'rewards/registry.generated.ts')
    const before = await readFile(file, 'utf8')
    expect(await generateRegistry({ check: true, root })).toBe('rewards/registry.generated.ts')
    expect(await readFile(file, 'utf8')).toBe(before)
    expect(await generateRegistry({ check: false, root })).toBe('rewards/registry.generated.ts')
    expect(await readFile(file, 'utf8')).toContain("import { reward as tenth } from './components/tenth.ts'")
    expect(await generateRegistry({ check: true, root })).toBeNull()
  })
})
