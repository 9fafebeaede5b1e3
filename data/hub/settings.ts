import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** How the hub is reached, from the variables that all its clients share. */
export interface HubSettings {
  readonly url: string
  /** Never part of a message or a log. */
  readonly token: string | null
  /** Shared with the Python libraries: what one has fetched, the other finds. */
  readonly cacheDir: string
  /** Nothing is asked of the hub; what is not cached is missing. */
  readonly offline: boolean
}

type Variables = Readonly<Record<string, string | undefined>>

/** A variable that is set to nothing is not set. */
const read = (env: Variables, ...names: readonly string[]): string | undefined =>
  names.map((name) => env[name]?.trim()).find((value) => value !== undefined && value !== '')

/** The Python libraries understand `~` in these, too. */
const readPath = (env: Variables, ...names: readonly string[]): string | undefined =>
  read(env, ...names)?.replace(/^~(?=\/|$)/, homedir())

const truths = new Set(['1', 'true', 'yes', 'on'])

const readToken = (env: Variables, home: string): string | null => {
  const given = read(env, 'HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN')
  if (given !== undefined) return given
  try {
    // Where `hf auth login` leaves it.
    return readFileSync(readPath(env, 'HF_TOKEN_PATH') ?? join(home, 'token'), 'utf8').trim() || null
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

/** Reads HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HOME, HF_HUB_CACHE, XDG_CACHE_HOME and HF_HUB_OFFLINE. */
export const hubSettings = (env: Variables = process.env): HubSettings => {
  const caches = readPath(env, 'XDG_CACHE_HOME') ?? join(homedir(), '.cache')
  const home = readPath(env, 'HF_HOME') ?? join(caches, 'huggingface')
  return {
    url: (read(env, 'HF_ENDPOINT') ?? 'https://huggingface.co').replace(/\/+$/, ''),
    token: readToken(env, home),
    cacheDir: readPath(env, 'HF_HUB_CACHE', 'HUGGINGFACE_HUB_CACHE') ?? join(home, 'hub'),
    offline: truths.has((read(env, 'HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE') ?? '').toLowerCase()),
  }
}
