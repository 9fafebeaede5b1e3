import type { Config } from '../../configs/schema.ts'
import { findDims } from '../../trainer/memory/find-dims.ts'
import { findGpus, type Gpu } from '../../trainer/memory/gpu.ts'
import type { ModelDims } from '../../trainer/memory/model-dims.ts'
import { needsGpu, planMemory, type MemoryPlan } from '../../trainer/memory/plan.ts'
import { findModel } from '../../trainer/services.ts'
import { table } from '../table.ts'

/** Sizes of the policy's model; null where nothing here tells. */
export const policyDims = (config: Config, cwd: string): Promise<ModelDims | null> => dimsOf(config.model.path, cwd)

/** A model that is neither a directory nor a hub name is refused elsewhere, with its key. */
const dimsOf = async (name: string, cwd: string): Promise<ModelDims | null> => {
  const found = findModel(name, cwd)
  return await findDims({ directory: found.kind === 'directory' ? found.location : null, name })
}

const judgeDims = async ({ judge }: Config, cwd: string): Promise<ModelDims | null> =>
  judge.kind === 'llm' && judge.server !== null ? await dimsOf(judge.server.path, cwd) : null

/** Only a GPU that a config may use is looked for: asking the driver takes a second. */
const askForGpus = ({ worker }: Config): boolean => worker.kind === 'spawn' && worker.device !== 'cpu'

/** The memory plan of a config on this machine; null when it uses no GPU. */
export const gatherMemoryPlan = async (
  config: Config,
  cwd: string,
  look: () => Promise<readonly Gpu[]> = findGpus,
): Promise<MemoryPlan | null> => {
  const [gpu = null] = needsGpu(config) || askForGpus(config) ? await look() : []
  const [policy, judge] = await Promise.all([policyDims(config, cwd), judgeDims(config, cwd)])
  return planMemory(config, { gpu, policy, judge })
}

const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(1)

const partsText = (needs: Readonly<Record<string, number>> | null): string =>
  needs === null
    ? 'not known: the model’s config.json is not at hand'
    : Object.entries(needs)
        .map(([name, size]) => `${name} ${gib(size)}`)
        .join(', ')

/** The memory plan as a table, in GiB. */
export const renderMemoryPlan = (plan: MemoryPlan): string => {
  const { gpu, reserve, shares } = plan
  const rows = shares.map(({ process, fraction, limit, needs, sequences }) => [
    process,
    fraction.toFixed(2),
    gib(limit),
    needs === null ? '?' : gib(Object.values(needs).reduce((a, b) => a + b, 0)),
    sequences === null ? '-' : String(sequences),
    partsText(needs),
  ])
  const rest = 1 - shares.reduce((sum, { fraction }) => sum + fraction, 0)
  const header = ['GPU memory', 'fraction', 'GiB', 'needs', 'sequences', 'of which, in GiB']
  return [
    `GPU           ${gpu.name}, ${gib(gpu.bytes)} GiB${gpu.found ? '' : ' (no GPU was found here)'}`,
    table(header, [
      ...rows,
      ['left over', rest.toFixed(2), gib(rest * gpu.bytes), '', '', `the reserve ${reserve.toFixed(2)} is kept of it`],
    ]),
    ...plan.problems.map((text) => `does not fit: ${text}`),
    ...plan.warnings.map((text) => `warning: ${text}`),
  ].join('\n')
}
