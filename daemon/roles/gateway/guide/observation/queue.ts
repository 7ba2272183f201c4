// The queue of observations in this process: bounded in number and bytes, with exact counts of what it took and dropped.
import type { Label } from '../../../../kernel/label/label.ts'
import type { Emitter } from './model.ts'
import type { PendingObservation } from './rules.ts'

/** An envelope as it came over HTTP, cut to size: it is checked when its turn comes. */
export type ReceivedEnvelope = {
  readonly raw: unknown
  readonly tenant_id: string
  readonly label: Label
  readonly emitter: Emitter
  /** That of the request. */
  readonly trace_id: string
  readonly accepted_ts: number
}

export type QueueEntry =
  | {
      readonly kind: 'observation'
      readonly observation: PendingObservation
      /** Set for the first event of a trace that began in this process, at this time: nobody knew the trace before. */
      readonly begun_ts?: number
    }
  | { readonly kind: 'envelope'; readonly envelope: ReceivedEnvelope }

export type EntryOffer = {
  readonly entry: QueueEntry
  /** As metrics name it. */
  readonly service: string
  readonly bytes: number
  readonly now: number
}

/** Of all entries together: the bound of their number alone would allow a gigabyte. */
export const max_queue_bytes = 134_217_728

type ServiceCounts = { accepted: number; dropped: number }

export class ObservationQueue {
  readonly #max_entries: number
  readonly #entries: EntryOffer[] = []
  #head = 0
  #bytes = 0
  readonly counts = new Map<string, ServiceCounts>()
  /** By service: when the newest one was accepted, and when the newest one was stored. */
  readonly last_ingest = new Map<string, number>()
  readonly last_drain = new Map<string, number>()

  constructor(max_entries: number) {
    this.#max_entries = max_entries
  }

  get depth(): number {
    return this.#entries.length - this.#head
  }

  get bytes(): number {
    return this.#bytes
  }

  /** False: the queue is full, and the entry is dropped and counted. */
  offer(offered: EntryOffer): boolean {
    const counts = this.counts.get(offered.service) ?? { accepted: 0, dropped: 0 }
    this.counts.set(offered.service, counts)
    if (this.depth >= this.#max_entries || this.#bytes + offered.bytes > max_queue_bytes) {
      counts.dropped += 1
      return false
    }
    counts.accepted += 1
    this.#bytes += offered.bytes
    this.#entries.push(offered)
    this.last_ingest.set(offered.service, offered.now)
    return true
  }

  /** The oldest ones, which leave the queue: together at most so many bytes, but at least one. */
  take(limit: number, max_bytes = Number.POSITIVE_INFINITY): EntryOffer[] {
    let end = this.#head
    let bytes = 0
    for (; end < this.#entries.length && end - this.#head < limit; end += 1) {
      const size = this.#entries[end]?.bytes ?? 0
      if (end > this.#head && bytes + size > max_bytes) break
      bytes += size
    }
    const taken = this.#entries.slice(this.#head, end)
    this.#head = end
    this.#bytes -= bytes
    // An array that is cut at each batch would copy the rest of it each time.
    if (this.#head > 1_024 && this.#head * 2 > this.#entries.length) {
      this.#entries.splice(0, this.#head)
      this.#head = 0
    }
    return taken
  }
}
