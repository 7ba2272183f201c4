// The provider's keys, held: fetched when they grow old or a new one is named, and never more often than is decent.
import { hash } from 'node:crypto'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'

export type KeyCacheOptions<K> = {
  /** Throws when the provider cannot be reached or understood. */
  readonly fetchKeys: () => Promise<readonly K[]>
  /** Beyond it keys are fetched anew, while the old ones serve. */
  readonly refresh_ms: number
  /** Beyond it keys that could not be fetched anew serve no more. */
  readonly max_age_ms: number
  /** Between the end of one fetch and the next. */
  readonly min_interval_ms: number
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
  /** What came of a fetch: the keys, or why there are none. */
  readonly onFetched?: (what: { readonly keys: readonly K[] } | { readonly failed: string }) => void
}

export interface KeyCache<K> {
  /**
   * The key of this name; undefined when the provider has none. Throws `Refusal('unavailable')` when that cannot be
   * known now: the provider is out of reach, or was asked a moment ago.
   */
  find(kid: string): Promise<K | undefined>
  /** Changes whenever the keys do, and when they are too old to count. */
  stamp(): string
  /** Whether tokens can be judged by what is known now. Old keys are fetched anew as by a token, so that idle sites stay well. */
  health(): { readonly ok: boolean; readonly detail: string }
}

type NamedKey = { readonly kid: string; readonly fingerprint: string }

export function keyCache<K extends NamedKey>(options: KeyCacheOptions<K>): KeyCache<K> {
  const { refresh_ms, max_age_ms, min_interval_ms, monotonic, onFetched } = options
  let held: { readonly keys: ReadonlyMap<string, K>; readonly stamp: string; readonly at: number } | undefined
  let lastEnd = Number.NEGATIVE_INFINITY
  let flight: Promise<boolean> | undefined

  const fetchNow = async (): Promise<boolean> => {
    // Of the question, not of the answer: what changed in between is not in it.
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
    flight ??= fetchNow().finally(() => {
      lastEnd = monotonic()
      flight = undefined
    })
    return flight
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
      const older = flight
      let known = usable()?.keys.get(kid)
      if (!known && older) {
        // It may have asked before there was such a key: that it does not bring it is no proof.
        await older
        known = usable()?.keys.get(kid)
      }
      if (known) return known
      if (!flight && waitLeft_ms() > 0) throw keysUnavailable(waitLeft_ms())
      if (!(await fly())) throw keysUnavailable(min_interval_ms)
      return held?.keys.get(kid)
    },
    stamp: () => usable()?.stamp ?? 'none',
    health() {
      if (lastEnd === Number.NEGATIVE_INFINITY) return { ok: true, detail: 'not asked yet' }
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
  return new Refusal('unavailable', 'the identity provider’s keys are not at hand', [], Math.ceil(wait_ms / 1_000))
}
