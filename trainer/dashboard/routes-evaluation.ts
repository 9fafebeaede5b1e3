import { Hono } from 'hono'
import { historyOf } from './evaluation-history.ts'
import { noRun } from './routes-run.ts'
import type { Runs } from './runs.ts'

const noEvaluation = { error: 'there is no such evaluation', remedy: 'drift-grpo eval --run RUN makes one.' }
const noAudit = { error: 'the judge of this run was not audited', remedy: 'drift-grpo audit --run RUN does it.' }

/** Evaluations and the audit of the judge. */
export const evaluationRoutes = (runs: Runs): Hono =>
  new Hono()
    .get('/:run/evaluations/:name', async (c) => {
      const run = await runs.find(c.req.param('run'))
      const reply = (await run?.evaluations.reply(c.req.param('name'))) ?? null
      return reply === null ? c.json(noEvaluation, 404) : c.json(reply)
    })
    .get('/:run/evaluations/:name/history', async (c) => {
      const run = await runs.find(c.req.param('run'))
      const history = run === undefined ? null : await historyOf(run.reader, c.req.param('name'))
      return history === null ? c.json(noEvaluation, 404) : c.json(history)
    })
    .get('/:run/evaluations/:name/prompts/:prompt', async (c) => {
      const run = await runs.find(c.req.param('run'))
      const { name, prompt } = c.req.param()
      const reply = (await run?.evaluations.prompt(name, prompt, run.prompts)) ?? null
      return reply === null ? c.json({ error: 'there is no such prompt', remedy: null }, 404) : c.json(reply)
    })
    .get('/:run/audit', async (c) => {
      const run = await runs.find(c.req.param('run'))
      if (run === undefined) return c.json(noRun, 404)
      const audit = await run.reader.audit()
      return audit === null ? c.json(noAudit, 404) : c.json(audit)
    })
