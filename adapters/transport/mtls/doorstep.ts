// Connections that have not shown who they are: strangers crowd out one another there, and no peer that has come in.
import type { Socket } from 'node:net'
import type { Limits } from './limits.ts'

type Waiting = { readonly socket: Socket; readonly address: string }

export class Doorstep {
  readonly #limits: Pick<Limits, 'handshakes' | 'handshakes_per_address'>
  readonly #told: (address: string) => void
  /** By both ends of the connection, the oldest first. */
  readonly #waiting = new Map<string, Waiting>()

  /** `told`: of each that was sent away. */
  constructor(limits: Pick<Limits, 'handshakes' | 'handshakes_per_address'>, told: (address: string) => void) {
    this.#limits = limits
    this.#told = told
  }

  /**
   * Whoever comes too many ends the oldest: a handshake takes a few moments, and whoever has been at it for longest is no
   * peer. Those of an address that has too many go first, so that one machine cannot send everybody away.
   */
  knock(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    const key = keyOf(socket)
    const all = [...this.#waiting.values()]
    const same = all.filter((each) => each.address === address)
    if (same.length >= this.#limits.handshakes_per_address) this.#sendAway(same[0])
    else if (all.length >= this.#limits.handshakes) this.#sendAway(all[0])
    this.#waiting.set(key, { socket, address })
    socket.once('close', () => this.#leave(key, socket))
  }

  /** Its handshake is done; `socket` may be the one that lies over it. */
  enter(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): void {
    this.#waiting.delete(keyOf(socket))
  }

  #sendAway(oldest: Waiting | undefined): void {
    if (!oldest) return
    this.#waiting.delete(keyOf(oldest.socket))
    this.#told(oldest.address)
    oldest.socket.destroy()
  }

  #leave(key: string, socket: Socket): void {
    if (this.#waiting.get(key)?.socket === socket) this.#waiting.delete(key)
  }
}

function keyOf({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress} ${remotePort}`
}
