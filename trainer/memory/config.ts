import { z } from 'zod'

/** The GPU that policy, judge and worker share. */
export const GpuSection = z
  .strictObject({
    memoryGiB: z
      .number()
      .positive()
      .nullable()
      .default(null)
      .describe('Its memory; null: as found on this machine, else the reference, one A100 80GB with 79 usable GiB.'),
    reserve: z
      .number()
      .min(0)
      .max(0.5)
      .default(0.05)
      .describe('Share that is given to nobody: CUDA contexts, which count in no process’s own limit.'),
  })
  .prefault({})
export type GpuSection = z.infer<typeof GpuSection>
