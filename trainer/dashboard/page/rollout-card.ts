import type { RolloutRow } from '../view.ts'
import { h, s } from './dom.ts'
import { change, number, words } from './format.ts'
import { markOf } from './marks.ts'
import { addressOf } from './router.ts'

const [barWidth, barHeight] = [110, 10]

/** Contributions one after the other, each from where the one before ended: together they reach R. What is missing is pale. */
export const breakdown = (
  components: Readonly<Record<string, number>>,
  maxima: Readonly<Record<string, number>>,
): HTMLElement => {
  const parts = Object.entries(components).map(([name, value]) => ({
    ...{ name, value },
    maximum: maxima[name] ?? Math.max(1, Math.abs(value)),
  }))
  const whole = parts.reduce((sum, { maximum }) => sum + maximum, 0)
  // Below zero there is room for what takes away.
  const low = -0.12 * whole
  const at = (value: number): number => ((value - low) / (whole - low)) * barWidth
  let sum = 0
  return h(
    'ul',
    { class: 'breakdown' },
    parts.map(({ name, value, maximum }) => {
      const [from, to] = [sum, (sum += value)]
      return h(
        'li',
        { class: value < maximum - 1e-3 ? 'short' : '' },
        h('span', {}, words(name)),
        s(
          'svg',
          {
            class: 'bar',
            width: barWidth,
            height: barHeight,
            viewBox: `0 0 ${barWidth} ${barHeight}`,
            'aria-hidden': 'true',
          },
          s('rect', { class: 'bar-ground', x: at(from), width: at(from + maximum) - at(from), height: barHeight }),
          s('rect', {
            class: value < 0 ? 'fill loss' : 'fill total',
            x: at(Math.min(from, to)),
            width: Math.abs(at(to) - at(from)),
            height: barHeight,
          }),
        ),
        h('span', { class: 'number' }, `${number(value)} / ${number(maximum)}`),
      )
    }),
    h(
      'li',
      { class: 'sum' },
      h('span', {}, 'R'),
      h('span', {}),
      h('span', { class: 'number' }, `${number(sum)} / ${number(whole)}`),
    ),
  )
}

/** A completion in short, with what it earned. */
export const rolloutCard = (run: string, row: RolloutRow, maxima: Readonly<Record<string, number>>): HTMLElement =>
  h(
    'article',
    { class: 'card rollout' },
    h(
      'div',
      { class: 'card-head' },
      h(
        'a',
        { href: addressOf(run, 'rollouts', [row.step, row.group], { sample: row.sample }) },
        `step ${row.step}, sample ${row.sample}`,
      ),
      markOf(row),
      h('b', {}, `R ${number(row.total)}`),
    ),
    h('p', { class: 'note' }, `advantage ${change(row.advantage)}, ${row.tokens} tokens, ${row.finishReason}`),
    h('pre', { class: 'text short-text', tabindex: 0 }, row.excerpt),
    h('details', {}, h('summary', {}, 'Breakdown'), breakdown(row.components, maxima)),
  )
