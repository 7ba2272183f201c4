// A socket for the client of a protocol, which connects only where an address rule permits.
import { Socket } from 'node:net'
import type { AddressRule } from './address-rule.ts'
import { type AddressResolver, checkedLookup, findLiteralDenial, systemResolver } from './checked-lookup.ts'

/** Not connected yet: its `connect(port, host)` checks the address first, and fails with `AddressDeniedError`. */
export function checkedSocket(rule: AddressRule, resolve: AddressResolver = systemResolver): Socket {
  const socket = new Socket()
  const connect = socket.connect.bind(socket)
  const connectChecked = (port: number, host: string): Socket => {
    const denial = findLiteralDenial(host, rule)
    if (!denial) return connect({ port, host, lookup: checkedLookup(rule, resolve) })
    // The client listens for its errors once this has returned.
    process.nextTick(() => socket.destroy(denial))
    return socket
  }
  socket.connect = connectChecked as Socket['connect']
  return socket
}
