// Opens connections to one origin, and only to addresses that the rule allows: checked for each connection, after its lookup.
import { type LookupAddress, lookup } from 'node:dns'
import { connect, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { AddressRule } from './address-rule.ts'

export type UpstreamOrigin = {
  /** Name or address, IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /** Absent: without TLS. `ca`: PEM of the trusted authorities; Node's own when absent. */
  readonly tls?: { readonly ca?: string | readonly string[] }
}

/** All addresses of a name; `dns.lookup` outside tests. */
export type AddressResolver = (
  host: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void

export const systemResolver: AddressResolver = (host, done) => lookup(host, { all: true, verbatim: true }, done)

/** The origin has an address that may not be dialled. */
export class AddressDeniedError extends Error {
  readonly code = 'ADDRESS_DENIED'
}

/** Parses `http://host:port/...`; undefined for other schemes. Port and TLS default to those of the scheme. */
export function parseUpstreamOrigin(url: URL, ca?: string | readonly string[]): UpstreamOrigin | undefined {
  const isTls = url.protocol === 'https:'
  if (!isTls && url.protocol !== 'http:') return undefined
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port)
  return { host, port, ...(isTls ? { tls: ca === undefined ? {} : { ca } } : {}) }
}

/**
 * A connecting socket. Fails with `AddressDeniedError` when the rule refuses any address of the origin: a name with both
 * internal and external addresses is an attack or a mistake. Ready at `connect`, with TLS at `secureConnect`.
 * `onread`: see `net.Socket`; without it the socket is an ordinary stream.
 */
export function dial(origin: UpstreamOrigin, rule: AddressRule, resolve: AddressResolver, onread?: OnReadOpts): Socket {
  const { host, port, tls } = origin
  const lookup = checkedLookup(rule, resolve)
  // After a switch of protocols each side ends by itself; in HTTP the end of the upstream's side ends the connection.
  const allowHalfOpen = onread !== undefined
  const options = { host, port, lookup, noDelay: true, keepAlive: true, allowHalfOpen, ...(onread ? { onread } : {}) }
  const refusal = isIP(host) === 0 ? undefined : rule.refusal(host)
  // Addresses are not looked up, so the check of the lookup is made here, and fails in the same way.
  if (refusal !== undefined)
    return connect({ host: 'denied', port, lookup: (_, __, done) => done(createDenial(refusal), '') })
  if (!tls) return connect(options)
  const ca = typeof tls.ca === 'string' ? tls.ca : tls.ca && [...tls.ca]
  return connectTls({
    ...options,
    ...(ca === undefined ? {} : { ca }),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
  })
}

/** Whether the origin may be dialled now; otherwise the error with the reason. For start checks. */
export function checkOrigin(
  origin: UpstreamOrigin,
  rule: AddressRule,
  resolve: AddressResolver = systemResolver,
): Promise<Error | undefined> {
  const refusal = isIP(origin.host) === 0 ? undefined : rule.refusal(origin.host)
  if (refusal !== undefined) return Promise.resolve(createDenial(refusal))
  if (isIP(origin.host) !== 0) return Promise.resolve(undefined)
  return new Promise((done) =>
    checkedLookup(rule, resolve)(origin.host, { all: true }, (error) => done(error ?? undefined)),
  )
}

function checkedLookup(rule: AddressRule, resolve: AddressResolver): LookupFunction {
  return (host, options, done) =>
    resolve(host, (error, addresses) => {
      const first = addresses?.[0]
      if (error || !first) return done(error ?? new Error(`${host} has no address`), '')
      for (const { address } of addresses) {
        const refusal = rule.refusal(address)
        if (refusal !== undefined) return done(createDenial(refusal), '')
      }
      if (options.all) done(null, [...addresses])
      else done(null, first.address, first.family)
    })
}

const createDenial = (refusal: string) => new AddressDeniedError(`${refusal}, and not in a trusted network`)
