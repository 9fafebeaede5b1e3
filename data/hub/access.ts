import { retryingFetch } from './retry.ts'
import type { HubSettings } from './settings.ts'

/** What every request to the hub is made with. */
export interface HubAccess {
  readonly settings: HubSettings
  readonly signal?: AbortSignal | undefined
  /** Told of each file, of large ones now and then, and of waits. */
  readonly onProgress?: ((text: string) => void) | undefined
}

/** The library's parameters; it takes no signal for most of its requests, and never tries again. */
export const access = ({ settings, signal, onProgress }: HubAccess) => ({
  hubUrl: settings.url,
  fetch: retryingFetch({ signal, say: onProgress }),
  ...(settings.token === null ? {} : { accessToken: settings.token }),
})
