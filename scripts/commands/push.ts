import { resolve } from 'node:path'
import { exitCodes, PipelineError } from '../../data/errors.ts'
import { bytesOf } from '../../data/hub/content.ts'
import { push } from '../../data/hub/push.ts'
import { repoNamePattern, repoPath, type RepoName } from '../../data/hub/repo.ts'
import { hubSettings } from '../../data/hub/settings.ts'
import { parseCheckpointChoice } from '../../trainer/evaluation/choose-checkpoint.ts'
import { defineCommand, type CommandContext } from '../command.ts'
import { adapterPublication, type Publication } from '../push/adapter-files.ts'
import { checkFiles } from '../push/check-files.ts'
import { poolPublication } from '../push/pool-files.ts'
import { secretValues } from '../push/secrets.ts'
import { findRun } from '../run-config.ts'
import { table } from '../table.ts'

interface Source {
  readonly run: string | undefined
  readonly pool: string | undefined
  readonly checkpoint: string | undefined
  readonly dir: string
}

const usage = (message: string, remedy: string): PipelineError => new PipelineError('usage', message, { remedy })

const requireName = (repo: string): void => {
  if (repoNamePattern.test(repo)) return
  throw usage(
    `--repo ${JSON.stringify(repo)} is no name of a repository`,
    'Give owner/name: letters, digits, "-", "_" and ".", as in me/my-adapter.',
  )
}

/** What is to be sent, and which directories of this machine must not be named in it. */
const gather = async (
  { run, pool, checkpoint, dir }: Source,
  repo: string,
  cwd: string,
): Promise<{ publication: Publication; directories: string[] }> => {
  if (run !== undefined) {
    const found = await findRun(run, dir, cwd)
    const choice = parseCheckpointChoice(checkpoint ?? 'last')
    return { publication: await adapterPublication(found, choice, repo), directories: [found.root, cwd] }
  }
  if (pool === undefined) throw usage('give --run RUN or --pool DIRECTORY', 'See drift-grpo push --help.')
  if (checkpoint !== undefined) throw usage('--checkpoint goes with --run', 'Leave it out: a pool has none.')
  const directory = resolve(cwd, pool)
  return { publication: await poolPublication(directory, repo), directories: [directory, cwd] }
}

interface Sizes {
  readonly path: string
  readonly bytes: number
}

const tellDryRun = (
  { name, type }: RepoName,
  { card, title }: Publication,
  files: readonly Sizes[],
  { out, json }: Pick<CommandContext, 'out'> & { json: boolean },
): void => {
  if (json) return out.data(JSON.stringify({ dryRun: true, repo: name, type, title, files, card }))
  const rows = files.map(({ path, bytes }) => [path, bytes])
  out.data(`${table(['file', 'bytes'], rows)}\n\nREADME.md:\n\n${card}`)
  out.progress(`dry run: nothing was sent to ${name}`)
}

export const pushCommand = defineCommand({
  name: 'push',
  summary: 'Publish an adapter of a run, or a pool, on the Hugging Face hub',
  options: {
    run: { type: 'string', requiresArg: true, conflicts: 'pool', describe: 'run (id or path) whose adapter goes out' },
    pool: { type: 'string', requiresArg: true, describe: 'directory with pool.jsonl and report.json' },
    repo: { type: 'string', demandOption: true, requiresArg: true, describe: 'owner/name on the hub; made if missing' },
    checkpoint: {
      type: 'string',
      requiresArg: true,
      describe: 'last (default), best, or the number of steps it was made after',
    },
    private: { type: 'boolean', default: false, describe: 'make it private; refused where it exists and is public' },
    'dry-run': { type: 'boolean', default: false, describe: 'list files and show the card; send nothing' },
    dir: { type: 'string', default: 'runs', describe: 'directory of the runs' },
    json: { type: 'boolean', default: false, describe: 'print the result as JSON' },
  },
  examples: [
    ['drift-grpo push --run runs/mine --repo me/my-adapter --dry-run', 'what would go out'],
    ['drift-grpo push --run mine --checkpoint best --repo me/my-adapter --private', 'the best adapter'],
    ['drift-grpo push --pool my-pool --repo me/my-pool', 'a pool, as a dataset'],
  ],
  run: async (args, { cwd, env, out, interrupts }) => {
    const { repo: name, json } = args
    requireName(name)
    const repo: RepoName = { type: args.run === undefined ? 'dataset' : 'model', name }
    const { publication, directories } = await gather(args, name, cwd)
    const settings = hubSettings(env)
    await checkFiles(publication.files, { secrets: secretValues(env, settings.token), directories })
    for (const text of publication.warnings) out.progress(`warning: ${text}`)
    const files = await Promise.all(
      publication.files.map(async (file) => ({ path: file.path, bytes: await bytesOf(file) })),
    )
    if (args['dry-run']) {
      tellDryRun(repo, publication, files, { out, json })
      return exitCodes.ok
    }
    const { finish: signal } = interrupts('stopping')
    const request = { settings, signal, onProgress: out.progress, repo, isPrivate: args.private }
    const pushed = await push({ ...request, files: publication.files, title: publication.title })
    if (json) out.data(JSON.stringify({ dryRun: false, repo: name, type: repo.type, ...pushed, files }))
    else out.data(pushed.url)
    out.progress(`pushed ${files.length} files to ${repoPath(repo)}, commit ${pushed.commit}`)
    return exitCodes.ok
  },
})
