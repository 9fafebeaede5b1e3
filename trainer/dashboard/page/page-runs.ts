import type { RunCard, RunList } from '../view.ts'
import { h, type Child } from './dom.ts'
import { ago, change, number } from './format.ts'
import type { Page } from './page.ts'
import { addressOf } from './router.ts'
import { sparkline, stateBadge, table } from './ui.ts'

const difference = ({ heldout }: RunCard): number | null =>
  heldout === null || heldout.base === null || heldout.trained === null ? null : heldout.trained - heldout.base

const cells = (run: RunCard): Child[] => [
  h('a', { href: addressOf(run.id, 'overview') }, run.id),
  stateBadge(run.state),
  `${run.step} / ${run.steps}`,
  sparkline(run.curve, 'total'),
  `${number(run.lastReward)} of ${number(run.rewardMaximum)}`,
  run.heldout === null ? '–' : `${number(run.heldout.base)} → ${number(run.heldout.trained)}`,
  change(difference(run)),
  run.updatedAt === '' ? '–' : ago(run.updatedAt),
]

const header = [
  'run',
  'state',
  'step',
  'reward over steps',
  'reward, last 10',
  'held out, base → trained',
  'change',
  'updated',
]

const empty = (directory: string): HTMLElement =>
  h(
    'div',
    { class: 'empty' },
    h('h2', {}, 'No runs yet'),
    h('p', {}, `There is no run in ${directory}. This starts one:`),
    h('pre', {}, 'drift-grpo train --config tiny.yaml'),
  )

const problems = (runs: readonly RunCard[]): Child =>
  runs
    .filter(({ problem }) => problem !== null)
    .map(({ id, problem }) => h('p', { class: 'note' }, h('b', {}, id), `: ${problem}`))

export const runsPage: Page = {
  title: 'Runs',
  shows: [],
  draw: async () => {
    const response = await fetch('/api/runs')
    const { directory, runs } = (await response.json()) as RunList
    if (runs.length === 0) return empty(directory)
    return h(
      'div',
      {},
      h('h1', {}, 'Runs'),
      h('p', { class: 'note' }, directory),
      table(
        'Runs, the latest first',
        header,
        runs.map((run) => ({ cells: cells(run) })),
      ),
      problems(runs),
    )
  },
}
