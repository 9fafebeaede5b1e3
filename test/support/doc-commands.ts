import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../data/package-root.ts'

/** One command line of a page, and the exit code that the page gives it. */
export interface DocCommand {
  readonly args: readonly string[]
  readonly exitCode: number
}

/** The `npx drift-grpo` lines of a page's shell blocks. A comment `# exit code N` states a code other than 0. */
export const docCommands = (page: string): DocCommand[] => {
  const text = readFileSync(join(packageRoot(), page), 'utf8')
  return [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
    block.split('\n').flatMap((line): DocCommand[] => {
      const [command = '', comment = ''] = line.split(/\s+#\s*/)
      const [runner, program, ...args] = command.trim().split(/\s+/)
      const exitCode = Number(/exit code (\d+)/.exec(comment)?.[1] ?? 0)
      return runner === 'npx' && program === 'drift-grpo' ? [{ args, exitCode }] : []
    }),
  )
}
