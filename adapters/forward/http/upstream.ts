// The client of one upstream: connections that are kept and counted, requests that wait their turn, answers that stream.
import type { OnReadOpts, Socket } from 'node:net'
import type { ActiveRequest, ResponseSink, Upstream, UpstreamRequest } from '../../../daemon/kernel/forward/upstream.ts'
import type { AddressRule } from './address-rule.ts'
import type { Clock } from './clock.ts'
import { dial, type Origin, type Resolve, resolveByHost } from './dial.ts'
import type { UpstreamLimits } from './limits.ts'
import { type Home, UpstreamConnection } from './upstream-connection.ts'
import { UpstreamFlight } from './upstream-flight.ts'

export type UpstreamOptions = {
  readonly origin: Origin
  readonly rule: AddressRule
  readonly limits: UpstreamLimits
  readonly clock: Clock
  readonly resolve?: Resolve
}

export function upstream(options: UpstreamOptions): Upstream {
  const pool = new Pool(options)
  return {
    forward: (request, sink) => pool.forward(request, sink),
    counts: () => pool.counts(),
    close: () => pool.close(),
  }
}

class Pool implements Home {
  readonly limits: UpstreamLimits
  readonly clock: Clock
  readonly #options: UpstreamOptions
  readonly #all = new Set<UpstreamConnection>()
  /** The last one that came free is used first, so that the others grow old and go. */
  readonly #idle: UpstreamConnection[] = []
  /** Free since this turn of the loop. Bytes that nobody asked for, and that are here already, show before the next. */
  #resting: UpstreamConnection[] = []
  #waiting: UpstreamFlight[] = []
  #isClosed = false
  readonly #stopTicks: () => void

  constructor(options: UpstreamOptions) {
    this.#options = options
    this.limits = options.limits
    this.clock = options.clock
    this.#stopTicks = options.clock.onTick(() => this.#sweep())
  }

  forward(request: UpstreamRequest, sink: ResponseSink): ActiveRequest {
    const flight = new UpstreamFlight(request, sink)
    const idle = this.#idle.pop()
    if (idle) idle.carry(flight)
    else if (this.#all.size < this.limits.connections) this.#open(flight)
    else this.#wait(flight)
    return flight
  }

  counts() {
    return {
      connections: this.#all.size,
      idle: this.#idle.length + this.#resting.length,
      waiting: this.#waiting.length,
    }
  }

  close(): void {
    this.#isClosed = true
    for (const connection of this.#idle.splice(0)) connection.close()
    if (this.#all.size === 0) this.#stopTicks()
  }

  dial(onread: OnReadOpts): Socket {
    const { origin, rule, resolve = resolveByHost } = this.#options
    return dial(origin, rule, resolve, onread)
  }

  free(connection: UpstreamConnection): void {
    if (this.#resting.length === 0) setImmediate(() => this.#settle())
    this.#resting.push(connection)
  }

  gone(connection: UpstreamConnection, again: UpstreamFlight | undefined): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    const next = again ?? this.#nextWaiting()
    if (again) again.isSecond = true
    if (next) this.#open(next)
    if (this.#isClosed && this.#all.size === 0) this.#stopTicks()
  }

  #open(flight: UpstreamFlight): void {
    this.#all.add(new UpstreamConnection(this, flight))
  }

  #wait(flight: UpstreamFlight): void {
    if (this.#waiting.length < this.limits.waiting) {
      flight.waits_until = this.clock.now() + this.limits.waiting_ms
      this.#waiting.push(flight)
    } else queueMicrotask(() => flight.isAborted || tellBusy(flight))
  }

  #nextWaiting(): UpstreamFlight | undefined {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) if (!next.isAborted) return next
    return undefined
  }

  #settle(): void {
    const rested = this.#resting
    this.#resting = []
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
    const late = this.#waiting.filter(({ waits_until, isAborted }) => !isAborted && waits_until <= now)
    this.#waiting = this.#waiting.filter(({ waits_until, isAborted }) => !isAborted && waits_until > now)
    for (const flight of late) tellBusy(flight)
  }
}

function tellBusy(flight: UpstreamFlight): void {
  flight.sink.fail('busy', 'all connections to the upstream are in use')
}
