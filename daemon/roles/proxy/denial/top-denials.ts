// The most frequent denials, in bounded memory: callers that send ever new paths must not fill it.

import type { ProxyReason } from '../reasons.ts'

/** Kind of a denial: requests of one kind are counted together. */
export type DenialKind = { readonly reason: ProxyReason; readonly method: string; readonly path: string }

/** `at_most_over`: part of the count that may belong to other kinds, whose slot this kind took. */
export type RankedDenial = DenialKind & {
  readonly count: number
  readonly at_most_over: number
  readonly last_at: string
  readonly last_source: string
}

type DenialSlot = { readonly kind: DenialKind; count: number; over: number; last_at: string; last_source: string }

/**
 * Space-Saving (Metwally, Agrawal, El Abbadi: Efficient computation of frequent and top-k elements, ICDT 2005): every
 * kind that makes up more than 1/slots of all is included, and no count is too low.
 */
export class TopDenials {
  readonly #most: number
  readonly #slots = new Map<string, DenialSlot>()
  #total = 0

  constructor(maxSlots: number) {
    this.#most = maxSlots
  }

  /** Number of all counted denials. */
  get total(): number {
    return this.#total
  }

  count({ reason, method, path }: DenialKind, at: string, source: string): void {
    this.#total += 1
    const kind = { reason, method, path }
    const key = JSON.stringify([reason, method, path])
    const slot = this.#slots.get(key)
    if (slot) {
      slot.count += 1
      slot.last_at = at
      slot.last_source = source
      return
    }
    const over = this.#slots.size < this.#most ? 0 : this.#makeRoom()
    this.#slots.set(key, { kind, count: over + 1, over, last_at: at, last_source: source })
  }

  /** The most frequent kinds first; equal counts by path. */
  top(limit: number): RankedDenial[] {
    return [...this.#slots.values()]
      .toSorted((a, b) => b.count - a.count || (a.kind.path < b.kind.path ? -1 : 1))
      .slice(0, limit)
      .map(({ kind, count, over, last_at, last_source }) => ({
        ...kind,
        count,
        at_most_over: over,
        last_at,
        last_source,
      }))
  }

  /** Removes the rarest kind. Returns its count. */
  #makeRoom(): number {
    let rarest: [string, DenialSlot] | undefined
    for (const entry of this.#slots) if (!rarest || entry[1].count < rarest[1].count) rarest = entry
    if (!rarest) return 0
    this.#slots.delete(rarest[0])
    return rarest[1].count
  }
}
