// The form of a requirement on forwarding, and what the requirements wait for.
import { expect, vi } from 'vitest'
import type { ManualCoarseClock } from '../support/clock/manual-coarse-clock.ts'
import type { ForwardCall, ForwardClient } from '../support/forward/forward-client.ts'
import type { ForwarderOptions, TestForwarder } from '../support/forward/test-forwarder.ts'
import type { RawConnection, RawUpstream } from '../support/proxy/raw-upstream.ts'
import { pollOptions } from '../support/proxy/upstream-fixture.ts'

export type ForwardFixture = {
  readonly client: ForwardClient
  readonly forwarder: TestForwarder
  readonly server: RawUpstream
  readonly clock: ManualCoarseClock
}

export type ForwardRequirement = {
  readonly id: string
  readonly description: string
  /** Answers each read of the upstream. */
  readonly answer: (connection: RawConnection) => void
  readonly options: Partial<Omit<ForwarderOptions, 'port' | 'clock' | 'listener'>>
  readonly verify: (fixture: ForwardFixture) => Promise<void>
}

type RequirementParts = Partial<Pick<ForwardRequirement, 'answer' | 'options'>> & Pick<ForwardRequirement, 'verify'>

export const requirement = (id: string, description: string, parts: RequirementParts): ForwardRequirement => ({
  id: `forward/${id}`,
  description,
  answer: () => undefined,
  options: {},
  ...parts,
})

export const waitFor = (check: () => void) => vi.waitFor(check, pollOptions)
export const received = ({ server }: ForwardFixture) => server.connections.map(({ text }) => text).join('')
export const waitForRequest = (fixture: ForwardFixture, text: string | RegExp) =>
  waitFor(() => expect(received(fixture)).toMatch(text))
export const waitForEnd = (call: ForwardCall) => waitFor(() => expect(call.answer.isEnded).toBe(true))
export const waitForBreak = (call: ForwardCall) => waitFor(() => expect(call.answer.isBroken).toBe(true))
export const waitForFailure = ({ forwarder }: ForwardFixture, failure: string | undefined) =>
  waitFor(() => expect(forwarder.ends).toEqual([failure]))
export const waitForUpstreamClose = ({ server }: ForwardFixture) =>
  waitFor(() => expect(server.connections.map(({ isClosed }) => isClosed)).toEqual([true]))

export const waitForHeld = ({ forwarder }: ForwardFixture) => waitFor(() => expect(forwarder.held()).toBe(1))

/** Waits until a number stays the same over many turns of the event loop, so that what moves has come to rest. */
export async function waitForRest(measure: () => number): Promise<void> {
  let last = Number.NaN
  for (let same = 0; same < 50; ) {
    await new Promise((resolve) => setImmediate(resolve))
    const next = measure()
    same = next === last ? same + 1 : 0
    last = next
  }
}

export const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
export const stream = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
export const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

/** Answers `text` once the upstream has received `mark` on the connection. */
export function answerTo(mark: string, text: string): ForwardRequirement['answer'] {
  const answered = new WeakSet<RawConnection>()
  return (connection) => {
    if (answered.has(connection) || !connection.text.includes(mark)) return
    answered.add(connection)
    connection.socket.write(text, 'latin1')
  }
}

export const firstSocket = ({ server }: ForwardFixture) => {
  const socket = server.connections[0]?.socket
  if (!socket) throw new Error('the upstream has no connection')
  return socket
}
