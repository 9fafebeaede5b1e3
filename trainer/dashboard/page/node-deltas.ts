import type { PromptDelta } from '../../../data/records/evaluation.ts'
import type { NodeId } from '../../../data/records/node.ts'
import type { EvaluationReply } from '../view.ts'
import { chartFrame } from './chart-frame.ts'
import { deltaHistogram } from './delta-histogram.ts'
import { choice } from './choice.ts'
import { h, s, type Child } from './dom.ts'
import { change, compact, number } from './format.ts'
import { nodes } from './nodes.ts'
import { addressOf, type Place } from './router.ts'
import { scale, ticks } from './scale.ts'
import { chartWidth } from './ui.ts'

/** More lines than that cannot be told apart; the table below the picture has them all. */
const mostRows = 60
const [rowHeight, left, right, top, bottom] = [17, 130, 90, 8, 40] as const

const orders = {
  worst: { title: 'worst change first', key: ({ delta }: PromptDelta) => delta },
  best: { title: 'best change first', key: ({ delta }: PromptDelta) => -delta },
  trained: { title: 'lowest trained first', key: ({ trained }: PromptDelta) => trained },
  base: { title: 'lowest base first', key: ({ base }: PromptDelta) => base },
} as const
type OrderName = keyof typeof orders
const isOrder = (name: string | null): name is OrderName => name !== null && Object.hasOwn(orders, name)
const orderOf = ({ query }: Place): OrderName => {
  const asked = query.get('order')
  return isOrder(asked) ? asked : 'worst'
}

/** One line a prompt, from what the base earned (hollow) to what the trained model earns (filled). */
const promptLines = (all: readonly PromptDelta[], node: NodeId, maximum: number, width: number): HTMLElement => {
  const shown = all.slice(0, mostRows)
  const height = top + shown.length * rowHeight + bottom
  const low = Math.min(0, ...shown.flatMap(({ base, trained }) => [base, trained]))
  const [x, end] = [scale([low, maximum], [left, width - right]), height - bottom]
  const { marker } = nodes[node]
  const line = ({ promptId, base, trained, delta }: PromptDelta, i: number): SVGElement[] => {
    const y = top + (i + 0.5) * rowHeight
    const at = (value: number): string => `translate(${x(value).toFixed(1)} ${y})`
    return [
      s('text', { class: 'tick', x: left - 10, y: y + 4, 'text-anchor': 'end' }, promptId.slice(0, 16)),
      s('line', { class: `line ${delta < 0 ? 'loss' : node}`, x1: x(base), x2: x(trained), y1: y, y2: y }),
      s('path', { class: 'fill base', d: marker, transform: at(base) }),
      s('path', { class: `fill ${node}`, d: marker, transform: at(trained) }),
      s('text', { class: 'tick', x: width - right + 12, y: y + 4 }, change(delta)),
    ]
  }
  const picture = s(
    'svg',
    { class: 'chart', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    ticks(low, maximum, Math.max(2, Math.floor((width - left - right) / 80))).flatMap((value) => [
      s('line', { class: 'grid', x1: x(value), x2: x(value), y1: top, y2: end }),
      s('text', { class: 'tick', x: x(value), y: end + 16, 'text-anchor': 'middle' }, compact(value)),
    ]),
    s('text', { class: 'tick', x: width - right, y: end + 32, 'text-anchor': 'end' }, 'R'),
    shown.flatMap(line),
  )
  const [better, worse] = [all.filter(({ delta }) => delta > 0).length, all.filter(({ delta }) => delta < 0).length]
  return chartFrame({
    ...{ id: 'prompt-lines', title: 'Each prompt, base to trained', picture },
    caption: `${better} prompts earn more, ${worse} less, ${all.length - better - worse} the same.`,
    note: `Hollow: base; filled: trained.${all.length > mostRows ? ` The first ${mostRows} of ${all.length}.` : ''}`,
    header: ['prompt', 'base', 'trained', 'change'],
    rows: all.map(({ promptId, base, trained, delta }) => [promptId, base, trained, delta]),
  })
}

const chooseOrder = (place: Place): HTMLElement => {
  const titles = Object.entries(orders).map(([name, { title }]) => [name, title] as const)
  return choice(place, 'order of prompts', 'order', titles, orderOf(place))
}

/** A node's prompts in the newest evaluation: how much they changed, and each from base to trained. */
export const nodeDeltas = (place: Place, run: string, node: NodeId, evaluation: EvaluationReply | null): Child => {
  const title = h('h3', {}, 'Held out, base against trained')
  const { key } = orders[orderOf(place)]
  const own = (evaluation?.statistics.promptDeltas ?? []).filter((one) => one.node === node)
  if (evaluation === null || own.length === 0)
    return [
      title,
      h(
        'p',
        { class: 'note' },
        'No evaluation with prompts of this node yet, or none that can be read: the Evaluation page says which.',
      ),
    ]
  const { summary, statistics } = evaluation
  const result = statistics.results.find(
    (one) => one.node === node && one.measure === 'reward' && one.targetClass === null,
  )
  const range = result?.interval
  const interval =
    range === null || range === undefined ? '' : `, 95 % interval ${number(range.low)} to ${number(range.high)}`
  return [
    title,
    h(
      'p',
      { class: 'note' },
      h(
        'a',
        { href: addressOf(run, 'evaluation', [summary.name]) },
        `Evaluation ${summary.name}, step ${summary.step}`,
      ),
      result === undefined
        ? ''
        : `: R ${number(result.base)} → ${number(result.trained)}, ${change(result.delta)}${interval}.`,
    ),
    h('div', { class: 'controls' }, chooseOrder(place)),
    h(
      'div',
      { class: 'grid' },
      promptLines(
        own.toSorted((a, b) => key(a) - key(b)),
        node,
        summary.rewardMaximum,
        chartWidth(2),
      ),
      deltaHistogram(
        own.map(({ delta }) => delta),
        chartWidth(2),
        `How much prompts of ${node} changed`,
      ),
    ),
  ]
}
