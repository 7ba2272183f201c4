// The client of one upstream: a bounded pool of kept connections, a queue of requests, and streamed responses.
import type { OnReadOpts, Socket } from 'node:net'
import type {
  ActiveRequest,
  ResponseSink,
  Upstream,
  UpstreamFailure,
  UpstreamRequest,
} from '../../../daemon/kernel/forward/upstream.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { type AddressResolver, systemResolver } from '../../platform/address-rule/checked-lookup.ts'
import type { CoarseClock } from './coarse-clock.ts'
import { dial, type UpstreamOrigin } from './dial.ts'
import type { UpstreamLimits } from './limits.ts'
import { findRequestFault } from './request-text.ts'
import { UpstreamConnection, type UpstreamConnectionOwner } from './upstream-connection.ts'
import { UpstreamTransaction } from './upstream-transaction.ts'

export type UpstreamOptions = {
  readonly origin: UpstreamOrigin
  readonly rule: AddressRule
  readonly limits: UpstreamLimits
  readonly clock: CoarseClock
  readonly resolve?: AddressResolver
}

export function upstream(options: UpstreamOptions): Upstream {
  const pool = new UpstreamConnectionPool(options)
  return {
    forward: (request, sink) => pool.forward(request, sink),
    counts: () => pool.counts(),
    close: () => pool.close(),
  }
}

class UpstreamConnectionPool implements UpstreamConnectionOwner {
  readonly limits: UpstreamLimits
  readonly clock: CoarseClock
  readonly #options: UpstreamOptions
  readonly #all = new Set<UpstreamConnection>()
  /** The connection that became free last is used first, so that the others expire. */
  readonly #idle: UpstreamConnection[] = []
  /** Free since this turn of the loop. Surplus bytes that have already arrived are read before the next turn. */
  #released: UpstreamConnection[] = []
  #waiting: UpstreamTransaction[] = []
  #isClosed = false
  readonly #stopTicks: () => void

  constructor(options: UpstreamOptions) {
    this.#options = options
    this.limits = options.limits
    this.clock = options.clock
    this.#stopTicks = options.clock.onTick(() => this.#sweep())
  }

  forward(request: UpstreamRequest, sink: ResponseSink): ActiveRequest {
    const transaction = new UpstreamTransaction(request, sink, this.clock)
    const fault = findRequestFault(request)
    if (fault) {
      failLater(transaction, 'request', fault)
      return transaction
    }
    const idle = this.#idle.pop()
    if (idle) idle.carry(transaction)
    else if (this.#all.size < this.limits.connections) this.#open(transaction)
    else this.#wait(transaction)
    return transaction
  }

  counts() {
    return {
      connections: this.#all.size,
      idle: this.#idle.length + this.#released.length,
      waiting: this.#waiting.length,
    }
  }

  close(): void {
    this.#isClosed = true
    for (const connection of this.#idle.splice(0)) connection.close()
    if (this.#all.size === 0) this.#stopTicks()
  }

  dial(onread: OnReadOpts): Socket {
    const { origin, rule, resolve = systemResolver } = this.#options
    return dial(origin, rule, resolve, onread)
  }

  release(connection: UpstreamConnection): void {
    if (this.#released.length === 0) setImmediate(() => this.#reassignReleased())
    this.#released.push(connection)
  }

  remove(connection: UpstreamConnection, again: UpstreamTransaction | undefined): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    const next = again ?? this.#nextWaiting()
    if (again) again.isRetry = true
    if (next) this.#open(next)
    if (this.#isClosed && this.#all.size === 0) this.#stopTicks()
  }

  #open(transaction: UpstreamTransaction): void {
    this.#all.add(new UpstreamConnection(this, transaction))
  }

  #wait(transaction: UpstreamTransaction): void {
    if (this.#waiting.length < this.limits.waiting) {
      transaction.wait_deadline = this.clock.now() + this.limits.waiting_ms
      this.#waiting.push(transaction)
    } else failLater(transaction, 'busy', no_connection)
  }

  #nextWaiting(): UpstreamTransaction | undefined {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) if (!next.isAborted) return next
    return undefined
  }

  #reassignReleased(): void {
    const rested = this.#released
    this.#released = []
    for (const connection of rested) {
      if (connection.isGone) continue
      const next = this.#nextWaiting()
      if (next) connection.carry(next)
      else if (this.#isClosed) connection.close()
      else this.#idle.push(connection)
    }
  }

  #sweep(): void {
    const now = this.clock.now()
    for (const connection of this.#all) connection.sweep(now)
    const late = this.#waiting.filter(({ wait_deadline, isAborted }) => !isAborted && wait_deadline <= now)
    this.#waiting = this.#waiting.filter(({ wait_deadline, isAborted }) => !isAborted && wait_deadline > now)
    for (const { sink } of late) sink.fail('busy', no_connection)
  }
}

const no_connection = 'all connections to the upstream are in use'

/** The sink is not called before the caller has the active request. */
function failLater(transaction: UpstreamTransaction, failure: UpstreamFailure, detail: string): void {
  queueMicrotask(() => {
    if (!transaction.isAborted) transaction.sink.fail(failure, detail)
  })
}
