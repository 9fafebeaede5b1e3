import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PipelineError } from '../../data/errors.ts'
import { packageRoot } from '../../data/package-root.ts'

export interface Asset {
  readonly body: string
  readonly type: string
}

/** Gives a page's file by its name, `main.js` or `style.css`; null where there is none. */
export type Assets = (name: string) => Promise<Asset | null>

/** Names are matched, never joined as they come: no slash, no dot but the one of the ending. */
export const assetName = /^[a-z][a-z-]*\.(js|css|svg)$/

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

const missing = (cause: unknown): PipelineError =>
  new PipelineError('setup', 'the dashboard’s pages are not built', { remedy: 'npm run build', cause })

const folder = join('trainer', 'dashboard', 'page')

/** The pages as they are installed: scripts from dist/, the rest as it is. */
export const installedAssets =
  (root = packageRoot()): Assets =>
  async (name) => {
    const type = types[assetName.exec(name)?.[1] ?? '']
    if (type === undefined) return null
    const path = name.endsWith('.js') ? join(root, 'dist', folder, name) : join(root, folder, name)
    try {
      return { type, body: await readFile(path, 'utf8') }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      if (name === 'main.js') throw missing(error)
      return null
    }
  }
