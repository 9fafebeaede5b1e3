import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs a script of trainer/python/bench; its reports, and the exit code once it has ended. */
export const runPython = async (
  script: string,
  args: readonly string[],
): Promise<{ readonly reports: unknown[]; readonly code: number }> => {
  const child = spawn(join(root, '.venv/bin/python'), [join(root, 'trainer/python/bench', script), ...args], {
    cwd: root,
    env: { ...process.env, PYTHONPATH: join(root, 'trainer/python'), HF_HUB_OFFLINE: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const reports: unknown[] = []
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('{"')) reports.push(JSON.parse(line))
  const [code] = await exited
  return { reports, code: code ?? 1 }
}
