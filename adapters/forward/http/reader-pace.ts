// Finds clients that read a response too slowly: it holds a connection to the upstream while it waits.
import { isBelowPace } from '../../platform/http-server/transfer-pace.ts'
import type { InboundLimits } from './limits.ts'

export class ReaderPace {
  readonly #limits: InboundLimits
  /** Since when bytes wait for the client, and how many it had read by then. Undefined while none wait. */
  #waits: { readonly since: number; readonly from: number } | undefined

  constructor(limits: InboundLimits) {
    this.#limits = limits
  }

  /** `isWaiting`: bytes of an incomplete response wait for the client. `read_bytes`: those that it has read so far. */
  isTooSlow(now: number, isWaiting: boolean, read_bytes: number): boolean {
    if (!isWaiting) {
      this.#waits = undefined
      return false
    }
    this.#waits ??= { since: now, from: read_bytes }
    const { answer_rate: bytes_per_s, answer_grace_ms: grace_ms } = this.#limits
    return isBelowPace(read_bytes - this.#waits.from, now - this.#waits.since, { grace_ms, bytes_per_s })
  }
}
