// Answers that are kept for a while: least recently used go first when the bytes run out, and none outlives its time.

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

/** `max_bytes` 0 keeps nothing. `now` is in milliseconds and need not be a date. */
export function responseCache(max_bytes: number): ResponseCache {
  type Entry = CachedResponse & { readonly bytes: number; readonly born: number; readonly until: number }
  /** In the order of use: the first is the one not used for longest. */
  const entries = new Map<string, Entry>()
  let bytes = 0
  // One answer shall not push out all others.
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
    put(key, kept, life_ms, now) {
      const before = entries.get(key)
      if (before) drop(key, before)
      const size = entry_overhead_bytes + 2 * key.length + kept.body.byteLength + sumLengths(kept.headers)
      if (size > largest || life_ms <= 0) return false
      for (const [oldest, entry] of entries) {
        if (bytes + size <= max_bytes) break
        drop(oldest, entry)
      }
      const isAge = (_: string, at: number) => kept.headers[at - (at % 2)] === 'age'
      const headers = kept.headers.filter((text, at) => !isAge(text, at))
      const born = now - 1_000 * (Number(kept.headers.filter(isAge)[1]) || 0)
      entries.set(key, { ...kept, headers, bytes: size, born, until: now + life_ms })
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
