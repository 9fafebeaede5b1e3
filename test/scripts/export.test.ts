import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { rewards, writeResumedRun } from '../support/exported-run.ts'
import { runInProcess } from '../support/in-process-cli.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'
import { mlflowServer, trackioServer } from '../support/tracking-servers.ts'

const cwd = temporaryDirectory()
const run = writeResumedRun(join(cwd, 'runs'), 'mine')
const cli = (...args: string[]) => runInProcess(args, cwd)

const servers: { close: () => Promise<void> }[] = []
afterAll(async () => {
  for (const server of servers) await server.close()
})

describe('drift-grpo export', () => {
  it.each([
    ['tensorboard', /tfevents/],
    ['csv', /^metrics\.csv$/],
    ['parquet', /^rollouts\.parquet$/],
  ])('writes %s into the run, or where it is told to', async (to, name) => {
    const { code, stdout } = await cli('export', '--run', 'mine', '--to', to)
    expect({ code, stdout: stdout.trim() }).toStrictEqual({ code: 0, stdout: run.at('exports', to) })
    expect(readdirSync(run.at('exports', to)).some((file) => name.test(file))).toBe(true)
    const other = await cli('export', '--run', 'runs/mine', '--to', to, '--out', `out-${to}`, '--json')
    expect(JSON.parse(other.stdout)).toMatchObject({ to, steps: rewards.length, directory: join(cwd, `out-${to}`) })
  })

  it('sends a run to MLflow, the later attempt’s steps only', async () => {
    const server = await mlflowServer()
    servers.push(server)
    const { code, stdout } = await cli('export', '--run', 'mine', '--to', 'mlflow', '--url', server.url)
    expect({ code, stdout }).toStrictEqual({ code: 0, stdout: '5 steps sent\n' })
    const sent = server.runs[0]?.metrics.filter(({ key }) => key === 'reward').map(({ value }) => value)
    expect(sent).toStrictEqual(rewards)
    expect(server.runs[0]).toMatchObject({ status: 'FINISHED', params: { 'run.steps': '5' } })
  })

  it('sends a run to trackio', async () => {
    const server = await trackioServer('token')
    servers.push(server)
    process.env['TRACKIO_WRITE_TOKEN'] = 'token'
    const { code } = await cli('export', '--run', 'mine', '--to', 'trackio', '--url', server.url, '--project', 'p')
    delete process.env['TRACKIO_WRITE_TOKEN']
    expect(code).toBe(0)
    expect(server.entries.map(({ project, step, metrics }) => [project, step, metrics['reward']])).toStrictEqual(
      rewards.map((reward, step) => ['p', step, reward]),
    )
  })

  it.each([
    [['--to', 'mlflow'], 2, 'needs the address of a server'],
    [['--to', 'trackio', '--url', 'nowhere'], 2, 'not nowhere'],
    [['--to', 'mlflow', '--url', 'http://127.0.0.1:1'], 3, 'mlflow at http://127.0.0.1:1: no answer'],
  ])('refuses %j', async (args, wanted, message) => {
    const { code, stdout, stderr } = await cli('export', '--run', 'mine', ...args)
    expect({ code, stdout }).toStrictEqual({ code: wanted, stdout: '' })
    expect(stderr).toContain(message)
  })

  it('says that a run has nothing to export yet', async () => {
    const fresh = writeResumedRun(join(cwd, 'runs'), 'fresh')
    writeFileSync(fresh.metrics, '')
    const { code, stderr } = await cli('export', '--run', 'fresh', '--to', 'csv')
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no complete step yet') as string,
    })
  })
})

describe('a training whose metrics go to a server that is not there', () => {
  it('is refused before anything is started or written', async () => {
    const set = ['exports.mlflow.url=http://127.0.0.1:1', 'pool.train=20', 'pool.heldout=5', 'evaluation.prompts=5']
    const sets = set.flatMap((one) => ['--set', one])
    const { code, stderr } = await cli('train', '--config', 'tiny.yaml', ...sets, '--dir', 'elsewhere')
    expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining('mlflow at http') as string })
    expect(existsSync(join(cwd, 'elsewhere'))).toBe(false)
  })
})
