import { basename, dirname, resolve } from 'node:path'
import { exitCodes } from '../../data/errors.ts'
import { findEvaluation } from '../../trainer/evaluation/find-side.ts'
import { loadEvaluation } from '../../trainer/evaluation/load.ts'
import { reportContent } from '../../trainer/evaluation/report/content.ts'
import { writeReport } from '../../trainer/evaluation/report/write.ts'
import { defineCommand } from '../command.ts'

export const reportCommand = defineCommand({
  name: 'report',
  summary: 'Write tables and figures of an evaluation: Markdown, CSV, SVG and one HTML file',
  options: {
    run: {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: 'run (id or path), or an evaluation’s directory',
    },
    out: { type: 'string', demandOption: true, requiresArg: true, describe: 'directory to write to' },
    evaluation: { type: 'string', requiresArg: true, describe: 'name below eval/, where the run has several' },
    dir: { type: 'string', default: 'runs', describe: 'directory of the runs' },
    json: { type: 'boolean', default: false, describe: 'print the written files and the verdict as JSON' },
  },
  examples: [
    ['drift-grpo report --run runs/mine --out my-report', 'of the evaluation at the end of training'],
    ['drift-grpo report --run runs/mine --evaluation heldout-best --out my-report', 'of another evaluation of the run'],
  ],
  run: async ({ run, out: target, evaluation, dir, json }, { cwd, out }) => {
    const found = await findEvaluation(run, { cwd, runsDir: resolve(cwd, dir), evaluation })
    const recorded = await loadEvaluation(found.directory)
    const content = reportContent(basename(dirname(dirname(found.directory))), recorded)
    const directory = resolve(cwd, target)
    const files = await writeReport(directory, content)
    out.progress(`wrote ${files.length} files to ${directory}`)
    if (json)
      out.data(
        JSON.stringify({ directory, files, verdict: content.verdict?.verdict ?? null, headline: content.headline }),
      )
    else out.data(`${content.headline}\nopen ${resolve(directory, 'report.html')}`)
    return exitCodes.ok
  },
})
