// Caches the provider's keys: fetches them when they are stale or a token names a new one, with a minimum interval.
import { hash } from 'node:crypto'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'

export type KeyCacheOptions<K> = {
  /** Throws when the provider gives no usable response. */
  readonly fetchKeys: () => Promise<readonly K[]>
  /** Age after which keys are fetched again, while the old ones are used. */
  readonly refresh_ms: number
  /** Age after which keys that could not be fetched again are not used. */
  readonly max_age_ms: number
  /** Between the end of one fetch and the next. */
  readonly min_interval_ms: number
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
  /** Called after each fetch, with the keys or the error. */
  readonly onFetched?: (what: { readonly keys: readonly K[] } | { readonly failed: string }) => void
}

export interface KeyCache<K> {
  /**
   * The key of this name; undefined when the provider has none. Throws `Refusal('unavailable')` when that is not
   * known: the provider is unreachable, or the minimum interval has not passed.
   */
  find(kid: string): Promise<K | undefined>
  /** Changes whenever the keys do, and when they become too old to use. */
  stamp(): string
  /** Whether tokens can be verified now. Fetches stale keys as a token would, so that an idle site stays healthy. */
  health(): { readonly ok: boolean; readonly detail: string }
}

type NamedKey = { readonly kid: string; readonly fingerprint: string }

export function keyCache<K extends NamedKey>(options: KeyCacheOptions<K>): KeyCache<K> {
  const { refresh_ms, max_age_ms, min_interval_ms, monotonic, onFetched } = options
  let held: { readonly keys: ReadonlyMap<string, K>; readonly stamp: string; readonly at: number } | undefined
  let lastEnd = Number.NEGATIVE_INFINITY
  let pendingFetch: Promise<boolean> | undefined

  const fetchNow = async (): Promise<boolean> => {
    // The age counts from the request, since the keys may have changed while the response was on its way.
    const at = monotonic()
    try {
      const keys = await options.fetchKeys()
      held = { keys: new Map(keys.map((key) => [key.kid, key])), stamp: computeStamp(keys), at }
      onFetched?.({ keys })
      return true
    } catch (error) {
      onFetched?.({ failed: error instanceof Error ? error.message : String(error) })
      return false
    }
  }
  const fly = (): Promise<boolean> => {
    pendingFetch ??= fetchNow().finally(() => {
      lastEnd = monotonic()
      pendingFetch = undefined
    })
    return pendingFetch
  }
  const waitLeft_ms = () => lastEnd + min_interval_ms - monotonic()
  const usable = () => {
    if (!held) return undefined
    const age = monotonic() - held.at
    if (age >= refresh_ms && waitLeft_ms() <= 0) void fly()
    return age < max_age_ms ? held : undefined
  }
  return {
    async find(kid) {
      const older = pendingFetch
      let known = usable()?.keys.get(kid)
      if (!known && older) {
        // The fetch may have begun before the key existed: a missing key proves nothing.
        await older
        known = usable()?.keys.get(kid)
      }
      if (known) return known
      if (!pendingFetch && waitLeft_ms() > 0) throw keysUnavailable(waitLeft_ms())
      if (!(await fly())) throw keysUnavailable(min_interval_ms)
      return held?.keys.get(kid)
    },
    stamp: () => usable()?.stamp ?? 'none',
    health() {
      if (lastEnd === Number.NEGATIVE_INFINITY) return { ok: true, detail: 'no keys requested yet' }
      const ok = usable() !== undefined
      const age = held && Math.round((monotonic() - held.at) / 1_000)
      return { ok, detail: age === undefined ? 'out of reach' : `keys of ${age} s ago` }
    },
  }
}

function computeStamp(keys: readonly NamedKey[]): string {
  const names = keys.map(({ kid, fingerprint }) => JSON.stringify([kid, fingerprint])).sort()
  return hash('sha256', names.join(), 'base64url')
}

function keysUnavailable(wait_ms: number): Refusal {
  return new Refusal('unavailable', 'the identity provider’s keys are not available', [], Math.ceil(wait_ms / 1_000))
}
