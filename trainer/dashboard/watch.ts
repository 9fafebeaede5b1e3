import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { foldersOf } from '../../data/store/folders.ts'

/** What can change in a run, and the files that show it. */
const watched = {
  metrics: ['metrics.jsonl'],
  status: ['status.json', 'lock.json'],
  events: ['events.jsonl', 'attempts.jsonl'],
  rollouts: ['rollouts'],
  evaluations: ['eval'],
  audit: ['audit/audit.json', 'audit'],
  labels: ['labels.jsonl'],
} as const satisfies Record<string, readonly string[]>
export type Change = keyof typeof watched

const stampOf = async (path: string): Promise<string> => {
  const found = await stat(path).catch(() => null)
  return found === null ? '-' : `${found.ino}:${found.size}:${found.mtimeMs}`
}

const pathsIn = async (path: string): Promise<string[]> => {
  const names = await foldersOf(path).catch(() => [])
  return names.map((name) => join(path, name))
}

const stampsOf = async (root: string): Promise<Map<Change, string>> => {
  const names = Object.keys(watched) as Change[]
  const stamps = await Promise.all(
    names.map(async (name): Promise<[Change, string]> => {
      const paths = watched[name].map((file) => join(root, file))
      const inner = name === 'evaluations' ? await pathsIn(join(root, 'eval')) : []
      return [name, (await Promise.all([...paths, ...inner].map(stampOf))).join(' ')]
    }),
  )
  return new Map(stamps)
}

/**
 * Looks at a run's files twice a second while somebody wants to know; a mounted or copied directory tells no events of its
 * own. Calls back with what changed since the look before.
 */
export const watchRun = (root: string, onChange: (changes: Change[]) => void, everyMs = 500): { close: () => void } => {
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let before: Map<Change, string> | null = null
  const look = async (): Promise<void> => {
    const now = await stampsOf(root)
    if (closed) return
    const earlier = before
    before = now
    const changes = [...now].filter(([name, stamp]) => earlier !== null && earlier.get(name) !== stamp)
    if (changes.length > 0) onChange(changes.map(([name]) => name))
    timer = setTimeout(run, everyMs)
    timer.unref()
  }
  const run = (): void => void look()
  run()
  return {
    close: () => {
      closed = true
      clearTimeout(timer)
    },
  }
}
