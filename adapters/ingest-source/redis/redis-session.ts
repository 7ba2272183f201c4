// One session at a Redis or Valkey: its address by the rule, TLS, and time limits of each request.

import { describeConnectionFailure, refused_user } from '../../../daemon/shared/row-source/connection-failure.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { ServerAccess } from '../../../daemon/shared/row-source/server-access.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { checkedLookup, findLiteralDenial, systemResolver } from '../../platform/address-rule/checked-lookup.ts'
import type { RedisDriver } from './driver.ts'

export type RedisAccess = ServerAccess & {
  readonly database: number
  readonly rule: AddressRule
}

/** An answer: bytes, a number, an error of one command of several, or a list of them. */
export type RedisAnswer = Buffer | number | null | Error | readonly RedisAnswer[]

const connect_timeout_ms = 10_000
/** Without a byte of the server. */
const idle_timeout_ms = 60_000
/** Of one request of several commands. */
const reply_timeout_ms = 120_000

type RedisReader = ReturnType<RedisDriver['createClient']>

export class RedisSession {
  readonly #access: RedisAccess
  readonly #driver: RedisDriver
  #client: RedisReader | undefined
  #fault: unknown

  constructor(access: RedisAccess, driver: RedisDriver) {
    this.#access = access
    this.#driver = driver
  }

  /** One answer for each command, sent at once. Throws `RowSourceError`, and the reason of the signal. */
  async request(commands: readonly (readonly (string | Buffer)[])[], signal: AbortSignal): Promise<RedisAnswer[]> {
    signal.throwIfAborted()
    this.#client ??= this.#open()
    const client = this.#client
    const mapping = { typeMapping: { [this.#driver.blob]: Buffer } }
    const late = Promise.withResolvers<never>()
    const abort = () => late.reject(signal.reason)
    const timer = setTimeout(() => late.reject({ code: 'ETIMEDOUT' }), reply_timeout_ms)
    signal.addEventListener('abort', abort, { once: true })
    try {
      if (!client.isOpen) await Promise.race([client.connect(), late.promise])
      const sent = commands.map((command) => client.sendCommand([...command], mapping) as Promise<unknown>)
      const answers = await Promise.race([Promise.allSettled(sent), late.promise])
      return answers.map((each) =>
        each.status === 'fulfilled' ? (each.value as RedisAnswer) : this.#refuse(each.reason),
      )
    } catch (error) {
      signal.throwIfAborted()
      throw describeRedisError(this.#fault ?? error)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }

  /** An answer of the server about one command is one; what ends the connection is not. */
  #refuse(error: unknown): Error {
    if (error instanceof Error && /^[A-Z]{2,20} /.test(error.message)) return error
    throw error
  }

  #open(): RedisReader {
    const { host, port, database, username, password, tls, ca, rule } = this.#access
    const denial = findLiteralDenial(host, rule)
    if (denial) throw describeRedisError(denial)
    const places = { host, port, lookup: checkedLookup(rule, systemResolver) }
    const limits = {
      connectTimeout: connect_timeout_ms,
      socketTimeout: idle_timeout_ms,
      reconnectStrategy: false as const,
    }
    const secure = {
      tls: true as const,
      rejectUnauthorized: true,
      ...(ca !== undefined && { ca }),
      ...nameServer(host),
    }
    const client = this.#driver.createClient({
      ...{ RESP: 2 as const, database, disableOfflineQueue: true, disableClientInfo: true },
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      socket: { ...places, ...limits, ...(tls === 'off' ? {} : secure) },
    })
    client.on('error', (error) => {
      this.#fault ??= error
    })
    return client as unknown as RedisReader
  }

  close(): void {
    if (this.#client?.isOpen) this.#client.destroy()
  }
}

function nameServer(host: string): { readonly servername?: string } {
  return /^[0-9.]+$|:/.test(host) ? {} : { servername: host }
}

export function describeRedisError(error: unknown): RowSourceError {
  if (error instanceof RowSourceError) return error
  const { code, message = '', cause } = error as { code?: unknown; message?: string; cause?: unknown }
  if (/^(WRONGPASS|NOAUTH)|without any password configured|^ERR invalid password/.test(message))
    return new RowSourceError(refused_user)
  if (message.startsWith('NOPERM')) return new RowSourceError('the user of the connection may not read the keys')
  if (message.startsWith('ERR DB index')) return new RowSourceError('the server has no database of this number')
  if (/^(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)/.test(message))
    return new RowSourceError('the server is not ready to answer', false)
  if (/^(MOVED|ASK) /.test(message)) return new RowSourceError('the server is a part of a cluster, which is not read')
  if (typeof code === 'string') return describeConnectionFailure(code)
  if (cause !== undefined) return describeRedisError(cause)
  return new RowSourceError('the connection to the server is lost', false)
}
