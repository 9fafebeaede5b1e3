import type { RolloutRow } from '../view.ts'
import { h, s } from './dom.ts'
import { change, number, words } from './format.ts'
import { addressOf } from './router.ts'

/** Contributions as bars from a common zero, and their sum. */
export const breakdown = (
  components: Readonly<Record<string, number>>,
  maxima: Readonly<Record<string, number>>,
): HTMLElement =>
  h(
    'ul',
    { class: 'breakdown' },
    Object.entries(components).map(([name, value]) => {
      const maximum = maxima[name] ?? Math.max(1, Math.abs(value))
      const share = Math.max(-1, Math.min(1, value / maximum))
      return h(
        'li',
        { class: value < maximum - 1e-3 ? 'short' : '' },
        h('span', {}, words(name)),
        s(
          'svg',
          { class: 'bar', width: 80, height: 10, viewBox: '-20 0 100 10', 'aria-hidden': 'true' },
          s('rect', { class: 'bar-ground', x: 0, width: 80, height: 10 }),
          s('rect', {
            class: share < 0 ? 'fill loss' : 'fill total',
            x: share < 0 ? 20 * share : 0,
            width: share < 0 ? -20 * share : 80 * share,
            height: 10,
          }),
        ),
        h('span', { class: 'number' }, `${number(value)} / ${number(maximum)}`),
      )
    }),
  )

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
      h('b', {}, `R ${number(row.total)}`),
    ),
    h('p', { class: 'note' }, `advantage ${change(row.advantage)}, ${row.tokens} tokens, ${row.finishReason}`),
    h('pre', { class: 'text short-text', tabindex: 0 }, row.excerpt),
    h('details', {}, h('summary', {}, 'Breakdown'), breakdown(row.components, maxima)),
  )
