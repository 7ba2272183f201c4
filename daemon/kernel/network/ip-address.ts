// IP addresses and networks as numbers: one canonical text for each address.
import ipaddr from 'ipaddr.js'

const { IPv4, IPv6, fromByteArray } = ipaddr
type IPv4 = ipaddr.IPv4
type IPv6 = ipaddr.IPv6

/** `family` 4 (32 bits) or 6 (128 bits). An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) is the IPv4 address. */
export type IpAddress = { readonly family: 4 | 6; readonly value: bigint }

/** All addresses whose first `prefix` bits are those of `value`, whose others are zero. */
export type IpNetwork = { readonly family: 4 | 6; readonly value: bigint; readonly prefix: number }

/**
 * An address by its text: four decimal numbers without leading zeros (never octal, hexadecimal or fewer than four), or
 * RFC 4291 section 2.2. Anything else is undefined: zones (`%eth0`), brackets, ports, spaces.
 */
export function parseIp(text: string): IpAddress | undefined {
  if (isIpv4(text)) return { family: 4, value: toValue(IPv4.parse(text)) }
  const words = toIpv6Words(text)
  if (words === undefined || !IPv6.isValid(words)) return undefined
  const address = IPv6.parse(words)
  return address.isIPv4MappedAddress()
    ? { family: 4, value: toValue(address.toIPv4Address()) }
    : { family: 6, value: toValue(address) }
}

/**
 * The text with an IPv4 tail as two hexadecimal words; undefined for what the library reads besides: zones, and octal,
 * hexadecimal or zero-padded numbers in the tail. It also takes the IPv4-compatible `::192.0.2.1` for IPv4-mapped.
 */
function toIpv6Words(text: string): string | undefined {
  if (!/^[0-9a-fA-F:.]{2,45}$/.test(text)) return undefined
  const from = text.lastIndexOf(':') + 1
  const tail = text.slice(from)
  if (!text.includes('.')) return text
  if (!isIpv4(tail)) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = IPv4.parse(tail).octets
  return `${text.slice(0, from)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

function toValue(address: IPv4 | IPv6): bigint {
  return address.toByteArray().reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

/** The canonical text: RFC 5952 for IPv6. */
export function formatIp({ family, value }: IpAddress): string {
  const length = family === 4 ? 4 : 16
  const bytes = Array.from({ length }, (_, at) => Number((value >> BigInt(8 * (length - 1 - at))) & 0xffn))
  return fromByteArray(bytes).toString()
}

/** `192.0.2.0/24`, `2001:db8::/32`, or one address. Undefined when it is neither, or has bits beyond the prefix. */
export function parseNetwork(text: string): IpNetwork | undefined {
  const slash = text.indexOf('/')
  const address = parseIp(slash < 0 ? text : text.slice(0, slash))
  if (!address) return undefined
  const bits = address.family === 4 ? 32 : 128
  const digits = slash < 0 ? String(bits) : text.slice(slash + 1)
  if (!/^(0|[1-9]\d{0,2})$/.test(digits) || Number(digits) > bits) return undefined
  // `::ffff:10.0.0.0/104` counts its bits in another family than its address is of.
  if (slash >= 0 && address.family === 4 && text.includes(':')) return undefined
  const network = { ...address, prefix: Number(digits) }
  return network.value === maskedTo(network.prefix, address) ? network : undefined
}

export function isWithin({ family, value }: IpAddress, network: IpNetwork): boolean {
  if (family !== network.family) return false
  return maskedTo(network.prefix, { family, value }) === network.value
}

/** The network of so many bits that the address is in. */
export function networkOf(address: IpAddress, prefix: number): IpNetwork {
  return { family: address.family, value: maskedTo(prefix, address), prefix }
}

function maskedTo(prefix: number, { family, value }: IpAddress): bigint {
  const beyond = BigInt((family === 4 ? 32 : 128) - prefix)
  return (value >> beyond) << beyond
}

/** Whether the text is an IPv4 address in its one canonical form. Does not allocate: it runs for each request. */
export function isIpv4(text: string): boolean {
  if (text.length < 7 || text.length > 15) return false
  let dots = 0
  let digits = 0
  let number = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 46) {
      if (digits === 0 || ++dots > 3) return false
      digits = 0
      number = 0
    } else {
      if (code < 48 || code > 57 || (digits > 0 && number === 0)) return false
      number = number * 10 + code - 48
      if (number > 255) return false
      digits++
    }
  }
  return dots === 3 && digits > 0
}
