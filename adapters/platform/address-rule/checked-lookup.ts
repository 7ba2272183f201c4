// Holds each connection to an address rule: literal addresses before it, and all addresses of a name after its lookup.
import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { AddressRule } from './address-rule.ts'

/** All addresses of a name; `dns.lookup` outside tests. */
export type AddressResolver = (
  host: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void

export const systemResolver: AddressResolver = (host, done) => lookup(host, { all: true, verbatim: true }, done)

/** The destination has an address that may not be dialled. */
export class AddressDeniedError extends Error {
  readonly code = 'ADDRESS_DENIED'
}

/**
 * The denial of a host that is itself an address, which no lookup checks. Undefined for one that may be dialled, and for a
 * name. `host`: IPv6 without brackets.
 */
export function findLiteralDenial(host: string, rule: AddressRule): AddressDeniedError | undefined {
  const refusal = isIP(host) === 0 ? undefined : rule.refusal(host)
  return refusal === undefined ? undefined : createDenial(refusal)
}

/**
 * The lookup of a connection. Fails with `AddressDeniedError` when the rule refuses any address of the name: a name with
 * both internal and external addresses is an attack or a mistake. The connection uses the addresses that were checked.
 */
export function checkedLookup(rule: AddressRule, resolve: AddressResolver): LookupFunction {
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

/**
 * Whether the host may be dialled now; otherwise the error with the reason. For start checks and registrations: the
 * connections are checked again, since a name can change its addresses.
 */
export function checkHost(
  host: string,
  rule: AddressRule,
  resolve: AddressResolver = systemResolver,
): Promise<Error | undefined> {
  if (isIP(host) !== 0) return Promise.resolve(findLiteralDenial(host, rule))
  return new Promise((done) => checkedLookup(rule, resolve)(host, { all: true }, (error) => done(error ?? undefined)))
}

const createDenial = (refusal: string) => new AddressDeniedError(`${refusal}, and not in a trusted network`)
