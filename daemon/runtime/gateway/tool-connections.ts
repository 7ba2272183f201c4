// Connections to the tools of other services, one for each token: opened with the first call, kept between calls, and opened
// again after a restart of the service. A service that fails for a caller is spared the calls of this caller for a while.

import { sha256 } from '../../kernel/encoding/canonical-json.ts'
import {
  type ClientAbilities,
  findUnsupported,
  type HeldCall,
  InputRequiredResult,
  noAbilities,
  refuseUnsupported,
  type ToolClient,
  UnknownCallRefusal,
} from '../../kernel/tools/client-input.ts'
import type { RemoteResourceRead } from '../../kernel/tools/remote-resource.ts'
import type {
  RemoteToolCall,
  RemoteToolOutcome,
  ToolConnection,
  ToolServiceAddress,
  ToolServices,
  UntrustedObject,
} from '../../kernel/tools/tool-service.ts'
import { CallBreakers } from './call-breakers.ts'
import { isBroken, isFailure, mayRepeat, refuseSpared } from './call-failures.ts'
import { HeldCalls, type HeldPlace } from './held-calls.ts'

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

export type ConnectedService = {
  readonly services: ToolServices
  readonly service: string
  readonly address: Omit<ToolServiceAddress, 'token' | 'abilities'>
  readonly token: string | undefined
  /** In whose name: the failures of one caller are not those of another. */
  readonly caller: string
}

export type ConnectedCall = ConnectedService & {
  /** From which the tool may request input; undefined: from no client. */
  readonly client?: ToolClient | undefined
  /** A call that only reads is made again over a new connection, if the one that was kept breaks off. */
  readonly isRead: boolean
  readonly call: RemoteToolCall
}

export type ConnectedRead = ConnectedService & { readonly read: RemoteResourceRead }

/** A request over the connection of its token. */
type ConnectedRequest<T> = ConnectedService & {
  readonly isRead: boolean
  readonly cancelled: AbortSignal | undefined
  readonly abilities?: ClientAbilities | undefined
  /** The call that the request goes on with: over its own connection. */
  readonly findHeld?: () => HeldPlace<KeptConnection> | undefined
  readonly send: (connection: ToolConnection, kept: KeptConnection, held: HeldCall | undefined) => Promise<T>
}

