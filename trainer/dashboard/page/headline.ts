import type { Overview, RunCard, Series } from '../view.ts'
import { h } from './dom.ts'
import { change, duration, mean, number, percent } from './format.ts'
import { nodeIds } from './nodes.ts'
import { addressOf } from './router.ts'
import { nodeName, sparkline, tile } from './ui.ts'

/** Mean of the last steps of a curve. */
export const latest = ({ values }: Series, key: string, count = 20): number | null =>
  mean((values[key] ?? []).slice(-count))

const heldOutTile = ({ heldout }: RunCard): HTMLElement => {
  if (heldout === null || heldout.delta === null) return tile('held out', '–', 'no evaluation yet')
  const { base, trained, delta, interval } = heldout
  const range = interval === null ? '' : `, 95 %: ${number(interval.low)} to ${number(interval.high)}`
  return tile('held out', change(delta), `${number(base)} → ${number(trained)}${range}`)
}

const weakestTile = (series: Series): HTMLElement => {
  const known = nodeIds.flatMap((node) => {
    const value = latest(series, `reward/${node}`)
    return value === null ? [] : [{ node, value }]
  })
  const worst = known.toSorted((a, b) => a.value - b.value)[0]
  return worst === undefined
    ? tile('weakest node', '–')
    : tile('weakest node', nodeName(worst.node), `reward ${number(worst.value)}`)
}

/** Tokens a second over the last steps; the count in the metrics goes up from step to step. */
const tokenRate = ({ values }: Series, count = 20): number | null => {
  const [tokens, seconds] = [(values['num_tokens'] ?? []).slice(-count), (values['step_time'] ?? []).slice(-count + 1)]
  const [first, last] = [tokens[0] ?? null, tokens.at(-1) ?? null]
  const whole = seconds.reduce<number>((sum, value) => sum + (value ?? 0), 0)
  return first === null || last === null || tokens.length < 2 || whole === 0 ? null : (last - first) / whole
}

/** What a run comes to, in a few numbers. */
export const tiles = ({ card, secondsLeft }: Overview, series: Series): HTMLElement => {
  const maximum = card.rewardMaximum
  const pace = mean((series.values['step_time'] ?? []).slice(-20))
  const rate = tokenRate(series)
  return h(
    'dl',
    { class: 'tiles' },
    tile('reward, last 20 steps', number(latest(series, 'reward')), `of at most ${number(maximum)}`),
    heldOutTile(card),
    weakestTile(series),
    tile('KL', number(latest(series, 'kl'), 3), 'to the base, last 20 steps'),
    tile('groups without signal', percent(latest(series, 'frac_reward_zero_std')), 'last 20 steps'),
    tile('cut off', percent(latest(series, 'completions/clipped_ratio'), 1), 'of completions, last 20 steps'),
    tile(
      'time',
      pace === null ? '–' : `${number(pace, 1)} s / step`,
      [
        secondsLeft === null ? `step ${card.step} of ${card.steps}` : `${duration(secondsLeft)} to go`,
        ...(rate === null ? [] : [`${Math.round(rate).toLocaleString('en')} tokens / s`]),
      ].join(', '),
    ),
  )
}

/** The five nodes at a glance; each leads to its page. */
export const nodeStrip = (run: string, series: Series): HTMLElement =>
  h(
    'ul',
    { class: 'node-strip' },
    nodeIds.map((node) => {
      const values = series.values[`reward/${node}`] ?? []
      return h(
        'li',
        {},
        h(
          'a',
          { href: addressOf(run, 'nodes', [], { node }) },
          nodeName(node),
          sparkline(values, node, 150, 34),
          h('b', {}, number(latest(series, `reward/${node}`))),
        ),
      )
    }),
  )
