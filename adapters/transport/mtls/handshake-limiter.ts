// Limits connections whose handshake is not complete: they displace one another, never a connection of a peer.
import type { Socket } from 'node:net'
import { parseIp } from '../../../daemon/kernel/network/ip-address.ts'
import { countedNetwork } from '../../../daemon/kernel/network/special-addresses.ts'
import type { MtlsLimits } from './limits.ts'

type PendingHandshake = { readonly socket: Socket; readonly address: string; readonly network: string }

/** Whoever has an IPv6 address has this network. */
const ipv6_prefix = 64

export class HandshakeLimiter {
  readonly #limits: Pick<MtlsLimits, 'handshakes' | 'handshakes_per_address'>
  readonly #onDropped: (address: string) => void
  /** By both ends of the connection, the oldest first. */
  readonly #pending = new Map<string, PendingHandshake>()

  /** `onDropped`: called for each connection that is closed. */
  constructor(limits: Pick<MtlsLimits, 'handshakes' | 'handshakes_per_address'>, onDropped: (address: string) => void) {
    this.#limits = limits
    this.#onDropped = onDropped
  }

  /**
   * A connection beyond the limit ends the oldest one: a handshake takes a few moments, so that the oldest is the least likely
   * peer. Those of an address with too many go first, so that one machine cannot displace all others.
   */
  begin(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    const key = connectionKey(socket)
    const all = [...this.#pending.values()]
    const network = networkOfAddress(address)
    const same = all.filter((each) => each.network === network)
    if (same.length >= this.#limits.handshakes_per_address) this.#drop(same[0])
    else if (all.length >= this.#limits.handshakes) this.#drop(all[0])
    this.#pending.set(key, { socket, address, network })
    socket.once('close', () => this.#remove(key, socket))
  }

  /** Its handshake is done; `socket` may be the one that lies over it. */
  complete(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): void {
    this.#pending.delete(connectionKey(socket))
  }

  #drop(oldest: PendingHandshake | undefined): void {
    if (!oldest) return
    this.#pending.delete(connectionKey(oldest.socket))
    this.#onDropped(oldest.address)
    oldest.socket.destroy()
  }

  #remove(key: string, socket: Socket): void {
    if (this.#pending.get(key)?.socket === socket) this.#pending.delete(key)
  }
}

function networkOfAddress(address: string): string {
  const parsed = parseIp(address.split('%', 1)[0] ?? '')
  return parsed ? countedNetwork(parsed, ipv6_prefix) : address
}

function connectionKey({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress} ${remotePort}`
}
