// Pieces of a response that streams: each arrives as it was written, although its bytes are overwritten at once.
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import type { Exchange } from '../../../daemon/kernel/forward/exchange.ts'
import { closeDataListeners, formatGet, startDataListener } from '../../../test/support/proxy/test-data-listener.ts'
import { pollOptions } from '../../../test/support/proxy/upstream-fixture.ts'

afterEach(closeDataListeners)

/** Around the sizes at which a piece is text, a buffer that is used again, and one of its own. */
const sizes = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constantFrom(16_384, 16_385, 65_536, 65_537, 100_000))

/** Writes all pieces from one buffer, and waits for a client that reads slowly. */
function writePieces(exchange: Exchange, pieces: readonly number[], isFramed: boolean): void {
  const shared = Buffer.alloc(100_000)
  let at = 0
  const more = () => {
    while (at < pieces.length) {
      const size = pieces[at] ?? 0
      const piece = shared.subarray(0, size).fill(97 + (at % 26))
      at += 1
      const isTaken = exchange.write(piece)
      piece.fill(0x21)
      if (!isTaken) return
    }
    exchange.end()
  }
  exchange.answering = { gone: () => undefined, drained: more }
  exchange.begin(200, [], isFramed ? undefined : pieces.reduce((sum, size) => sum + size, 0))
  more()
}

const expectedBody = (pieces: readonly number[]) =>
  pieces.map((size, at) => String.fromCharCode(97 + (at % 26)).repeat(size)).join('')

function decodeChunks(text: string): string {
  let body = ''
  for (let rest = text; ; ) {
    const [line = ''] = rest.split('\r\n', 1)
    const size = Number.parseInt(line, 16)
    if (size === 0) return body
    body += rest.slice(line.length + 2, line.length + 2 + size)
    expect(rest.slice(line.length + 2 + size, line.length + 4 + size)).toBe('\r\n')
    rest = rest.slice(line.length + 4 + size)
  }
}

test('pieces of any size arrive whole and in order, in chunks and with a length', async () => {
  const bodies: number[][] = []
  const server = await startDataListener((exchange) => {
    writePieces(exchange, bodies[Number(exchange.target.slice(2))] ?? [], exchange.target[1] === 'c')
  })
  await fc.assert(
    fc.asyncProperty(fc.array(sizes, { minLength: 1, maxLength: 30 }), fc.boolean(), async (pieces, isFramed) => {
      const client = await server.client(formatGet(`/${isFramed ? 'c' : 'l'}${bodies.push(pieces) - 1}`))
      client.socket.pause()
      await new Promise((resolve) => setImmediate(resolve))
      client.socket.resume()
      const expected = expectedBody(pieces)
      const readBody = () => client.text.slice(client.text.indexOf('\r\n\r\n') + 4)
      if (isFramed) await vi.waitFor(() => expect(readBody().endsWith('0\r\n\r\n')).toBe(true), pollOptions)
      else await vi.waitFor(() => expect(readBody().length).toBeGreaterThanOrEqual(expected.length), pollOptions)
      expect((isFramed ? decodeChunks(readBody()) : readBody()) === expected).toBe(true)
    }),
    { numRuns: 40 },
  )
})
