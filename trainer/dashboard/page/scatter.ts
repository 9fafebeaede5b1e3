import type { PromptDelta } from '../../../data/records/evaluation.ts'
import { chartFrame } from './chart-frame.ts'
import { s } from './dom.ts'
import { compact } from './format.ts'
import { nodes } from './nodes.ts'
import { scale, ticks } from './scale.ts'

/** Every prompt: base across, trained up. Above the diagonal the trained model earns more. */
export const scatter = (deltas: readonly PromptDelta[], maximum: number, width: number): HTMLElement => {
  const size = Math.min(width, 580)
  const low = Math.min(0, ...deltas.flatMap(({ base, trained }) => [base, trained]))
  const [x, y] = [scale([low, maximum], [50, size - 14]), scale([low, maximum], [size - 40, 30])]
  const picture = s(
    'svg',
    { class: 'chart', width: size, height: size, viewBox: `0 0 ${size} ${size}`, 'aria-hidden': 'true' },
    ticks(low, maximum).flatMap((value) => [
      s('line', { class: 'grid', x1: x(low), x2: x(maximum), y1: y(value), y2: y(value) }),
      s('text', { class: 'tick', x: x(low) - 6, y: y(value) + 4, 'text-anchor': 'end' }, compact(value)),
      s('text', { class: 'tick', x: x(value), y: y(low) + 16, 'text-anchor': 'middle' }, compact(value)),
    ]),
    s('line', { class: 'axis', x1: x(low), y1: y(low), x2: x(maximum), y2: y(maximum) }),
    s('text', { class: 'tick', x: x(maximum), y: y(low) + 32, 'text-anchor': 'end' }, 'base'),
    s('text', { class: 'tick', x: 8, y: 14 }, 'trained'),
    deltas.map(({ promptId, node, base, trained }) =>
      s(
        'path',
        {
          class: `fill ${node}`,
          d: nodes[node].marker,
          'fill-opacity': 0.75,
          transform: `translate(${x(base).toFixed(1)} ${y(trained).toFixed(1)})`,
        },
        s('title', {}, `${promptId} ${node}: ${compact(base)} → ${compact(trained)}`),
      ),
    ),
  )
  const [better, worse] = [
    deltas.filter(({ delta }) => delta > 0).length,
    deltas.filter(({ delta }) => delta < 0).length,
  ]
  return chartFrame({
    id: 'scatter',
    title: 'R of each prompt, base and trained',
    picture,
    caption: `${better} prompts earn more, ${worse} less, ${deltas.length - better - worse} the same.`,
    note: 'Circle n1, square n2, triangle n3, diamond n4, cross n5; the line is equality.',
    header: ['prompt', 'node', 'base', 'trained', 'change'],
    rows: deltas.map(({ promptId, node, base, trained, delta }) => [promptId, node, base, trained, delta]),
  })
}
