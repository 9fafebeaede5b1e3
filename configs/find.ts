import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { PipelineError } from '../data/errors.ts'
import { packageRoot } from '../data/package-root.ts'
import { closest } from './edit-distance.ts'

const shippedFolder = (): string => join(packageRoot(), 'configs')

/** Names of the configs that come with the package. */
export const shippedConfigs = (): string[] =>
  readdirSync(shippedFolder())
    .filter((name) => name.endsWith('.yaml'))
    .toSorted()

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile()

/**
 * The file that a config name stands for. A bare name is looked up in the working directory, then among the shipped
 * configs; its ending .yaml may be left out. A name with a folder in it is a path and nothing else.
 * @throws PipelineError('config') when there is no such file
 */
export const findConfig = (name: string, cwd: string): string => {
  const isBare = basename(name) === name
  const names = extname(name) === '' ? [name, `${name}.yaml`] : [name]
  const folders = isBare ? [cwd, shippedFolder()] : [cwd]
  const found = folders.flatMap((folder) => names.map((one) => resolve(folder, one))).find(isFile)
  if (found !== undefined) return found
  const other = folders.flatMap((folder) => resolve(folder, name)).find((path) => existsSync(path))
  if (other !== undefined) {
    const what = statSync(other).isDirectory() ? 'is a directory' : 'is no regular file'
    throw new PipelineError('config', `${other} ${what}`, { remedy: 'Give the YAML file itself.' })
  }
  const near = closest(
    basename(name, '.yaml'),
    shippedConfigs().map((one) => basename(one, '.yaml')),
  )
  throw new PipelineError(
    'config',
    `there is no config ${name}${isBare ? ` in ${cwd}, nor among the shipped ones` : ''}`,
    {
      remedy: `${near === undefined ? '' : `Did you mean ${near}.yaml? `}Shipped configs: ${shippedConfigs().join(', ')}.`,
    },
  )
}
