// Answers that are kept for a while: least recently used go first when the bytes run out, and none outlives its time.
import { LRUCache } from 'lru-cache'

export type CachedResponse = {
  readonly status: number
  /** Flat, cleaned for the caller. */
  readonly headers: readonly string[]
  /** Its own bytes, not a view into a larger buffer: the budget counts what is seen of it. */
  readonly body: Uint8Array
}

export interface ResponseCache {
  /** With an Age header: that of the answer when it came, and the time since (RFC 9111 section 5.1). */
  get(key: string, now: number): CachedResponse | undefined
  /** False when it is larger than one entry may be; then whatever had the key is gone too. */
  put(key: string, kept: CachedResponse, life_ms: number, now: number): boolean
  clear(): void
  readonly entries: number
  /** Of keys, headers and bodies, with what an entry costs besides: never above the budget. */
  readonly bytes: number
  /** Largest body worth collecting. */
  readonly largest_body_bytes: number
}

/** What an entry costs besides its bytes: objects, and its place in the map. */
const entry_overhead_bytes = 512

type CacheEntry = CachedResponse & { readonly born: number; readonly until: number }

/** `max_bytes` 0 keeps nothing. `now` is in milliseconds and need not be a date. */
export function responseCache(max_bytes: number): ResponseCache {
  // One response shall not push out all others.
  const largest = Math.floor(max_bytes / 4)
  const entries = new LRUCache<string, CacheEntry>({ maxSize: Math.max(1, max_bytes) })

  return {
    largest_body_bytes: Math.max(0, largest - entry_overhead_bytes),
    get entries() {
      return entries.size
    },
    get bytes() {
      return entries.calculatedSize
    },
    get(key, now) {
      const entry = entries.get(key)
      if (!entry) return undefined
      if (now >= entry.until) {
        entries.delete(key)
        return undefined
      }
      const { status, headers, body, born } = entry
      return { status, headers: [...headers, 'age', String(Math.floor((now - born) / 1_000))], body }
    },
    put(key, kept, life_ms, now) {
      entries.delete(key)
      const size = entry_overhead_bytes + 2 * key.length + kept.body.byteLength + sumLengths(kept.headers)
      if (size > largest || life_ms <= 0) return false
      const isAge = (_: string, at: number) => kept.headers[at - (at % 2)] === 'age'
      const headers = kept.headers.filter((text, at) => !isAge(text, at))
      const born = now - 1_000 * (Number(kept.headers.filter(isAge)[1]) || 0)
      entries.set(key, { ...kept, headers, born, until: now + life_ms }, { size })
      return true
    },
    clear: () => entries.clear(),
  }
}

function sumLengths(headers: readonly string[]): number {
  return headers.reduce((sum, text) => sum + text.length, 0)
}