export class ToolConnections {
  /** In the order of use. */
  readonly #kept = new Map<string, KeptConnection>()
  readonly breakers: CallBreakers
  readonly #held: HeldCalls<KeptConnection>
  /** Failures of openings. */
  readonly #unopened = new WeakSet<object>()
  readonly #now: () => number

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number, random: (bytes: number) => string) {
    this.#now = now
    this.#held = new HeldCalls(random)
    this.breakers = new CallBreakers(now)
  }

  /** Throws `Refusal`, as a connection does. */
  async callTool(request: ConnectedCall): Promise<RemoteToolOutcome> {
    const { client, caller, call, ...connected } = request
    return await this.#send({
      ...{ ...connected, caller, cancelled: call.cancelled, abilities: client?.abilities },
      findHeld: () => client && this.#held.take(caller, termsOf(request), client.continuation?.state),
      send: async (connection, kept, held) => {
        if (!client) return await connection.callTool(call)
        const outcome = await connection.callForClient({ ...call, continuation: client.continuation }, held)
        return outcome instanceof InputRequiredResult ? this.#require(kept, request, outcome) : outcome
      },
    })
  }

  /** Undefined where the service has no such document. Throws `Refusal`, as a connection does. */
  async readResource({ read, ...request }: ConnectedRead): Promise<readonly UntrustedObject[] | undefined> {
    const send = (connection: ToolConnection) => connection.readResource(read)
    return await this.#send({ ...request, isRead: true, cancelled: read.cancelled, send })
  }

  async #send<T>(request: ConnectedRequest<T>): Promise<T> {
    const { service, address, caller } = request
    const admitted = this.breakers.admit({ service, url: address.url.href, caller })
    if (typeof admitted === 'number') throw refuseSpared(service, admitted)
    try {
      const result = await this.#sendKept(request)
      admitted.succeed()
      return result
    } catch (error) {
      // The service has not had the request, so it has neither failed nor answered.
      if (request.cancelled?.aborted || error instanceof UnknownCallRefusal) admitted.leave()
      else if (isFailure(error)) admitted.fail(this.#unopened.has(error as object) ? 'connection' : 'call')
      else admitted.succeed()
      throw error
    }
  }

  /** Ends the calls that wait for input, of the tools of a service for which this holds. */
  endHeld(service: string, isWithdrawn: (name: string) => boolean): void {
    this.#held.endOf((tool) => tool.service === service && isWithdrawn(tool.name))
  }

  close(): void {
    this.#held.close()
    for (const key of [...this.#kept.keys()]) this.#drop(key)
  }

  async #sendKept<T>(request: ConnectedRequest<T>): Promise<T> {
    const held = request.findHeld?.()
    if (held) return await this.#sendOver(held.at, request, held.call)
    const key = keyOf(request)
    const isNew = !this.#kept.has(key)
    const kept = this.#take(key, request)
    try {
      return await this.#sendOver(kept, request)
    } catch (error) {
      if (isBroken(error) && this.#kept.get(key) === kept) this.#retire(key, kept)
      if (isNew || request.cancelled?.aborted || !mayRepeat(error, request)) throw error
      return await this.#sendOver(this.#take(key, request), request)
    }
  }

  #take<T>(key: string, { services, address, token, abilities }: ConnectedRequest<T>): KeptConnection {
    this.#endIdle()
    const known = this.#kept.get(key)
    const connect = () => services.connect({ ...address, abilities, token: async () => token })
    const kept = known ?? this.#open(key, connect)
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    kept.used_ms = this.#now()
    return kept
  }

  /** What could not be opened is not kept, whatever the reason: the next call tries again. */
  #open(key: string, connect: () => Promise<ToolConnection>): KeptConnection {
    const opening: KeptConnection = { opened: connect(), used_ms: this.#now(), calls: 0, isRetired: false }
    opening.opened.catch((error: object) => {
      this.#unopened.add(error)
      if (this.#kept.get(key) === opening) this.#kept.delete(key)
    })
    return opening
  }

  /** `held`: the call that goes on. */
  async #sendOver<T>(kept: KeptConnection, { send }: ConnectedRequest<T>, held?: HeldCall): Promise<T> {
    kept.calls += 1
    try {
      const connection = await kept.opened
      return await send(connection, kept, held)
    } finally {
      this.#leave(kept)
    }
  }

  #leave(kept: KeptConnection): void {
    kept.calls -= 1
    kept.used_ms = this.#now()
    if (kept.isRetired && kept.calls === 0) end(kept)
  }

  /** A call that is held uses its connection until its end. */
  #require(kept: KeptConnection, request: ConnectedCall, required: InputRequiredResult): InputRequiredResult {
    const { service, caller, client } = request
    const unsupported = findUnsupported(required.requests, client?.abilities ?? noAbilities)
    if (unsupported !== undefined) {
      required.held?.end()
      throw refuseUnsupported(service, unsupported)
    }
    if (!client || !required.held) return required
    kept.calls += 1
    void required.held.ended.then(() => this.#leave(kept))
    const tool = { service, name: request.call.name }
    return this.#held.hold(caller, termsOf(request), required, { call: required.held, at: kept, tool })
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

/**
 * A connection belongs to its token: what one caller opens serves no other. A service knows the abilities by the connection.
 * With some, it belongs to its caller also without a token: calls that wait for persons take requests of it, which are few.
 */
function keyOf<T>({ service, address, token, caller, abilities = noAbilities }: ConnectedRequest<T>): string {
  const owner = Object.keys(abilities).length > 0 ? caller : null
  return sha256(JSON.stringify([service, address.url.href, token ?? null, abilities, owner]))
}

/** What is the same whenever a call goes on. */
function termsOf({ service, address, call }: ConnectedCall): string {
  return JSON.stringify([service, address.url.href, call.name, call.input])
}
