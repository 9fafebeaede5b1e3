import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { torchRequirement, wheelOfReport } from '../../../scripts/setup/torch.mjs'
import { describeTorch } from '../../../scripts/setup/venv.mjs'
import { temporaryDirectory } from '../../support/temporary.ts'

const report = (url: string, needs: string[]): string =>
  JSON.stringify({ install: [{ download_info: { url }, metadata: { requires_dist: needs } }] })

const cuda = report('file:///w/torch-2.13.0-cp311-manylinux_2_28_x86_64.whl', [
  'filelock',
  'nvidia-cudnn-cu13==9.1; platform_system == "Linux"',
])

describe('which torch set-up takes', () => {
  it('reads a CPU build from its local version, however the address is written', () => {
    for (const version of ['2.13.0+cpu', '2.13.0%2Bcpu'])
      expect(wheelOfReport(report(`file:///w/torch-${version}-cp311.whl`, ['nvidia-nccl==1']))).toMatchObject({
        cuda: false,
      })
  })

  it('reads a CUDA build from what it needs', () => {
    expect(wheelOfReport(cuda)).toMatchObject({ cuda: true })
    expect(wheelOfReport(report('file:///w/torch-2.13.0-macosx_arm64.whl', ['filelock']))).toMatchObject({
      cuda: false,
    })
  })

  it('knows nothing when pip would install nothing', () => {
    expect(wheelOfReport('{"install": []}')).toBeUndefined()
  })

  it('finds the pinned version among the requirement files', () => {
    const folder = temporaryDirectory()
    const [dev, runtime] = ['dev.txt', 'runtime.txt'].map((name) => join(folder, name)) as [string, string]
    writeFileSync(dev, 'torchvision==1\npytest==9\n')
    writeFileSync(runtime, 'fastapi==1\ntorch == 2.13.0  # the worker\n')
    expect(torchRequirement([dev])).toBeUndefined()
    expect(torchRequirement([dev, runtime])).toBe('torch==2.13.0')
  })

  it('announces the size, and how to avoid a CUDA build that nothing here can use', () => {
    expect(describeTorch({ url: '', cuda: false, bytes: 198_000_000 }, false)).toBe('the CPU build, 198 MB')
    expect(describeTorch({ url: '', cuda: true, bytes: null }, false)).toContain('DRIFT_GRPO_TORCH_INDEX')
    expect(describeTorch({ url: '', cuda: true, bytes: null }, true)).not.toContain('DRIFT_GRPO_TORCH_INDEX')
    expect(describeTorch(undefined, false)).toContain('pip tells below')
  })
})
