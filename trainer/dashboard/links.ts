import { readdir, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { PipelineError } from '../../data/errors.ts'

/** What is never read here, and may well lie on another disk. */
const unread = new Set(['adapters', 'checkpoints', 'updates', 'logs', 'tensorboard', 'exports', 'processes'])
const folders = ['rollouts', 'eval', 'audit']

const entriesOf = (directory: string) => readdir(directory, { withFileTypes: true }).catch(() => [])

/** Links among what the dashboard reads of a run. */
const linksOf = async (root: string): Promise<string[]> => {
  const below = (await entriesOf(join(root, 'eval'))).map(({ name }) => join('eval', name))
  const found = await Promise.all(
    ['', ...folders, ...below].map(async (folder) => {
      const links = (await entriesOf(join(root, folder))).filter((entry) => entry.isSymbolicLink())
      return links.map(({ name }) => join(folder, name)).filter((name) => !unread.has(name))
    }),
  )
  return found.flat()
}

/**
 * Throws a PipelineError for a run whose files are links that lead out of it: a run that somebody sent would show any
 * readable file of this machine to whoever looks at it.
 */
export const refuseLinks = async (root: string): Promise<void> => {
  const home = await realpath(root)
  for (const name of await linksOf(root)) {
    const target = await realpath(join(root, name)).catch(() => home)
    if (target !== home && !target.startsWith(home + sep))
      throw new PipelineError('checkpoint', `${join(root, name)} is a link that leads out of the run`, {
        remedy: 'Put the file itself there, or remove the link.',
      })
  }
}
