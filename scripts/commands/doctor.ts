import { loadConfig } from '../../configs/load.ts'
import { exitCodes } from '../../data/errors.ts'
import { defineCommand } from '../command.ts'
import { checks } from '../doctor/checks.ts'
import { openContext } from '../doctor/context.ts'
import { examine, type Examined } from '../doctor/examine.ts'
import { table } from '../table.ts'
import { setOption } from '../options.ts'

const marks = { ok: 'ok', warn: 'warning', fail: 'FAILED', skip: '-' } as const satisfies Record<
  Examined['state'],
  string
>

const render = (findings: readonly Examined[]): string => {
  const rows = findings.map(({ name, state, detail }) => [name, marks[state], detail.split('\n', 1)[0] ?? ''])
  const remedies = findings.flatMap((finding) =>
    'remedy' in finding ? [`${finding.name}: ${finding.detail}\n  ${finding.remedy}`] : [],
  )
  return [table(['check', 'result', 'found'], rows), ...remedies].join('\n\n')
}

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'Examine this machine for a config: what a run needs, and what to do about what is missing',
  options: {
    config: {
      type: 'string',
      default: 'tiny.yaml',
      describe: 'config file; a bare name is also looked up among the shipped ones',
    },
    set: setOption('worker.device=cpu'),
    json: { type: 'boolean', default: false, describe: 'print the findings as JSON' },
  },
  examples: [
    ['drift-grpo doctor', 'can this machine run tiny.yaml?'],
    ['drift-grpo doctor --config granite-2b.yaml --json', 'the same for the reference recipe, for a script'],
  ],
  run: async ({ config: name, set, json }, { cwd, env, out, interrupts }) => {
    const { config } = await loadConfig({ name, sets: set, cwd })
    const { finish: signal } = interrupts('stopping')
    const findings = await examine(checks, openContext(config, { cwd, env, signal }))
    const failed = findings.filter(({ state }) => state === 'fail').length
    if (json) out.data(JSON.stringify({ config: name, fit: failed === 0, findings }))
    else out.data(render(findings))
    out.progress(
      failed === 0 ? `fit for ${name}` : `not fit for ${name}: ${failed} of ${findings.length} checks failed`,
    )
    return failed === 0 ? exitCodes.ok : exitCodes.preflight
  },
})
