import { fail, ok, type Check } from '../check.ts'

const oldest = [20, 19] as const

export const nodeCheck: Check = {
  name: 'node',
  beforeTraining: false,
  run: async ({ nodeVersion }) => {
    const [major = 0, minor = 0] = nodeVersion.replace(/^v/, '').split('.').map(Number)
    const isNew = major > oldest[0] || (major === oldest[0] && minor >= oldest[1])
    return isNew
      ? ok(`Node ${nodeVersion}`)
      : fail(`Node ${nodeVersion} is too old`, `Install Node ${oldest.join('.')} or newer.`)
  },
}
