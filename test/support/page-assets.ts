import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ts from 'typescript'
import { packageRoot } from '../../data/package-root.ts'
import { installedAssets, type Asset, type Assets } from '../../trainer/dashboard/assets.ts'

/** What was translated, by name: sources do not change while tests run. */
const translated = new Map<string, Asset>()

/** The dashboard's pages from their sources as they are now, so that no test looks at an older build. */
export const sourceAssets = (): Assets => {
  const installed = installedAssets()
  return async (name) => {
    if (!/^[a-z][a-z-]*\.js$/.test(name)) return installed(name)
    const known = translated.get(name)
    if (known !== undefined) return known
    const path = join(packageRoot(), 'trainer', 'dashboard', 'page', name.replace(/js$/, 'ts'))
    const source = await readFile(path, 'utf8').catch(() => null)
    if (source === null) return null
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    })
    const asset = { type: 'text/javascript; charset=utf-8', body: outputText }
    translated.set(name, asset)
    return asset
  }
}
