// Decides which addresses may be dialled: only globally reachable ones and those of trusted networks, those of
// networks alone, or any.
import { type IpAddress, isWithin, parseIp } from '../../../daemon/kernel/network/ip-address.ts'
import { parseTrustedNetwork, specialUse } from '../../../daemon/kernel/network/special-addresses.ts'

export type AddressRule = {
  /** Why this address (text of IPv4 or IPv6) may not be dialled; undefined when it may. */
  refusal(address: string): string | undefined
}

/**
 * @param trusted networks as `10.1.0.0/16` or `fd00:12::/32`, or single addresses: they may be dialled although they are
 * not globally reachable.
 * @throws Error that names the entry when it is not a network, has bits beyond its prefix, or is wider than 8 bits.
 */
export function addressRule(trusted: readonly string[]): AddressRule {
  return ruleOfNetworks(trusted, (address) => specialUse(address))
}

/** The same networks, and no other address. */
export function networkRule(allowed: readonly string[]): AddressRule {
  return ruleOfNetworks(allowed, () => 'in no allowed network')
}

/** `findFault`: of an address outside the networks. */
function ruleOfNetworks(
  entries: readonly string[],
  findFault: (address: IpAddress) => string | undefined,
): AddressRule {
  const networks = entries.map((entry) => {
    const network = parseTrustedNetwork(entry)
    if (!network)
      throw new Error(`${JSON.stringify(entry)} is not a network with a prefix of at least 8 bits, such as 10.1.0.0/16`)
    return network
  })
  return {
    refusal(text) {
      const address = parseIp(stripZone(text))
      if (!address) return `${JSON.stringify(text)} is not an IP address`
      if (networks.some((network) => isWithin(address, network))) return undefined
      const fault = findFault(address)
      return fault === undefined ? undefined : `${text} is ${fault}`
    },
  }
}

/** For destinations that the operator names, in the profile or on the command line: they are inside more often than not. */
export const anyAddress: AddressRule = { refusal: () => undefined }

/** A zone names the interface of an address, which is link-local then. */
function stripZone(text: string): string {
  const zone = text.indexOf('%')
  return zone > 0 && text.includes(':') ? text.slice(0, zone) : text
}
