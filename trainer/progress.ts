import type { StepMetrics } from '../data/records/metrics.ts'
import { nodeIds } from '../data/records/node.ts'
import { printable } from '../data/printable.ts'
import { mean } from '../data/statistics.ts'

/** Where progress is shown: standard error, or anything like it. */
export interface ProgressStream {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

export interface Progress {
  /** A line that stays. */
  note(text: string): void
  /** What is going on now: replaces the status line of a terminal; elsewhere a line when nothing was said for long. */
  status(text: string): void
  /** A completed step. */
  step(metrics: StepMetrics, steps: number): void
  /** Ends the status line. */
  close(): void
}

/** Where lines cannot be rewritten, this long without a word looks like a program that hangs. */
const silence = 30_000
const windowSize = 10
const firstSize = 5

const value = (metrics: StepMetrics, key: string): number | null => {
  const one = metrics[key]
  return typeof one === 'number' ? one : null
}

const signed = (x: number): string => `${x < 0 ? '−' : '+'}${Math.abs(x).toFixed(2)}`

const two = (x: number): string => String(x).padStart(2, '0')

/** `1 h 05 min`, `3 min 20 s`, `45 s` */
export const duration = (seconds: number): string => {
  const whole = Math.round(seconds)
  if (whole >= 3600) return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`
  if (whole >= 60) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`
  return `${whole} s`
}

/**
 * What was seen so far in this attempt, to tell a trend from the noise of one step: the mean reward of the last ten steps
 * against that of the first five, and the pace.
 */
export class Trend {
  readonly #first: number[] = []
  #last: number[] = []
  #seconds: number[] = []

  add(metrics: StepMetrics): void {
    const reward = value(metrics, 'reward')
    if (reward !== null && this.#first.length < firstSize) this.#first.push(reward)
    if (reward !== null) this.#last = [...this.#last, reward].slice(-windowSize)
    this.#seconds = [...this.#seconds, value(metrics, 'step_time') ?? 0].slice(-windowSize)
  }
  /** Mean seconds of the last steps. */
  get pace(): number {
    return mean(this.#seconds)
  }
  /** Null before there is anything to compare. */
  get change(): number | null {
    return this.#first.length < firstSize ? null : mean(this.#last) - mean(this.#first)
  }
}

interface Paint {
  readonly bold: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly dim: (text: string) => string
}

const isSet = (variable = ''): boolean => variable !== '' && variable !== '0'

/** Colours where a person looks at a terminal, or asks for them, and has not asked for none. Gains are blue and losses orange. */
const paintFor = (stream: ProgressStream, env: NodeJS.ProcessEnv): Paint => {
  const canShow = stream.isTTY === true && env['TERM'] !== 'dumb'
  const on = (env['NO_COLOR'] ?? '') === '' && (canShow || isSet(env['FORCE_COLOR']))
  const code = (open: string) => (text: string) => (on ? `\u001B[${open}m${text}\u001B[0m` : text)
  return { bold: code('1'), good: code('34'), bad: code('38;5;208'), dim: code('2') }
}

/** What a terminal shows of a text: colour codes take no room. */
// oxlint-disable-next-line no-control-regex
const visible = (text: string): string => text.replace(/\u001B\[[\d;]*m/g, '')

/** The status line of one step: as much of it as fits into `width` columns, the most important first. */
export const stepLine = (
  metrics: StepMetrics,
  steps: number,
  trend: Trend,
  paint: Paint,
  width = Number.POSITIVE_INFINITY,
): string => {
  const number = (key: string, digits = 2): string => value(metrics, key)?.toFixed(digits) ?? '-'
  const { change } = trend
  const changed = change === null ? '' : ` ${(change < 0 ? paint.bad : paint.good)(`(${signed(change)})`)}`
  const done = `${metrics.step + 1}/${steps}`
  const reward = `${paint.bold(`R ${number('reward')}`)}${changed}`
  const nodes = nodeIds.map((node) => `${node} ${number(`reward/${node}`, 1)}`).join(' ')
  const left = `${duration(trend.pace * (steps - metrics.step - 1))} left`
  const whole = [`step ${done}`, reward, nodes, `KL ${number('kl', 3)}`]
  const lines = [
    [...whole, paint.dim(`${trend.pace.toFixed(1)} s/step, ${left}`)],
    [done, reward, nodes, paint.dim(left)],
    [done, reward, paint.dim(left)],
  ].map((parts) => parts.join('  '))
  return lines.find((line) => visible(line).length < width) ?? lines.at(-1) ?? ''
}

/** One status line that is rewritten on a terminal; plain lines, one a step, anywhere else. */
export const createProgress = (
  stream: ProgressStream,
  env: NodeJS.ProcessEnv = process.env,
  now: () => number = () => performance.now(),
): Progress => {
  const paint = paintFor(stream, env)
  // A dumb terminal cannot rewrite a line.
  const live = stream.isTTY === true && env['TERM'] !== 'dumb'
  const trend = new Trend()
  let shown = ''
  let saidAt = now()
  const say = (line: string): void => {
    stream.write(`${line}\n`)
    saidAt = now()
  }
  const show = (text: string): void => {
    // A line that wraps could not be rewritten.
    const width = stream.columns ?? 80
    shown = visible(text).length < width ? text : visible(text).slice(0, width - 1)
    stream.write(`\r\u001B[2K${shown}`)
  }
  return {
    note: (text) => {
      const line = printable(text)
      if (live && shown !== '') stream.write(`\r\u001B[2K${line}\n${shown}`)
      else say(line)
    },
    status: (text) => {
      if (live) show(paint.dim(printable(text)))
      else if (now() - saidAt >= silence) say(printable(text))
    },
    step: (metrics, steps) => {
      trend.add(metrics)
      if (live) show(stepLine(metrics, steps, trend, paint, stream.columns ?? 80))
      else say(stepLine(metrics, steps, trend, paint))
    },
    close: () => {
      if (live && shown !== '') stream.write('\n')
      shown = ''
    },
  }
}
