import { LRUCache } from 'lru-cache'
import type { StoredVerdict } from './entry.ts'
import type { VerdictStore } from './store.ts'

export interface Found {
  readonly verdict: StoredVerdict
  readonly tier: 'memory' | 'disk'
}

/** Verdicts in two tiers: the latest used ones in memory, all on disk (where there is a disk tier). */
export class VerdictCache {
  readonly #memory: LRUCache<string, StoredVerdict>
  readonly #store: VerdictStore | null
  readonly #onStoreFailure: (error: Error) => void

  constructor(memoryEntries: number, store: VerdictStore | null, onStoreFailure: (error: Error) => void) {
    this.#memory = new LRUCache({ max: memoryEntries })
    this.#store = store
    this.#onStoreFailure = onStoreFailure
  }

  find(key: string): Found | null {
    const recent = this.#memory.get(key)
    if (recent !== undefined) return { verdict: recent, tier: 'memory' }
    const verdict = this.#store?.get(key) ?? null
    if (verdict === null) return null
    this.#memory.set(key, verdict)
    return { verdict, tier: 'disk' }
  }

  /**
   * Keeps a verdict; resolves, when it is safe on disk, to the one that is kept (another process may have been first). A
   * disk that cannot take it costs a question next time and nothing now.
   */
  async keep(key: string, verdict: StoredVerdict): Promise<StoredVerdict> {
    const kept = await this.#store?.keep(key, verdict).catch((error: unknown) => {
      this.#onStoreFailure(error as Error)
      return verdict
    })
    this.#memory.set(key, kept ?? verdict)
    return kept ?? verdict
  }

  async close(): Promise<void> {
    await this.#store?.close()
  }
}
