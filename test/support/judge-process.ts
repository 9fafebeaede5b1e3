import { createHash } from 'node:crypto'
import process from 'node:process'
import { JudgeServer } from './judge-server.ts'

/** A judge in a process of its own that can be killed: prints its address. Its score is a hash of the completion. */
const scoreByHash = (completion: string): number =>
  (createHash('sha256').update(completion).digest().readUInt16BE(0) % 101) / 100

const { url } = await JudgeServer.start({ score: scoreByHash, model: { id: 'judge', root: 'org/judge', created: 0 } })
process.stderr.write(`judge at ${url.replace(/\/v1$/, '')}\n`)

// Ends with whoever started it, also where that one was killed.
const { ppid } = process
setInterval(() => process.ppid === ppid || process.exit(0), 5000)
