// The upstream's origin: the parts of PLATFORM_API_URL, and faults of URLs that must not be contacted.
import { type IpNetwork, isWithin, parseIp } from '../../kernel/network/ip-address.ts'
import { specialUse } from '../../kernel/network/special-addresses.ts'

export type PlatformOrigin = {
  readonly isTls: boolean
  /** Host without brackets. */
  readonly host: string
  readonly port: number
  /** Value of the Host header: with brackets, and the port unless it is the default of the scheme. */
  readonly authority: string
  /** Path prefix of every forwarded path, without a trailing slash; '' for none. */
  readonly base: string
}

/** The fault of a URL for secrets; undefined when its form is valid. */
export function findUrlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL such as https://platform.example'
  const { protocol, username, password } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return 'must begin with http:// or https://'
  if (username !== '' || password !== '') return 'must not contain credentials'
  return text.includes('#') ? 'must not have a fragment' : undefined
}

/** The fault of a URL to which paths and queries are appended. */
export function findOriginFault(text: string): string | undefined {
  const fault = findUrlFault(text)
  if (fault !== undefined) return fault
  if (text.includes('?')) return 'must not have a query'
  return /[^A-Za-z0-9._~/-]|\/\//.test(new URL(text).pathname)
    ? 'must have a path of letters, digits and . _ ~ -, or none'
    : undefined
}

/** Parses a URL without a fault by `findOriginFault`. */
export function parseOrigin(text: string): PlatformOrigin {
  const { protocol, hostname, port, host, pathname } = new URL(text)
  const isTls = protocol === 'https:'
  return {
    isTls,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    authority: host,
    base: pathname.replace(/\/+$/, ''),
  }
}

/**
 * The fault of a URL whose host is written as, or named like, an address that is not public and not in the trusted
 * networks. Names are resolved, and their addresses checked, at each connection.
 */
export function findAddressFault(text: string, trusted: readonly IpNetwork[]): string | undefined {
  const { host } = parseOrigin(text)
  const address = parseIp(/(^|\.)localhost\.?$/.test(host) ? '127.0.0.1' : host)
  const use = address && specialUse(address)
  if (!address || !use || trusted.some((network) => isWithin(address, network))) return undefined
  return `leads to ${host}, which is not public (${use}); if the site trusts it, add its network to proxy.trusted_networks of the profile`
}
