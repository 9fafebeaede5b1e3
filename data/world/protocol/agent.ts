import type { Call } from '../../records/operation.ts'
import { forbidden, notFound } from '../app.ts'
import type { AppName, ArgValue, Failure } from '../app.ts'
import type { Rng } from '../random.ts'
import type { Seen, Solution, Task } from '../tasks/template.ts'
import { call } from '../tasks/template.ts'
import { isValue } from '../values/lists.ts'
import type { Attempt, Session } from './session.ts'
import { thoughtFor } from './wordings.ts'

const busy: Failure = { code: 500, reason: 'server busy' }
const closed: readonly Failure[] = [forbidden('not allowed'), forbidden('no permission'), busy, notFound]

/** How often a turn goes which way, while mistakes are left. */
const mistakes = { none: 62, busy: 9, wrong_value: 11, missing_argument: 5, needless_turn: 8, needless_call: 5 }
type Mistake = keyof typeof mistakes

/** Drops or doubles one of the first letters: box15 never turns into box5, nor one word into another. */
const misspell = (text: string, rng: Rng): string => {
  const at = rng.int(1, 2)
  const doubled = text.slice(0, at) + text.slice(at - 1)
  const dropped = text.slice(0, at) + text.slice(at + 1)
  return rng.chance(0.5) && !isValue(dropped) ? dropped : doubled
}

/** Another number behind the same letter, or a misspelt word. */
const wrongValue = (value: ArgValue, rng: Rng): ArgValue => {
  if (typeof value !== 'string') return -1
  return /^[a-z]\d+$/.test(value) ? `${value.charAt(0)}${rng.int(100, 199)}` : misspell(value, rng)
}

/** One agent's progress on one task: follows the scripted solution, with mistakes, retries and needless reads. */
export class TaskRun {
  readonly task: Task
  private readonly solution: Solution
  private readonly drift: boolean
  private readonly rng: Rng
  private mistakesLeft: number
  private planned: readonly Call[] = []
  /** Results of the planned calls, by their place; undefined: not made with success yet. */
  private results: (Seen | undefined)[] = []
  private retrying = false
  private pagesSeen = 0
  done = false

  /** drift: the task is somebody else's. mistakesLeft bounds how many mistakes may happen. */
  constructor(task: Task, drift: boolean, rng: Rng, mistakesLeft: number) {
    this.task = task
    this.solution = task.solve()
    this.drift = drift
    this.rng = rng
    this.mistakesLeft = mistakesLeft
    this.follow(this.solution.next())
  }

  /** The calls that come next, if nothing goes wrong. */
  get next(): readonly Call[] {
    return this.planned.filter((_call, i) => this.results[i] === undefined)
  }

  /** One turn: the planned calls, a mistake on the way to them, or a retry of what failed. */
  turn(session: Session): void {
    const mistake = this.nextMistake()
    const thought = thoughtFor(this.rng, this.retrying)
    this.retrying = false
    this.play(mistake, session, thought)
  }

  /** A read that the task does not need, in one of its apps; the second time the next page. */
  lookAround(session: Session): void {
    session.turn(thoughtFor(this.rng), [this.attempt(this.overview())])
  }

  /** Makes a call once more that was made before. */
  repeat(session: Session, again: Call): void {
    session.turn(thoughtFor(this.rng), [this.attempt(again)])
  }

  /** Tries the planned calls of one turn while every write is refused. True when a write was tried. */
  refusedTurn(session: Session): boolean {
    const attempts = this.next.map((made) =>
      session.world.kindOf(made) === 'write' ? this.attempt(made, this.rng.pick(closed)) : this.attempt(made),
    )
    this.absorb(session.turn(thoughtFor(this.rng, this.retrying), attempts))
    return attempts.some((attempt) => attempt.fault !== undefined)
  }

  /** Takes what the calls of `next` brought; when all of them succeeded, the solution goes on. */
  absorb(seen: readonly Seen[]): void {
    let made = 0
    const results = this.planned.map((_call, i) => {
      if (this.results[i] !== undefined) return this.results[i]
      const one = seen[made++]
      return one?.ok === true ? one : undefined
    })
    const complete = results.filter((one) => one !== undefined)
    this.retrying = complete.length < results.length
    if (this.retrying) this.results = results
    else this.follow(this.solution.next(complete))
  }

  /** This run's mark on a call. */
  attempt(made: Call, fault?: Failure): Attempt {
    return { call: made, drift: this.drift, ...(fault === undefined ? {} : { fault }) }
  }

  /** No mistake follows a failure: the right call does. */
  private nextMistake(): Mistake {
    if (this.mistakesLeft === 0 || this.retrying) return 'none'
    const mistake = this.rng.weighted(mistakes)
    if (mistake !== 'none') this.mistakesLeft -= 1
    return mistake
  }

  private play(mistake: Mistake, session: Session, thought: string): void {
    switch (mistake) {
      case 'none':
        return this.asPlanned(session, thought)
      case 'busy':
        return this.asPlanned(session, thought, busy)
      case 'wrong_value':
        return this.wrong(session, thought, wrongValue)
      case 'missing_argument':
        return this.wrong(session, thought, () => undefined)
      case 'needless_turn':
        return this.lookAround(session)
      case 'needless_call':
        return this.asPlanned(session, thought, undefined, [this.overview()])
    }
  }

  private asPlanned(session: Session, thought: string, fault?: Failure, extra: readonly Call[] = []): void {
    const { next } = this
    const attempts = next.map((made, i) => this.attempt(made, i === 0 ? fault : undefined))
    const seen = session.turn(thought, [...attempts, ...extra.map((read) => this.attempt(read))])
    this.absorb(seen.slice(0, next.length))
  }

  /** The first planned call with one argument spoilt. Made only if it does no harm; the right call follows. */
  private wrong(session: Session, thought: string, spoil: (value: ArgValue, rng: Rng) => ArgValue | undefined): void {
    const right = this.next[0]
    const names = Object.keys(right?.args ?? {})
    if (right === undefined || names.length === 0) return this.asPlanned(session, thought)
    const name = this.rng.pick(names)
    const args = Object.fromEntries(
      Object.entries(right.args).flatMap(([key, value]) => {
        const kept = key === name ? spoil(value, this.rng) : value
        return kept === undefined ? [] : [[key, kept] as const]
      }),
    )
    const spoilt: Call = { ...right, args }
    if (this.doesHarm(session, spoilt)) return this.asPlanned(session, thought)
    session.turn(thought, [this.attempt(spoilt)])
    this.retrying = true
  }

  /** Tries a call and takes it back. */
  private doesHarm(session: Session, spoilt: Call): boolean {
    const mark = session.world.snapshot()
    const { stateChanged } = session.world.execute(spoilt)
    session.world.restore(mark)
    return stateChanged
  }

  private overview(): Call {
    this.pagesSeen += 1
    const app: AppName = this.rng.pick(this.task.apps)
    return call(`${app}.list`, { page: this.pagesSeen })
  }

  private follow(step: IteratorResult<readonly Call[], void>): void {
    this.done = step.done === true
    this.planned = step.done === true ? [] : step.value
    this.results = []
    this.retrying = false
  }
}
