import { processStart } from '../lock.ts'

/** Signals a process group that was started here; nothing where it has ended. */
export const killGroup = (pid: number, signal: NodeJS.Signals): void => {
  // Group 0 would be this process's own.
  if (pid <= 0) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * Kills what is left of a group whose leader has ended. The system gives no id away that a group still has: while there is no
 * process of that id, whoever is in the group was in it before.
 */
export const killLeaderless = (pid: number): void => {
  if (processStart(pid) === undefined) killGroup(pid, 'SIGKILL')
}
