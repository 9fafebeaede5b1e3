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

const isSet = (value: string | undefined): value is string => value !== undefined && value.trim() !== ''
const truths = new Set(['1', 'true', 'yes', 'on'])

const readToken = (env: Variables, home: string): string | null => {
  if (isSet(env['HF_TOKEN'])) return env['HF_TOKEN'].trim()
  try {
    // Where `hf auth login` leaves it.
    return readFileSync(env['HF_TOKEN_PATH'] ?? join(home, 'token'), 'utf8').trim() || null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Reads HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HOME, HF_HUB_CACHE, XDG_CACHE_HOME and HF_HUB_OFFLINE. */
export const hubSettings = (env: Variables = process.env): HubSettings => {
  const caches = env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const home = env['HF_HOME'] ?? join(caches, 'huggingface')
  return {
    url: (isSet(env['HF_ENDPOINT']) ? env['HF_ENDPOINT'] : 'https://huggingface.co').replace(/\/+$/, ''),
    token: readToken(env, home),
    cacheDir: env['HF_HUB_CACHE'] ?? env['HUGGINGFACE_HUB_CACHE'] ?? join(home, 'hub'),
    offline: truths.has((env['HF_HUB_OFFLINE'] ?? '').trim().toLowerCase()),
  }
}
