import { checkPython, pythonPath } from '../../../trainer/python-check.ts'
import { ok, skip, type Check } from '../check.ts'

export const pythonCheck: Check = {
  name: 'python',
  beforeTraining: true,
  run: async ({ config: { worker } }) => {
    if (worker.kind === 'attach') return skip('the worker runs already')
    const python = pythonPath(worker.python)
    await checkPython(python)
    return ok(python)
  },
}
