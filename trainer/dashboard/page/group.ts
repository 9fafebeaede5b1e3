import type { GroupDetail } from '../view.ts'
import { ask } from './api.ts'
import { copyButton } from './copy.ts'
import { diffWords } from './diff.ts'
import { h, type Child } from './dom.ts'
import { change, number, words } from './format.ts'
import { addressOf, go, withQuery, type Place } from './router.ts'
import { markButtons } from './marks.ts'
import { breakdown } from './rollout-card.ts'
import { samePrompt } from './same-prompt.ts'
import { nodeName, notice, table } from './ui.ts'

/** What a completion can be laid over. */
interface Other {
  readonly key: string
  readonly name: string
  readonly text: string
}

const othersOf = ({ record, base }: GroupDetail, chosen: number): Other[] => [
  ...base.map(({ evaluation, text, total }, i) => ({
    key: `base-${i}`,
    name: `base model in ${evaluation}, R ${number(total)}`,
    text,
  })),
  ...record.group.completions.flatMap(({ index, text }) =>
    index === chosen ? [] : [{ key: `sample-${index}`, name: `sample ${index} of this group`, text }],
  ),
]

/** The best completion of the same prompt at another step. */
const atStep = async (run: string, { places }: GroupDetail, key: string): Promise<Other | null> => {
  const place = places.find(({ step }) => `step-${step}` === key)
  if (place === undefined) return null
  const { record } = await ask<GroupDetail>([run, 'groups', place.step, place.group])
  const text = record.group.completions[0]?.text ?? ''
  return { key, name: `sample 0 at step ${place.step}`, text }
}

const differences = (before: string, after: string): HTMLElement =>
  h(
    'pre',
    { class: 'text', tabindex: 0 },
    diffWords(before, after).map(({ kind, text }) => {
      if (kind === 'same') return text
      return kind === 'added' ? h('ins', {}, text) : h('del', {}, text)
    }),
  )

/** What was concluded from a completion: its reward, or why it has none, and what the judge said. */
const conclusion = (
  { scores, verdicts }: GroupDetail['record'],
  index: number,
  maxima: Readonly<Record<string, number>>,
): Child[] => {
  const [score, verdict] = [scores[index], verdicts[index] ?? null]
  const reward =
    score?.kind === 'scored'
      ? breakdown(
          Object.fromEntries(Object.entries(score.components).map(([name, { weighted }]) => [name, weighted])),
          maxima,
        )
      : notice(`${words(score?.component ?? 'score')}:`, score?.reason ?? 'not on record')
  const judged =
    verdict === null
      ? null
      : h('p', { class: 'note' }, h('b', {}, `judge ${verdict.model}: ${number(verdict.score)}`), ` ${verdict.reason}`)
  return [reward, judged]
}

/** A completion with all that was concluded from it, and its address, to be copied. */
const copies = ({ record }: GroupDetail, { run, rest }: Place, index: number): HTMLElement => {
  const { group, verdicts, scores, advantages, attempt } = record
  const { completions, ...about } = group
  const json = (): string =>
    JSON.stringify(
      {
        ...{ run, attempt, ...about, group: Number(rest[1]), completion: completions[index] },
        ...{ score: scores[index], verdict: verdicts[index] ?? null, advantage: advantages.advantages[index] },
      },
      null,
      2,
    )
  const address = (): string => location.origin + addressOf(run ?? '', 'rollouts', rest, { sample: index })
  return h(
    'span',
    { class: 'tools' },
    copyButton('JSON', `Copy sample ${index} with its scores`, json),
    copyButton('Link', `Copy the address of sample ${index}`, address),
  )
}

/** With signs for what cannot be seen. */
const visible = (text: string): string => text.replaceAll(' ', '·').replaceAll('\t', '→\t').replaceAll('\n', '¶\n')

const sampleCard = (
  detail: GroupDetail,
  place: Place,
  maxima: Readonly<Record<string, number>>,
  index: number,
  chosen: number,
): HTMLElement => {
  const { record } = detail
  const completion = record.group.completions[index]
  const score = record.scores[index]
  if (completion === undefined) return h('article', {})
  return h(
    'article',
    { class: `card${index === chosen ? ' chosen' : ''}` },
    h(
      'div',
      { class: 'card-head' },
      h(
        'a',
        { href: withQuery(place, { sample: index }), 'aria-current': index === chosen ? 'true' : null },
        `sample ${index}`,
      ),
      h('b', {}, score?.kind === 'scored' ? `R ${number(score.total)}` : 'unscored'),
      h('span', {}, `advantage ${change(record.advantages.advantages[index])}`),
      copies(detail, place, index),
    ),
    h(
      'p',
      { class: 'note' },
      `${completion.tokens} tokens, ${completion.finishReason}, mean log-prob ${number(completion.meanLogprob, 3)}`,
    ),
    h(
      'pre',
      { class: 'text', tabindex: 0 },
      place.query.get('spaces') === 'on' ? visible(completion.text) : completion.text,
    ),
    conclusion(record, index, maxima),
    markButtons(place.run ?? '', detail, index, Number(place.rest[1])),
  )
}

