// Clients that die: none of their connections stays.
import { expect } from 'vitest'
import type { ForwardCall } from '../support/forward/forward-client.ts'
import {
  answerTo,
  chunk,
  type ForwardFixture,
  requirement,
  stream,
  waitFor,
  waitForFailure,
  waitForRequest,
  waitForUpstreamClose,
} from './forward-requirement.ts'

/** In each, a client that is killed ends its connection, however many bytes its request still lacks. */
export const departureRequirements = [
  requirement('departure/waiting', 'a client that dies while it waits for its response leaves no connection', {
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a')
      call.end()
      await waitForRequest(fixture, /\r\n\r\n$/)
      await verifyDeparture(fixture, call)
    },
  }),
  requirement('departure/reading', 'a client that dies within its response leaves no connection', {
    answer: answerTo('\r\n\r\n', stream + chunk('one')),
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a')
      call.end()
      await waitFor(() => expect(call.answer.text).toBe('one'))
      await verifyDeparture(fixture, call)
    },
  }),
  requirement('departure/sending', 'a client that dies within its body leaves no connection', {
    async verify(fixture) {
      const call = fixture.client.open('POST', '/a', { 'transfer-encoding': 'chunked' })
      call.write('part')
      await waitForRequest(fixture, 'part')
      await verifyDeparture(fixture, call)
    },
  }),
]

async function verifyDeparture(fixture: ForwardFixture, call: ForwardCall): Promise<void> {
  expect(fixture.forwarder.connections()).toBe(1)
  call.abort()
  await waitForFailure(fixture, 'gone')
  await waitForUpstreamClose(fixture)
  await waitFor(() => expect(fixture.forwarder.connections()).toBe(0))
}
