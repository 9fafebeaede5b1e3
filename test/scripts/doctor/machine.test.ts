import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clockCheck } from '../../../scripts/doctor/checks/clock.ts'
import { diskCheck } from '../../../scripts/doctor/checks/disk.ts'
import { gpuMemoryCheck } from '../../../scripts/doctor/checks/gpu-memory.ts'
import { gpuCheck } from '../../../scripts/doctor/checks/gpu.ts'
import { memoryCheck } from '../../../scripts/doctor/checks/memory.ts'
import { nodeCheck } from '../../../scripts/doctor/checks/node.ts'
import { packagesCheck, requiredPackages } from '../../../scripts/doctor/checks/packages.ts'
import { portsCheck } from '../../../scripts/doctor/checks/ports.ts'
import { pythonCheck } from '../../../scripts/doctor/checks/python.ts'
import { writeAccessCheck } from '../../../scripts/doctor/checks/write-access.ts'
import { gatherMemoryPlan } from '../../../scripts/plan/memory.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'
import { contextWith, find } from './context.ts'

const failed = (detail: RegExp, remedy: RegExp) => ({
  state: 'fail',
  detail: expect.stringMatching(detail) as unknown,
  remedy: expect.stringMatching(remedy) as unknown,
})
const reference = 'granite-2b.yaml'
const gibi = 2 ** 30
const a100 = (free: number) => ({ name: 'A100', totalBytes: 79 * gibi, freeBytes: free * gibi })

describe('the check of', () => {
  it('Node asks for 20.19', async () => {
    expect(await find(nodeCheck, [], { nodeVersion: 'v20.18.3' })).toEqual(failed(/too old/, /20\.19/))
    expect(await find(nodeCheck, [], { nodeVersion: 'v22.1.0' })).toMatchObject({ state: 'ok' })
  })

  it('Python names an interpreter that is not there', async () => {
    expect(await find(pythonCheck, ['worker.python=/nowhere/python'])).toEqual(
      failed(/not found at \/nowhere\/python/, /worker\.python/),
    )
  })

  it('the Python packages names those that are missing', async () => {
    const python = join(temporaryDirectory(), 'python')
    // Plays an interpreter without any package.
    writeFileSync(
      python,
      '#!/bin/sh\nshift 2\nprintf "{"\nfor n; do printf "\\"%s\\": null," "$n"; done\nprintf "\\"x\\": null}"\n',
      { mode: 0o755 },
    )
    expect(await find(packagesCheck, [`worker.python=${python}`])).toEqual(
      failed(/missing: fastapi, .*torch|missing: torch/, /setup/),
    )
    expect(requiredPackages('torch==2.1.0\n# Needed by those\nclick==8.0.0\n')).toEqual(new Map([['torch', '2.1.0']]))
  })

  it('the GPU fails only where the config needs one', async () => {
    expect(await find(gpuCheck, [], { gpus: async () => [] }, reference)).toEqual(failed(/no NVIDIA GPU/, /tiny\.yaml/))
    expect(await find(gpuCheck, [], { gpus: async () => [] })).toMatchObject({ state: 'skip' })
    expect(await find(gpuCheck, [], { gpus: async () => [a100(79)] }, reference)).toMatchObject({ state: 'ok' })
  })

  it('GPU memory fails for a plan that does not fit, and for a GPU that is in use', async () => {
    const check = async (free: number, ...sets: string[]) => {
      const gpus = async () => [a100(free)]
      const { config, cwd } = await contextWith(sets, {}, reference)
      return await find(
        gpuMemoryCheck,
        sets,
        { gpus, memoryPlan: () => gatherMemoryPlan(config, cwd, gpus) },
        reference,
      )
    }
    expect(await check(79, 'gpu.memoryGiB=24')).toEqual(failed(/does not fit: the judge server needs/, /fractions/))
    expect(await check(40)).toEqual(failed(/40\.0 GiB of A100 are free, and the processes take up to 73/, /nvidia-smi/))
    expect((await check(79)).state).toBe('warn')
  })

  it('main memory compares what is free with what weights, adapter and cache take', async () => {
    expect(await find(memoryCheck, [], { freeMemory: () => 100e6 })).toEqual(
      failed(/0\.1 GB free, about 0\.\d GB/, /smaller/),
    )
    expect(await find(memoryCheck, [], { freeMemory: () => 16e9 })).toMatchObject({ state: 'ok' })
  })

  it('the disk compares what is free with what the run may write', async () => {
    expect(await find(diskCheck, [], { freeDisk: async () => 1e6 })).toEqual(
      failed(/1\.0 MB free .* needed/, /run\.dir/),
    )
    expect(await find(diskCheck)).toMatchObject({ state: 'ok' })
  })

  it('write access names the directory that cannot be made, and leaves nothing behind where it can', async () => {
    const file = join(temporaryDirectory(), 'file')
    writeFileSync(file, '')
    expect(await find(writeAccessCheck, [`run.dir=${file}/runs`])).toEqual(
      failed(/file\/runs cannot be written/, /run\.dir/),
    )
    expect(await find(writeAccessCheck)).toMatchObject({ state: 'ok' })
  })

  it('ports names the judge server’s port when it is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const sets = [`judge.baseUrl=http://127.0.0.1:${port}/v1`]
    expect(await find(portsCheck, sets, {}, reference)).toEqual(failed(new RegExp(`port ${port}`), /judge\.baseUrl/))
    server.close()
    await once(server, 'close')
    expect(await find(portsCheck, sets, {}, reference)).toMatchObject({ state: 'ok' })
  })

  it('the clock fails when files here are newer than now', async () => {
    const cwd = temporaryDirectory()
    mkdirSync(join(cwd, 'runs', 'a'), { recursive: true })
    const past = () => new Date('2020-01-01T00:00:00Z')
    expect(await find(clockCheck, [], { cwd, now: past })).toEqual(failed(/2020-01-01/, /Set the clock/))
    expect(await find(clockCheck, [], { cwd })).toMatchObject({ state: 'ok' })
  })
})
