// Where requests go: the parts of PLATFORM_API_URL, and what is wrong with a URL that must not be gone to.
import { type IpNetwork, isWithin, parseIp } from '../../kernel/network/ip-address.ts'
import { specialUse } from '../../kernel/network/special-addresses.ts'

export type PlatformOrigin = {
  readonly isTls: boolean
  /** Without brackets. */
  readonly host: string
  readonly port: number
  /** For the Host header: with brackets, and the port where it is not the scheme's own. */
  readonly authority: string
  /** Path that comes before every forwarded one, without a slash at its end; '' for none. */
  readonly base: string
}

/** Why a URL is none that secrets may be sent to; undefined when its form is sound. */
export function findUrlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL such as https://platform.example'
  const { protocol, username, password } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return 'must begin with http:// or https://'
  if (username !== '' || password !== '') return 'must hold no credentials'
  return text.includes('#') ? 'must have no fragment' : undefined
}

/** The same of one that paths and queries are added to. */
export function findOriginFault(text: string): string | undefined {
  const fault = findUrlFault(text)
  if (fault !== undefined) return fault
  if (text.includes('?')) return 'must have no query'
  return /[^A-Za-z0-9._~/-]|\/\//.test(new URL(text).pathname) ? 'must have a plain path, or none' : undefined
}

/** Of a URL that `findOriginFault` finds nothing wrong with. */
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
 * Why a URL must not be gone to though its form is sound: its host is written as an address, or named as one, that is not
 * public and not in the networks. Names are looked up, and their addresses judged, at each connection.
 */
export function findAddressFault(text: string, trusted: readonly IpNetwork[]): string | undefined {
  const { host } = parseOrigin(text)
  const address = parseIp(/(^|\.)localhost\.?$/.test(host) ? '127.0.0.1' : host)
  const use = address && specialUse(address)
  if (!address || !use || trusted.some((network) => isWithin(address, network))) return undefined
  return `leads to ${host}, which is not public (${use}): name its network in proxy.trusted_networks of the profile, if the site trusts it`
}
