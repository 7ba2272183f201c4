// IP addresses and networks as numbers: one canonical text for each address.

/** `family` 4 (32 bits) or 6 (128 bits). An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) is the IPv4 address. */
export type IpAddress = { readonly family: 4 | 6; readonly value: bigint }

/** All addresses whose first `prefix` bits equal those of `value`; the other bits of `value` are zero. */
export type IpNetwork = { readonly family: 4 | 6; readonly value: bigint; readonly prefix: number }

const ipv4_mapped_prefix = 0xffffn << 32n

/**
 * Parses an address: four decimal numbers without leading zeros (never octal, hexadecimal or fewer than four), or RFC
 * 4291 section 2.2. Anything else is undefined: zones (`%eth0`), brackets, ports, spaces.
 */
export function parseIp(text: string): IpAddress | undefined {
  if (isIpv4(text)) return { family: 4, value: BigInt(ipv4Value(text)) }
  const words = ipv6Words(text)
  if (!words) return undefined
  let value = 0n
  for (const word of words) value = (value << 16n) | BigInt(word)
  return value >> 32n === ipv4_mapped_prefix >> 32n ? { family: 4, value: value & 0xffff_ffffn } : { family: 6, value }
}

/** The canonical text: RFC 5952 for IPv6. */
export function formatIp({ family, value }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.')
  const words = Array.from({ length: 8 }, (_, at) => Number((value >> BigInt(112 - 16 * at)) & 0xffffn))
  const run = findLongestZeroRun(words)
  const text = (part: readonly number[]) => part.map((word) => word.toString(16)).join(':')
  return run ? `${text(words.slice(0, run.from))}::${text(words.slice(run.from + run.length))}` : text(words)
}

/** `192.0.2.0/24`, `2001:db8::/32`, or one address. Undefined when it is neither, or has bits beyond the prefix. */
export function parseNetwork(text: string): IpNetwork | undefined {
  const slash = text.indexOf('/')
  const address = parseIp(slash < 0 ? text : text.slice(0, slash))
  if (!address) return undefined
  const bits = address.family === 4 ? 32 : 128
  const digits = slash < 0 ? String(bits) : text.slice(slash + 1)
  if (!/^(0|[1-9]\d{0,2})$/.test(digits) || Number(digits) > bits) return undefined
  // `::ffff:10.0.0.0/104` counts bits of IPv6, but its address is IPv4.
  if (slash >= 0 && address.family === 4 && text.includes(':')) return undefined
  const network = { ...address, prefix: Number(digits) }
  return network.value === maskedTo(network.prefix, address) ? network : undefined
}

export function isWithin({ family, value }: IpAddress, network: IpNetwork): boolean {
  if (family !== network.family) return false
  return maskedTo(network.prefix, { family, value }) === network.value
}

/** The network of this prefix length that contains the address. */
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

function ipv4Value(text: string): number {
  return text.split('.').reduce((value, part) => value * 256 + Number(part), 0)
}

function ipv6Words(text: string): readonly number[] | undefined {
  if (text.length < 2 || text.length > 45) return undefined
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const parts = halves.map((half, at) => parseWords(half, at === halves.length - 1))
  const [head, tail] = parts
  if (!head) return undefined
  if (halves.length === 1) return head.length === 8 ? head : undefined
  if (!tail || head.length + tail.length > 7) return undefined
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

/** The 16-bit words of one side of `::`; the last of the text may be an IPv4 address. */
function parseWords(half: string, isLast: boolean): readonly number[] | undefined {
  if (half === '') return []
  const words: number[] = []
  const parts = half.split(':')
  for (const [at, part] of parts.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(part)) words.push(Number.parseInt(part, 16))
    else if (isLast && at === parts.length - 1 && isIpv4(part)) {
      const value = ipv4Value(part)
      words.push(Math.floor(value / 65_536), value % 65_536)
    } else return undefined
  }
  return words
}

function findLongestZeroRun(words: readonly number[]): { from: number; length: number } | undefined {
  let best: { from: number; length: number } | undefined
  for (let from = 0; from < words.length; from++) {
    let length = 0
    while (words[from + length] === 0) length++
    if (length > 1 && length > (best?.length ?? 0)) best = { from, length }
  }
  return best
}
