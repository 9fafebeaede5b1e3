import { execFileSync } from 'node:child_process'
import { mkdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { temporaryDirectory } from './temporary.ts'

/** A file system of a few pages that can be made smaller, larger and read-only while it is used. */
export interface SmallDisk {
  readonly path: string
  resize(bytes: number): void
  readOnly(on: boolean): void
  usedBytes(): number
  unmount(): void
}

const run = (command: string, ...args: readonly string[]): void => {
  execFileSync(command, args, { stdio: 'pipe' })
}

/** Mounts a tmpfs. Only root may, and not in every container. */
export const mountSmallDisk = (bytes: number): SmallDisk => {
  const path = join(temporaryDirectory(), 'disk')
  mkdirSync(path)
  run('mount', '-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path)
  return {
    path,
    resize: (size) => run('mount', '-o', `remount,size=${size}`, path),
    readOnly: (on) => run('mount', '-o', `remount,${on ? 'ro' : 'rw'}`, path),
    usedBytes: () => {
      const { blocks, bfree, bsize } = statfsSync(path)
      return (blocks - bfree) * bsize
    },
    unmount: () => run('umount', path),
  }
}

/** Can a file system be mounted here? */
export const canMount = (): boolean => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  try {
    mountSmallDisk(1 << 20).unmount()
    return true
  } catch {
    return false
  }
}
