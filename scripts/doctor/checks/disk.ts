import { resolve } from 'node:path'
import { fail, ok, skip, type Check } from '../check.ts'
import { bytes } from '../../plan/render.ts'

export const diskCheck: Check = {
  name: 'disk',
  beforeTraining: true,
  run: async ({ config, cwd, plan, freeDisk }) => {
    const directory = resolve(cwd, config.run.dir)
    const free = await freeDisk(directory)
    const { disk } = await plan()
    if (disk === null) return skip(`${bytes(free)} free; what the run takes is not known`)
    const needed = disk.adapters + disk.checkpoints + disk.records
    return free >= needed
      ? ok(`${bytes(free)} free at ${directory}, at most ${bytes(needed)} needed`)
      : fail(
          `${bytes(free)} free at ${directory}, up to ${bytes(needed)} needed`,
          'Free space, set run.dir to another disk, or make checkpoints less often (run.checkpointEvery).',
        )
  },
}
