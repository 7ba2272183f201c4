// Which addresses may be dialled: by default those that anybody on the internet may have, and no others.
import { isWithin, parseIp } from '../../../daemon/kernel/network/ip-address.ts'
import { parseTrustedNetwork, specialUse } from '../../../daemon/kernel/network/special-addresses.ts'

export type AddressRule = {
  /** Why this address (text of IPv4 or IPv6) may not be dialled; undefined when it may. */
  refusal(address: string): string | undefined
}

/**
 * @param trusted networks as `10.1.0.0/16` or `fd00:12::/32`, or single addresses: these may be dialled whatever they are.
 * @throws Error that names the entry, where one is no network, has bits beyond its prefix, or trusts nearly everything.
 */
export function addressRule(trusted: readonly string[]): AddressRule {
  const networks = trusted.map((entry) => {
    const network = parseTrustedNetwork(entry)
    if (!network) throw new Error(`${JSON.stringify(entry)} is no network of 8 bits or more, such as 10.1.0.0/16`)
    return network
  })
  return {
    refusal(text) {
      const address = parseIp(stripZone(text))
      if (!address) return `${JSON.stringify(text)} is no address`
      if (networks.some((network) => isWithin(address, network))) return undefined
      const use = specialUse(address)
      return use === undefined ? undefined : `${text} is ${use}`
    },
  }
}

/** A zone says by which interface: of addresses that are link-local in any case. */
function stripZone(text: string): string {
  const zone = text.indexOf('%')
  return zone > 0 && text.includes(':') ? text.slice(0, zone) : text
}
