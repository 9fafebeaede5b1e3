#!/usr/bin/env node
// Plays `vllm` with real answers: the sampling routes of a worker, which are the subset of vLLM's that a training uses.
import { spawn, spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const args = process.argv.slice(2)
/** @param {string} name */
const value = (name) => args[args.indexOf(name) + 1] ?? ''

const serve = () => {
  const own = ['--model', args[1] ?? '', '--max-context', value('--max-model-len'), '--device', 'cpu', '--threads', '1']
  const given = ['--served-model-name', '--host', '--port', '--dtype']
  const names = ['--served-name', '--host', '--port', '--dtype']
  const child = spawn(
    join(root, '.venv/bin/python'),
    ['-m', 'grpo_worker', ...own, ...given.flatMap((name, i) => [names[i] ?? '', value(name)])],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        DRIFT_GRPO_TOKEN: process.env['VLLM_API_KEY'],
        PYTHONPATH: join(root, 'trainer/python'),
        OMP_WAIT_POLICY: 'PASSIVE',
      },
    },
  )
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('exit', (code) => process.exit(code ?? 1))
}

const fake = join(root, 'test/support/fake-vllm.mjs')
// What it says about itself is what the stand-in without a model says.
if (args[0] !== 'serve' || args[1] === '--help=all')
  process.exit(spawnSync(fake, args, { stdio: 'inherit' }).status ?? 1)
else serve()
