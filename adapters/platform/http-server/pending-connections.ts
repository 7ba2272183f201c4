// Limits connections whose sender is not identified yet: they displace one another, never an identified one.
import type { Socket } from 'node:net'
import { countedSource } from '../../../daemon/kernel/network/special-addresses.ts'

/** In all, and of one address or IPv6 network. One more ends the oldest. */
export type PendingConnectionLimits = { readonly most: number; readonly most_per_address: number }

type PendingConnection = {
  readonly key: string
  readonly address: string
  readonly source: string
  readonly socket: Socket
}

export class PendingConnections {
  readonly #limits: PendingConnectionLimits
  readonly #onDropped: (address: string) => void
  /** By both ends of the connection, the oldest first. */
  readonly #pending = new Map<string, PendingConnection>()
  readonly #bySource = new Map<string, Set<PendingConnection>>()

  /** `onDropped`: called for each connection that is closed. */
  constructor(limits: PendingConnectionLimits, onDropped: (address: string) => void) {
    this.#limits = limits
    this.#onDropped = onDropped
  }

  /**
   * A connection beyond the limit ends the oldest one: to identify itself takes a sender a few moments, so that the oldest is
   * the least likely to do so. Those of an address with too many go first, so that one machine cannot displace all others.
   */
  begin(socket: Socket): void {
    const address = socket.remoteAddress
    // The sender has reset it: it has no ends any more, and all such connections would have one key.
    if (address === undefined) return
    const source = countedSource(address)
    const same = this.#bySource.get(source)
    if (same && same.size >= this.#limits.most_per_address) this.#drop(firstOf(same))
    else if (this.#pending.size >= this.#limits.most) this.#drop(firstOf(this.#pending.values()))
    const pending = { key: connectionKey(socket), address, source, socket }
    this.#pending.set(pending.key, pending)
    this.#bySource.set(source, (this.#bySource.get(source) ?? new Set()).add(pending))
    socket.once('close', () => this.#remove(pending))
  }

  /** Its sender is identified; `socket` may be the one of TLS that lies over it. */
  complete(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): void {
    this.#remove(this.#pending.get(connectionKey(socket)))
  }

  #drop(oldest: PendingConnection | undefined): void {
    if (!oldest) return
    this.#remove(oldest)
    this.#onDropped(oldest.address)
    oldest.socket.destroy()
  }

  #remove(pending: PendingConnection | undefined): void {
    if (!pending || this.#pending.get(pending.key) !== pending) return
    this.#pending.delete(pending.key)
    const same = this.#bySource.get(pending.source)
    same?.delete(pending)
    if (same?.size === 0) this.#bySource.delete(pending.source)
  }
}

function firstOf<T>(values: Iterable<T>): T | undefined {
  for (const value of values) return value
  return undefined
}

function connectionKey({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress} ${remotePort}`
}
