import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { OnTheWay, Passing } from '../support/relay.ts'
import type { Ended, Started } from '../support/run-program.ts'
import { isAlive, see, startTraining, type Fleet, type Seen, type Service } from './fleet.ts'
import { isThere, type ExchangePoint, type FilePoint, type Point, type Stage } from './points.ts'
import { watchPath } from './watch.ts'

/** Who dies at a point. The orchestrator is the training itself. */
export type Victim = Service | 'orchestrator'

export interface Kill {
  readonly victim: Victim
  readonly point: Point
}

/** Where a run is, and who works for it. */
export interface Workplace {
  readonly fleet: Fleet
  readonly cwd: string
  readonly run: string
  /** The training starts its own worker. */
  readonly spawns: boolean
}

export const rootOf = ({ cwd, run }: Pick<Workplace, 'cwd' | 'run'>): string => join(cwd, 'runs', run)

/** The worker that a training started last. */
export const spawnedWorker = (root: string): number => {
  const pids = readFileSync(join(root, 'logs/worker.log'), 'utf8').match(/(?<=Started server process \[)\d+/g)
  return Number(pids?.at(-1))
}

interface Armed {
  /** Resolves when the victim is dead. */
  readonly hit: Promise<void>
  readonly disarm: () => void
}

const armFile = ({ path, text }: FilePoint, { cwd, run }: Workplace, act: () => Promise<void>): Armed => {
  const root = rootOf({ cwd, run })
  // Only a log grows from attempt to attempt.
  const from = path.startsWith('logs/') ? (statSync(join(root, path), { throwIfNoEntry: false })?.size ?? 0) : 0
  let close = (): void => undefined
  const hit = new Promise<void>((resolve, reject) => {
    let done = false
    const look = (): void => {
      if (done || !isThere(root, { path, text }, from)) return
      done = true
      act().then(resolve, reject)
    }
    close = watchPath(join(root, path), cwd, look)
  })
  return { hit, disarm: () => close() }
}

const armExchange = (at: ExchangePoint, { fleet }: Workplace, act: () => Promise<void>): Armed => {
  const relay = fleet.relays[at.with]
  const hit = new Promise<void>((resolve, reject) => {
    let dying: Promise<void> | undefined
    const pass = async (stage: Stage, passing: Passing): Promise<OnTheWay> => {
      if (dying !== undefined) {
        // What else comes by meanwhile waits too, and goes on if its own ends live.
        await dying
        return 'pass'
      }
      if (stage !== at.stage || !at.is(passing)) return 'pass'
      dying = act()
      await dying
      resolve()
      return stage === 'request' ? 'cut' : 'pass'
    }
    const failing = async (stage: Stage, passing: Passing): Promise<OnTheWay> => {
      try {
        return await pass(stage, passing)
      } catch (error) {
        reject(error)
        return 'cut'
      }
    }
    relay.hooks = {
      request: (passing) => failing('request', passing),
      sent: (passing) => void failing('sent', passing),
      reply: async (passing) => ((await failing('reply', passing)) === 'cut' ? 'cut' : 'pass'),
    }
  })
  return { hit, disarm: () => void (relay.hooks = {}) }
}

const story = ({ code, stderr }: Ended): string => `exit code ${code}; it said:\n${stderr.slice(-3000)}`

/** A service that has died is back after one or two starts of a training that cannot do without it. */
const mostEnds = 6

/** One run on its way through the deaths of those who work for it. */
export class Chain {
  readonly #workplace: Workplace
  /** Looked at after each end of an orchestrator, while nobody writes. */
  readonly #inspect: (ended: Ended) => Promise<void>
  #training: Started
  /** The one that was killed last. */
  #killed: Started | undefined
  /** Workers that a training started itself: they must not outlive it. */
  readonly #children: Seen[] = []
  /** Ends of the training since the last death that was wanted. */
  #ends = 0
  starts = 0

  constructor(workplace: Workplace, inspect: (ended: Ended) => Promise<void>) {
    this.#workplace = workplace
    this.#inspect = inspect
    this.#training = this.#start()
  }

  /** Kills in the order given, then trains to the end. */
  async run(kills: readonly Kill[]): Promise<void> {
    let armed = kills[0] === undefined ? undefined : this.#arm(kills[0])
    for (const [i, { victim, point }] of kills.entries()) {
      if (armed !== undefined) await this.#until(armed, `${victim} dies when ${point.phase}`)
      this.#ends = 0
      const next = kills[i + 1]
      // Before anybody goes on: who survived may come by the next point soon.
      armed = next === undefined ? undefined : this.#arm(next)
      await this.#recover(victim)
    }
    for (;;) {
      const ended = await this.#training.ended
      if (ended.code === 0) return
      await this.#continue(ended)
    }
  }

  #start(): Started {
    const { cwd, run } = this.#workplace
    return startTraining(cwd, run, this.starts++ === 0, '--serve-rewards', '0')
  }

  #arm({ victim, point: { at } }: Kill): Armed {
    const act = (): Promise<void> => this.#kill(victim)
    return at.kind === 'file' ? armFile(at, this.#workplace, act) : armExchange(at, this.#workplace, act)
  }

  async #kill(victim: Victim): Promise<void> {
    const { fleet, spawns } = this.#workplace
    if (spawns) this.#children.push(see(spawnedWorker(rootOf(this.#workplace))))
    if (victim === 'orchestrator') {
      this.#killed = this.#training
      this.#training.child.kill('SIGKILL')
      await this.#training.ended
    } else if (spawns && victim === 'worker') process.kill(this.#children.at(-1)?.pid ?? 0, 'SIGKILL')
    else await fleet.kill(victim)
  }

  /** Waits for a death. A training that gave up because of the one before is continued meanwhile. */
  async #until({ hit, disarm }: Armed, what: string): Promise<void> {
    let isHit = false
    const noted = hit.then(() => (isHit = true))
    for (;;) {
      await Promise.race([noted, this.#training.ended])
      // The orchestrator's own end comes a moment before it is noted.
      await new Promise(setImmediate)
      if (isHit) return disarm()
      const ended = await this.#training.ended
      if (ended.code === 0) throw new Error(`the run ended before ${what}: ${story(ended)}`)
      await this.#continue(ended)
    }
  }

  async #recover(victim: Victim): Promise<void> {
    const { fleet, spawns } = this.#workplace
    if (victim === 'orchestrator') {
      // Whoever waited for its end because of an earlier death has continued it already.
      if (this.#training === this.#killed) await this.#continue(await this.#training.ended)
      return
    }
    if (!spawns || victim !== 'worker') await fleet.revive(victim)
    if (victim !== 'worker') return
    // Nobody can make a step without what the worker knew; an evaluation does not ask it any more.
    const ended = await this.#training.ended
    if (ended.code !== 0) await this.#continue(ended)
  }

  async #continue(ended: Ended): Promise<void> {
    const isLoss = ended.code === null || ended.code === 3 || ended.code === 4
    if (!isLoss || !existsSync(rootOf(this.#workplace))) throw new Error(`not a lost service: ${story(ended)}`)
    if (++this.#ends > mostEnds) throw new Error(`it ends again and again: ${story(ended)}`)
    // A worker looks for its parent and finishes nothing: a few seconds, whatever it was at.
    while (this.#children.some(isAlive)) await wait(50)
    await this.#inspect(ended)
    this.#training = this.#start()
  }
}
