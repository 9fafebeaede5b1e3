import type { Check } from './check.ts'
import { clockCheck } from './checks/clock.ts'
import { componentsCheck } from './checks/components.ts'
import { diskCheck } from './checks/disk.ts'
import { gpuMemoryCheck } from './checks/gpu-memory.ts'
import { gpuCheck } from './checks/gpu.ts'
import { hubCheck } from './checks/hub.ts'
import { hubTokenCheck } from './checks/hub-token.ts'
import { judgeCheck } from './checks/judge.ts'
import { leftBehindCheck } from './checks/left-behind.ts'
import { memoryCheck } from './checks/memory.ts'
import { modelCheck } from './checks/model.ts'
import { nodeCheck } from './checks/node.ts'
import { packagesCheck } from './checks/packages.ts'
import { poolCheck } from './checks/pool.ts'
import { portsCheck } from './checks/ports.ts'
import { pythonCheck } from './checks/python.ts'
import { samplerCheck } from './checks/sampler.ts'
import { vllmProgramCheck } from './checks/vllm-program.ts'
import { workerCheck } from './checks/worker.ts'
import { writeAccessCheck } from './checks/write-access.ts'

/** All checks, in the order of the table. */
export const checks: readonly Check[] = [
  nodeCheck,
  pythonCheck,
  packagesCheck,
  leftBehindCheck,
  gpuCheck,
  gpuMemoryCheck,
  memoryCheck,
  diskCheck,
  writeAccessCheck,
  portsCheck,
  clockCheck,
  modelCheck,
  hubCheck,
  hubTokenCheck,
  poolCheck,
  vllmProgramCheck,
  samplerCheck,
  workerCheck,
  judgeCheck,
  componentsCheck,
]
