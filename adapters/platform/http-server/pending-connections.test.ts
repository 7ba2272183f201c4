// Unidentified connections above the limit: the oldest is closed, and first that of an address above its own limit.
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { PendingConnections } from './pending-connections.ts'

/** A limiter, and sockets without connections that claim the given addresses. */
function testLimiter() {
  const closed: string[] = []
  const limiter = new PendingConnections({ most: 4, most_per_address: 2 }, (address) => closed.push(address))
  const connect = (remoteAddress: string | undefined, remotePort: number | undefined) => {
    const socket = Object.defineProperties(new Socket(), {
      remoteAddress: { value: remoteAddress },
      remotePort: { value: remotePort },
    })
    limiter.begin(socket)
    return socket
  }
  return { limiter, connect, closed }
}

test('an address above its limit loses its oldest connection; other addresses keep theirs', () => {
  const { connect, closed } = testLimiter()
  const other = connect('10.0.0.1', 1)
  const own = [1, 2, 3].map((port) => connect('10.0.0.2', port))
  expect(own.map(({ destroyed }) => destroyed)).toEqual([true, false, false])
  expect([other.destroyed, closed]).toEqual([false, ['10.0.0.2']])
})

test('addresses of one network count together, and a carried IPv4 address counts as itself', () => {
  for (const addresses of [
    ['2001:db8::1', '2001:db8::2', '2001:db8::ffff:3'],
    ['2002:cb00:7107::1', '203.0.113.7', '64:ff9b::203.0.113.7'],
  ]) {
    const { connect } = testLimiter()
    const sockets = addresses.map((address, port) => connect(address, port))
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, false])
  }
})

test('the limiter closes the oldest connection above the total limit; completed and closed ones do not count', () => {
  const { limiter, connect, closed } = testLimiter()
  const peer = connect('10.0.0.1', 1)
  limiter.complete(peer)
  const oldest = connect('10.0.0.2', 1)
  const others = [3, 4, 5].map((last) => connect(`10.0.0.${last}`, 1))
  expect(closed).toEqual([])
  connect('10.0.0.6', 1)
  expect([oldest.destroyed, peer.destroyed, others.some(({ destroyed }) => destroyed)]).toEqual([true, false, false])
  expect(closed).toEqual(['10.0.0.2'])
})

test('connections that their sender has reset are not kept, however many', () => {
  const { connect, closed } = testLimiter()
  const waiting = connect('10.0.0.1', 1)
  const reset = Array.from({ length: 8 }, () => connect(undefined, undefined))
  for (const socket of reset) socket.emit('close')
  expect(closed).toEqual([])
  const later = Array.from({ length: 8 }, () => connect(undefined, undefined))
  expect([waiting, ...reset, ...later].some(({ destroyed }) => destroyed)).toBe(false)
  expect(closed).toEqual([])
})
