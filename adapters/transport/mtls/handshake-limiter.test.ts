// Who is sent away when too many stand on the doorstep: the oldest, and of the address that has too many first.
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { HandshakeLimiter } from './handshake-limiter.ts'

/** Connections that nobody has opened, from made-up addresses. */
function testLimiter() {
  const told: string[] = []
  const doorstep = new HandshakeLimiter({ handshakes: 4, handshakes_per_address: 2 }, (address) => told.push(address))
  const knock = (remoteAddress: string, remotePort: number) => {
    const socket = Object.defineProperties(new Socket(), {
      remoteAddress: { value: remoteAddress },
      remotePort: { value: remotePort },
    })
    doorstep.begin(socket)
    return socket
  }
  return { doorstep, knock, told }
}

test('an address that has too many loses its oldest, and nobody else’s', () => {
  const { knock, told } = testLimiter()
  const other = knock('10.0.0.1', 1)
  const own = [1, 2, 3].map((port) => knock('10.0.0.2', port))
  expect(own.map(({ destroyed }) => destroyed)).toEqual([true, false, false])
  expect([other.destroyed, told]).toEqual([false, ['10.0.0.2']])
})

test('of all addresses the oldest goes; who has come in or gone away is not counted', () => {
  const { doorstep, knock, told } = testLimiter()
  const peer = knock('10.0.0.1', 1)
  doorstep.complete(peer)
  const oldest = knock('10.0.0.2', 1)
  const others = [3, 4, 5].map((last) => knock(`10.0.0.${last}`, 1))
  expect(told).toEqual([])
  knock('10.0.0.6', 1)
  expect([oldest.destroyed, peer.destroyed, others.some(({ destroyed }) => destroyed)]).toEqual([true, false, false])
  expect(told).toEqual(['10.0.0.2'])
})
