import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { packageRoot } from '../../data/package-root.ts'
import { python, temporaryDirectory } from './tiny-training.ts'

/** A worker that listens on loopback. */
export interface Nursling {
  readonly pid: number
  readonly url: string
  readonly logPath: string
  readonly token: string
  /** Resolves when it is dead. */
  readonly ended: Promise<void>
}

interface Line {
  readonly name?: string
  readonly pid?: number
  readonly port?: number | null
  readonly ended?: number
}

const token = 'nursery'

/** Starts workers quickly, one after the other: the Python process behind it has imported everything and forks. */
export class Nursery {
  readonly #child: ChildProcess
  readonly #waiting: ((line: Line) => void)[] = []
  readonly #deaths = new Map<number, () => void>()
  #count = 0

  constructor() {
    this.#child = spawn(python, [join(packageRoot(), 'test/support/worker-nursery.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, PYTHONPATH: join(packageRoot(), 'trainer/python'), DRIFT_GRPO_TOKEN: token },
    })
    if (this.#child.stdout === null) throw new Error('no output')
    createInterface({ input: this.#child.stdout }).on('line', (text) => this.#hear(JSON.parse(text) as Line))
  }

  async start(name: string, model: string): Promise<Nursling> {
    const logPath = join(temporaryDirectory(), `${name}-${++this.#count}.log`)
    const ready = new Promise<Line>((resolve) => this.#waiting.push(resolve))
    this.#child.stdin?.write(`${JSON.stringify({ name, model, log: logPath })}\n`)
    const { pid = 0, port } = await ready
    if (typeof port !== 'number') throw new Error(`${name} did not start: ${logPath}`)
    const ended = new Promise<void>((resolve) => this.#deaths.set(pid, resolve))
    return { pid, url: `http://127.0.0.1:${port}`, logPath, token, ended }
  }

  /** Ends all workers with it. */
  async close(): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.stdin?.end()
    await gone
  }

  #hear(line: Line): void {
    if (line.ended === undefined) this.#waiting.shift()?.(line)
    else this.#deaths.get(line.ended)?.()
  }
}
