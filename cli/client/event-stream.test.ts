// Server-sent events survive any way of being cut into chunks.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ServerEvent } from '../../daemon/kernel/operation/operation.ts'
import { parseEvents } from './event-stream.ts'

async function read(chunks: readonly Uint8Array[]): Promise<ServerEvent[]> {
  async function* arriving() {
    for (const chunk of chunks) yield Buffer.from(chunk)
  }
  const found: ServerEvent[] = []
  for await (const event of parseEvents(arriving())) found.push(event)
  return found
}

const wire =
  ': heartbeat\r\n\r\nid: 1\r\nevent: state\r\ndata: {"to":\r\ndata: "RATIFIED – ok"}\r\n\r\nid: 2\ndata: 7\n\n'
const events = [
  { id: '1', event: 'state', data: { to: 'RATIFIED – ok' } },
  { id: '2', event: 'message', data: 7 },
]

test('comments are dropped, lines of data are joined, names have their defaults', async () => {
  expect(await read([Buffer.from(wire)])).toEqual(events)
})

test('however the bytes are cut, the events are the same', async () => {
  const bytes = Buffer.from(wire)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
      const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      const chunks = edges.slice(1).map((end, at) => bytes.subarray(edges[at], end))
      expect(await read(chunks)).toEqual(events)
    }),
  )
})

test('an event that the end of the stream cuts off is dropped', async () => {
  expect(await read([Buffer.from('id: 1\ndata: 1')])).toEqual([])
})
