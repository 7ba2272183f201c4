// Opens connections to one origin, and only to addresses that the rule allows: checked for each connection, after its lookup.
import { connect, isIP, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { type AddressResolver, checkedLookup, findLiteralDenial } from '../../platform/address-rule/checked-lookup.ts'

export type UpstreamOrigin = {
  /** Name or address, IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /** Absent: without TLS. `ca`: PEM of the trusted authorities; Node's own when absent. */
  readonly tls?: { readonly ca?: string | readonly string[] }
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
 * A connecting socket. Fails with `AddressDeniedError` when the rule refuses any address of the origin. Ready at
 * `connect`, with TLS at `secureConnect`.
 * `onread`: see `net.Socket`; without it the socket is an ordinary stream.
 */
export function dial(origin: UpstreamOrigin, rule: AddressRule, resolve: AddressResolver, onread?: OnReadOpts): Socket {
  const { host, port, tls } = origin
  const lookup = checkedLookup(rule, resolve)
  // After a switch of protocols each side ends by itself; in HTTP the end of the upstream's side ends the connection.
  const allowHalfOpen = onread !== undefined
  const options = { host, port, lookup, noDelay: true, keepAlive: true, allowHalfOpen, ...(onread ? { onread } : {}) }
  const denial = findLiteralDenial(host, rule)
  // Addresses are not looked up: the check is made here, and fails in the same way as that of a lookup.
  if (denial) return connect({ host: 'denied', port, lookup: (_, __, done) => done(denial, '') })
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
