// Answers that are kept for a while: least recently used go first when the bytes run out, and none outlives its time.

export type Kept = {
  readonly status: number
  /** Flat, cleaned for the caller. */
  readonly headers: readonly string[]
  readonly body: Uint8Array
}

export type Found = Kept & { /** Whole seconds since it was put, for the Age header. */ readonly age_s: number }

export interface ResponseCache {
  get(key: string, now: number): Found | undefined
  /** False when it is larger than one entry may be; then whatever had the key is gone too. */
  put(key: string, kept: Kept, life_ms: number, now: number): boolean
  clear(): void
  readonly entries: number
  /** Of keys, headers and bodies, with what an entry costs besides: never above the budget. */
  readonly bytes: number
  /** Largest body worth collecting. */
  readonly largest_body_bytes: number
}

/** `now` is in milliseconds and need not be a date. */
export function responseCache(max_bytes: number): ResponseCache {
  throw new Error(`not yet ${max_bytes}`)
}