const componentDetails = ({ record }: GroupDetail, chosen: number): Child => {
  const score = record.scores[chosen]
  if (score?.kind !== 'scored') return null
  const sum = Object.values(score.components).reduce((total, { weighted }) => total + weighted, 0)
  return [
    h('h2', {}, `Where R of sample ${chosen} comes from`),
    table(
      'Components',
      ['component', 'raw', 'weight', 'weighted', 'why'],
      Object.entries(score.components).map(([name, { raw, weight, weighted, detail }]) => ({
        cells: [words(name), number(raw, 3), number(weight, 3), number(weighted, 3), detail],
      })),
    ),
    h(
      'p',
      { class: 'note' },
      Math.abs(sum - score.total) < 1e-9 ? '✓ ' : '✕ ',
      `sum ${number(sum, 4)}, total ${number(score.total, 4)}`,
    ),
  ]
}

const promptText = ({ prompt, record }: GroupDetail): HTMLElement =>
  h(
    'details',
    {},
    h('summary', {}, `Prompt ${record.group.promptId}, ${record.group.promptTokens} tokens`),
    prompt === null
      ? h('p', { class: 'note' }, 'This copy of the run has no pool.jsonl, or the prompt is not in it.')
      : [
          prompt.messages.map(({ role, content }) => [
            h('p', { class: 'mini' }, role),
            h('pre', { class: 'text' }, content),
          ]),
          h('p', { class: 'mini' }, 'target'),
          h('pre', { class: 'text' }, JSON.stringify(prompt.target, null, 2)),
        ],
  )

/** From the base model's completion to that of another sample, and back. */
const toBase = (place: Place, others: readonly Other[], asked: string): Child => {
  const [base, sample] = ['base', 'sample'].map((kind) => others.find(({ key }) => key.startsWith(kind)))
  const next = asked.startsWith('base') ? sample : base
  if (next === undefined) return null
  return h('a', { href: withQuery(place, { diff: next.key }), 'data-press': 'b' }, `compare with ${next.name}`)
}

const comparison = async (place: Place, run: string, detail: GroupDetail, chosen: number): Promise<Child> => {
  const others = othersOf(detail, chosen)
  const steps = detail.places.filter(({ step }) => step !== detail.record.group.step)
  const given = place.query.get('diff')
  const isOff = given === 'off'
  const toggle = h(
    'a',
    { href: withQuery(place, { diff: isOff ? null : 'off' }), 'data-press': 'd' },
    isOff ? 'show the differences' : 'hide the differences',
  )
  if (isOff) return [h('h2', {}, 'Differences'), h('p', {}, toggle)]
  const asked = given ?? others[0]?.key ?? ''
  const other = others.find(({ key }) => key === asked) ?? (await atStep(run, detail, asked))
  const options = [
    ...others.map(({ key, name }) => ({ key, name })),
    ...steps.map(({ step }) => ({ key: `step-${step}`, name: `sample 0 at step ${step}` })),
  ]
  const onchange = (event: Event): void => {
    if (event.currentTarget instanceof HTMLSelectElement)
      go(withQuery(place, { diff: event.currentTarget.value }), true)
  }
  return [
    h('h2', {}, 'Differences'),
    h(
      'label',
      {},
      `from `,
      h(
        'select',
        { onchange },
        options.map(({ key, name }) => h('option', { value: key, selected: key === other?.key }, name)),
      ),
      ` to sample ${chosen} `,
    ),
    h('p', { class: 'pager' }, toggle, toBase(place, others, asked)),
    other === null
      ? h('p', { class: 'note' }, 'nothing to compare with')
      : differences(other.text, detail.record.group.completions[chosen]?.text ?? ''),
  ]
}

/** A group: its prompt, its completions side by side, and what was concluded from them. */
export const drawGroup = async (
  place: Place,
  run: string,
  maxima: Readonly<Record<string, number>>,
  step: number,
  group: number,
): Promise<HTMLElement> => {
  const detail = await ask<GroupDetail>([run, 'groups', step, group])
  const { record } = detail
  const count = record.group.completions.length
  const chosen = Math.min(count - 1, Math.max(0, Number(place.query.get('sample') ?? 0) || 0))
  const { mean, std, skipped } = record.advantages
  return h(
    'div',
    {},
    h('p', {}, h('a', { href: addressOf(run, 'rollouts', [], { node: record.group.node }) }, '← rollouts')),
    h('h1', {}, `Step ${step}, group ${group} `, nodeName(record.group.node)),
    h(
      'p',
      { class: 'note' },
      `policy version ${record.group.policyVersion}, attempt ${record.attempt}, mean ${number(mean)}, deviation ${number(std)}`,
    ),
    samePrompt(place, detail, group),
    skipped === null
      ? null
      : notice(
          'No gradient from this group:',
          skipped === 'no_spread' ? 'all completions earned the same.' : 'fewer than two completions have a score.',
        ),
    promptText(detail),
    h(
      'div',
      { class: 'samples' },
      record.group.completions.map((_, i) => sampleCard(detail, place, maxima, i, chosen)),
    ),
    h(
      'p',
      { class: 'pager' },
      h(
        'a',
        { href: withQuery(place, { sample: (chosen + count - 1) % count }), 'data-press': 'p' },
        '← sample before',
      ),
      h('a', { href: withQuery(place, { sample: (chosen + 1) % count }), 'data-press': 'n' }, 'next sample →'),
      h(
        'a',
        { href: withQuery(place, { spaces: place.query.get('spaces') === 'on' ? null : 'on' }) },
        place.query.get('spaces') === 'on' ? 'hide spaces and line ends' : 'show spaces and line ends',
      ),
    ),
    componentDetails(detail, chosen),
    await comparison(place, run, detail, chosen),
    h(
      'details',
      {},
      h('summary', {}, 'The record as JSON'),
      h('pre', { class: 'text' }, JSON.stringify(record, null, 2)),
    ),
  )
}
