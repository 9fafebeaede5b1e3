import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { buildIsCurrent } from '../../scripts/setup/build.mjs'
import { temporaryDirectory } from '../support/tiny-training.ts'

// Packing and compiling take a minute on a machine that is busy with other things.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const root = packageRoot()
const fixture = join(root, 'test', 'fixtures', 'evaluation')
const notBuilt = process.env['DRIFT_GRPO_REQUIRE'] !== '1' && !buildIsCurrent(root)

const userTest = `
import { expect, it } from 'vitest'
import { expectNoRewardRegression, type NoRegressionOptions } from 'drift-grpo/vitest'

const evaluation: string = ${JSON.stringify(fixture)}
const options: NoRegressionOptions = { trained: evaluation, failOn: ['total', 'accuracy'] }

it('passes, and gives the verdict', async () => {
  const { verdict, tests } = await expectNoRewardRegression(options)
  expect(verdict).toBe('pass')
  expect(tests[0]?.name).toBe('total reward')
})
it('fails with the gate’s words', async () => {
  await expect(expectNoRewardRegression({ trained: evaluation + '/nowhere' })).rejects.toThrow('no finished evaluation')
})
it('has types', () => {
  // @ts-expect-error a directory is a text
  void ({ trained: 5 } satisfies NoRegressionOptions)
})
`

describe.skipIf(notBuilt)(
  'the packed package, where somebody installed it (skipped where dist/ is not current)',
  () => {
    const user = temporaryDirectory()
    const modules = join(user, 'node_modules')
    const run = (program: string, ...args: string[]) =>
      spawnSync(process.execPath, [join(modules, program), ...args], { cwd: user, encoding: 'utf8' })

    beforeAll(() => {
      const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', user]
      const [{ filename }] = JSON.parse(execFileSync('npm', pack, { cwd: root, encoding: 'utf8' })) as [
        { filename: string },
      ]
      // What an installation does, without a registry: the package unpacked, everything else from here.
      mkdirSync(join(modules, 'drift-grpo'), { recursive: true })
      const unpack = ['-xzf', join(user, filename), '--strip-components=1', '-C', join(modules, 'drift-grpo')]
      execFileSync('tar', unpack)
      for (const name of readdirSync(join(root, 'node_modules'))) {
        if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(modules, name))
      }
      writeFileSync(join(user, 'package.json'), '{"type": "module", "private": true}')
      writeFileSync(join(user, 'gate.test.ts'), userTest)
    })

    it('gives a test the gate under drift-grpo/vitest', () => {
      const { status, stdout, stderr } = run('vitest/vitest.mjs', 'run')
      expect({ status, output: status === 0 ? '' : stdout + stderr }).toStrictEqual({ status: 0, output: '' })
      expect(stdout).toContain('3 passed')
    })

    it('gives it types', () => {
      const options = [
        '--noEmit',
        '--strict',
        '--skipLibCheck',
        '--module',
        'nodenext',
        '--target',
        'es2023',
        '--types',
        'node',
      ]
      const { status, stdout } = run('typescript/bin/tsc', ...options, 'gate.test.ts')
      expect({ status, stdout }).toStrictEqual({ status: 0, stdout: '' })
    })

    it('has programs that run', () => {
      const { status, stdout } = run('drift-grpo/dist/scripts/cli.js', 'regress', '--trained', fixture, '--json')
      expect(status).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ verdict: 'pass' })
    })

    it('lets nothing else be imported: what is inside may change', () => {
      const { status, stderr } = spawnSync(
        process.execPath,
        ['--input-type=module', '-e', "await import('drift-grpo/dist/trainer/evaluation/load.js')"],
        { cwd: user, encoding: 'utf8' },
      )
      expect(status).toBe(1)
      expect(stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
    })
  },
)
