import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** Longest beginning of a file that may name its interpreter: a kernel reads 256 bytes, pip's long form two lines. */
const headBytes = 1024

/** @param {string} file */
function headOf(file) {
  const head = Buffer.alloc(headBytes)
  const handle = openSync(file, 'r')
  try {
    return head.toString('utf8', 0, readSync(handle, head, 0, headBytes, 0))
  } finally {
    closeSync(handle)
  }
}

/** @param {string} path */
const real = (path) => (existsSync(path) ? realpathSync(path) : path)

/**
 * Where a Python environment was made, when that is not where it lies now: its programs start with the absolute path of
 * their interpreter, and after a move they call one that is gone or belongs to another checkout. Undefined: it was not moved.
 * @param {string} venv
 * @returns {string | undefined}
 */
export function madeElsewhere(venv) {
  const pip = join(venv, 'bin', 'pip')
  if (!existsSync(pip)) return undefined
  const interpreter = /(\/[^\s'"]+\/bin\/python[\d.]*)/.exec(headOf(pip))?.[1]
  if (interpreter === undefined) return undefined
  const home = dirname(dirname(interpreter))
  return real(home) === real(venv) ? undefined : home
}

/**
 * Writes the environment's present place into its programs and settings, in place of the one where it was made.
 * @param {string} venv
 * @param {string} home
 */
export function relocate(venv, home) {
  const programs = readdirSync(join(venv, 'bin')).map((name) => join(venv, 'bin', name))
  for (const file of [...programs, join(venv, 'pyvenv.cfg')]) {
    if (!existsSync(file) || !lstatSync(file).isFile()) continue
    // Binaries hold no paths that matter; text is read as bytes, so that nothing else in it changes.
    if (headOf(file).includes('\0')) continue
    const text = readFileSync(file, 'latin1')
    const [from, to] = [home, venv].map((path) => Buffer.from(path).toString('latin1'))
    if (from !== undefined && to !== undefined && text.includes(from))
      writeFileSync(
        file,
        text.replaceAll(from, () => to),
        'latin1',
      )
  }
}
