// Connections to the tools of other services, one for each token: opened with the first call, kept between calls, and opened
// again after a restart of the service. A service that fails is spared for a while.

import { sha256 } from '../../kernel/encoding/canonical-json.ts'
import { isRefusal, Refusal } from '../../kernel/error/errors.ts'
import { CircuitBreaker } from '../../kernel/network/circuit-breaker.ts'
import type {
  RemoteToolCall,
  RemoteToolResult,
  ToolConnection,
  ToolServiceAddress,
  ToolServices,
} from '../../kernel/tools/tool-service.ts'

/** Of all callers and services; the one not used for longest ends first. */
const max_connections = 512
const idle_ms = 60_000

type KeptConnection = {
  readonly opened: Promise<ToolConnection>
  used_ms: number
  calls: number
  /** Not found any more: it ends with the last of its calls. */
  isRetired: boolean
}

export type ConnectedCall = {
  readonly services: ToolServices
  readonly service: string
  readonly address: Omit<ToolServiceAddress, 'token'>
  readonly token: string | undefined
  /** A call that only reads is made again over a new connection, if the one that was kept breaks off. */
  readonly isRead: boolean
  readonly call: RemoteToolCall
}

export class ToolConnections {
  /** In the order of use. */
  readonly #kept = new Map<string, KeptConnection>()
  readonly #breakers = new Map<string, CircuitBreaker>()
  readonly #now: () => number

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Throws `Refusal`, as a connection does. */
  async callTool(request: ConnectedCall): Promise<RemoteToolResult> {
    const breaker = this.#breakerOf(request)
    const wait_ms = breaker.admit()
    if (wait_ms !== undefined) throw refuseSpared(request.service, wait_ms)
    try {
      const result = await this.#callKept(request)
      breaker.succeed()
      return result
    } catch (error) {
      if (request.call.cancelled?.aborted) breaker.leave()
      else if (isFailure(error)) breaker.fail()
      else breaker.succeed()
      throw error
    }
  }

  close(): void {
    for (const key of [...this.#kept.keys()]) this.#drop(key)
  }

  #breakerOf({ service, address }: ConnectedCall): CircuitBreaker {
    const key = `${service} ${address.url.href}`
    const known = this.#breakers.get(key) ?? new CircuitBreaker(this.#now)
    this.#breakers.set(key, known)
    return known
  }

  async #callKept(request: ConnectedCall): Promise<RemoteToolResult> {
    const key = keyOf(request)
    const isNew = !this.#kept.has(key)
    const kept = this.#take(key, request)
    try {
      return await this.#callOver(kept, request)
    } catch (error) {
      if (isBroken(error) && this.#kept.get(key) === kept) this.#retire(key, kept)
      if (isNew || request.call.cancelled?.aborted || !mayRepeat(error, request)) throw error
      return await this.#callOver(this.#take(key, request), request)
    }
  }

  #take(key: string, { services, address, token }: ConnectedCall): KeptConnection {
    this.#endIdle()
    const known = this.#kept.get(key)
    const kept = known ?? this.#open(key, () => services.connect({ ...address, token: async () => token }))
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    kept.used_ms = this.#now()
    return kept
  }

  /** What could not be opened is not kept, whatever the reason: the next call tries again. */
  #open(key: string, connect: () => Promise<ToolConnection>): KeptConnection {
    const opening: KeptConnection = { opened: connect(), used_ms: this.#now(), calls: 0, isRetired: false }
    opening.opened.catch(() => {
      if (this.#kept.get(key) === opening) this.#kept.delete(key)
    })
    return opening
  }

  async #callOver(kept: KeptConnection, { call }: ConnectedCall): Promise<RemoteToolResult> {
    kept.calls += 1
    try {
      const connection = await kept.opened
      return await connection.callTool(call)
    } finally {
      kept.calls -= 1
      kept.used_ms = this.#now()
      if (kept.isRetired && kept.calls === 0) end(kept)
    }
  }

  #endIdle(): void {
    const oldest = this.#now() - idle_ms
    for (const [key, { calls, used_ms }] of this.#kept) {
      const isSurplus = this.#kept.size >= max_connections
      if (calls === 0 && (used_ms < oldest || isSurplus)) this.#drop(key)
      else if (!isSurplus && used_ms >= oldest) return
    }
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key)
    this.#kept.delete(key)
    if (kept) end(kept)
  }

  /** Other calls over it go on: of a service without tokens, those of all callers. */
  #retire(key: string, kept: KeptConnection): void {
    this.#kept.delete(key)
    kept.isRetired = true
    if (kept.calls === 0) end(kept)
  }
}

function end({ opened }: KeptConnection): void {
  void opened.then((connection) => connection.close()).catch(() => undefined)
}

/** A connection belongs to its token: what one caller opens serves no other. */
function keyOf({ service, address, token }: ConnectedCall): string {
  return sha256(JSON.stringify([service, address.url.href, token ?? null]))
}

/** The session is unknown to a service that has started again, and the connection is of no use. */
function isBroken(error: unknown): boolean {
  return isRefusal(error) && ['not_found', 'unavailable', 'unauthenticated'].includes(error.code)
}

/** A request of an unknown session was not performed. Of one that broke off, nobody knows. */
function mayRepeat(error: unknown, { isRead }: ConnectedCall): boolean {
  return isRefusal(error) && (error.code === 'not_found' || (isRead && error.code === 'unavailable'))
}

/** Of the service, and not of the request. */
function isFailure(error: unknown): boolean {
  return !isRefusal(error) || ['unavailable', 'timeout', 'not_found'].includes(error.code)
}

function refuseSpared(service: string, wait_ms: number): Refusal {
  const wait_s = Math.ceil(wait_ms / 1_000)
  return new Refusal(
    'unavailable',
    `${service} has failed several times, and is tried again in ${wait_s} s`,
    [],
    wait_s,
  )
}
