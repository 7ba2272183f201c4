// A connection to a server that a user names: held to an address rule, with TLS unless that is off, and waited for within limits.
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { AddressRule } from './address-rule.ts'
import { checkedSocket } from './checked-socket.ts'

export type CheckedDestinationAccess = {
  readonly port: number
  readonly tls: 'verify' | 'off'
  /** Authorities in PEM instead of the known ones. */
  readonly ca?: string | undefined
  readonly rule: AddressRule
}

export class CheckedConnection {
  readonly #access: CheckedDestinationAccess
  readonly #socket: Socket

  constructor(access: CheckedDestinationAccess) {
    this.#access = access
    this.#socket = checkedSocket(access.rule)
  }

  /** The socket once it is connected, or secure. Rejects with the error of the socket or of TLS. */
  async connect(host: string): Promise<Socket> {
    const { port, tls } = this.#access
    const plain = this.#socket
    plain.setNoDelay(true)
    plain.connect(port, host)
    await settle(plain, 'connect')
    return tls === 'off' ? plain : await this.secureAgain(host)
  }

  /** TLS on the connection, also on one that had TLS before and is handed over to another process of the server. */
  async secureAgain(host: string): Promise<Socket> {
    const { ca } = this.#access
    const secure = connectTls({
      ...{ socket: this.#socket, host, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
      ...(/^[0-9.]+$|:/.test(host) ? {} : { servername: host }),
    })
    await settle(secure, 'secureConnect')
    return secure
  }

  /** Ends what waits for it. */
  destroy(): void {
    this.#socket.destroy()
  }
}

async function settle(socket: Socket, event: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const close = () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
  socket.once(event, resolve).once('error', reject).once('close', close)
  try {
    await promise
  } finally {
    socket.removeListener('close', close)
    // An error between two listeners would end the thread.
    socket.on('error', () => undefined)
  }
}

/** Rejects with `ETIMEDOUT` at the limit, and with the reason of the signal; both call `end`, which ends the work. */
export async function waitWithin<T>(
  work: () => Promise<T>,
  limit_ms: number,
  end: () => void,
  signal: AbortSignal,
): Promise<T> {
  const late = Promise.withResolvers<never>()
  const stop = (reason: unknown) => {
    late.reject(reason)
    end()
  }
  const abort = () => stop(signal.reason)
  const timer = setTimeout(() => stop(Object.assign(new Error('late'), { code: 'ETIMEDOUT' })), limit_ms)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work(), late.promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}
