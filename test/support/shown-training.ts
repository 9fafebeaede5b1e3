import { once } from 'node:events'
import process from 'node:process'
import { withDashboard } from '../../scripts/train-dashboard.ts'
import { RunDirectory } from '../../trainer/run-directory.ts'

/** Stands for a training: shows the run `mine` of a directory, then waits for the end of its standard input. */
const [directory = '', wanted] = process.argv.slice(2)
const say = (text: string): void => void process.stdout.write(`${text}\n`)
await withDashboard({ isWanted: wanted === 'yes', say }, async (show) => {
  show(new RunDirectory(directory, 'mine'))
  say('training')
  process.stdin.resume()
  await once(process.stdin, 'end')
})
say('over')
