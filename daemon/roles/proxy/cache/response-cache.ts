// A cache of responses: evicts the least recently used when the bytes run out, and expired ones.

export type CachedResponse = {
  readonly status: number
  /** Alternating names and values, cleaned for the caller. */
  readonly headers: readonly string[]
  /** The body in its own buffer, not a view of a larger one, so that the budget counts all retained bytes. */
  readonly body: Uint8Array
}

export interface ResponseCache {
  /** The response with an Age header: the age on arrival plus the time since (RFC 9111 section 5.1). */
  get(key: string, now: number): CachedResponse | undefined
  /**
   * Stores a response. False when it exceeds the size of an entry; an older response under the key is removed then as
   * well.
   */
  put(key: string, response: CachedResponse, life_ms: number, now: number): boolean
  clear(): void
  readonly entries: number
  /** Bytes of keys, headers and bodies, plus overhead; never above the budget. */
  readonly bytes: number
  /** Largest body worth collecting. */
  readonly largest_body_bytes: number
}

/** Overhead of an entry besides its bytes: objects, and its slot in the map. */
const entry_overhead_bytes = 512

/** Creates a cache; with `max_bytes` 0 it stores nothing. `now` is in milliseconds of any clock. */
export function responseCache(max_bytes: number): ResponseCache {
  type Entry = CachedResponse & { readonly bytes: number; readonly born: number; readonly until: number }
  /** In the order of use, the least recently used first. */
  const entries = new Map<string, Entry>()
  let bytes = 0
  // One response must not evict all others.
  const largest = Math.floor(max_bytes / 4)

  const drop = (key: string, entry: Entry) => {
    entries.delete(key)
    bytes -= entry.bytes
  }

  return {
    largest_body_bytes: Math.max(0, largest - entry_overhead_bytes),
    get entries() {
      return entries.size
    },
    get bytes() {
      return bytes
    },
    get(key, now) {
      const entry = entries.get(key)
      if (!entry) return undefined
      if (now >= entry.until) {
        drop(key, entry)
        return undefined
      }
      entries.delete(key)
      entries.set(key, entry)
      const { status, headers, body, born } = entry
      return { status, headers: [...headers, 'age', String(Math.floor((now - born) / 1_000))], body }
    },
    put(key, response, life_ms, now) {
      const before = entries.get(key)
      if (before) drop(key, before)
      const size = entry_overhead_bytes + 2 * key.length + response.body.byteLength + sumLengths(response.headers)
      if (size > largest || life_ms <= 0) return false
      for (const [oldest, entry] of entries) {
        if (bytes + size <= max_bytes) break
        drop(oldest, entry)
      }
      const isAge = (_: string, at: number) => response.headers[at - (at % 2)] === 'age'
      const headers = response.headers.filter((text, at) => !isAge(text, at))
      const born = now - 1_000 * (Number(response.headers.filter(isAge)[1]) || 0)
      entries.set(key, { ...response, headers, bytes: size, born, until: now + life_ms })
      bytes += size
      return true
    },
    clear() {
      entries.clear()
      bytes = 0
    },
  }
}

function sumLengths(headers: readonly string[]): number {
  return headers.reduce((sum, text) => sum + text.length, 0)
}
