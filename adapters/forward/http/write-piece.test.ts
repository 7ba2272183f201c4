// Pieces of a response that streams: each arrives as it was written, although its bytes are overwritten at once.
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import type { Exchange } from '../../../daemon/kernel/forward/exchange.ts'
import { closeDataListeners, formatGet, startDataListener } from '../../../test/support/proxy/test-data-listener.ts'

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

function decodeChunks(text: string): [body: string, rest: string] {
  let body = ''
  for (let rest = text; ; ) {
    const [line = ''] = rest.split('\r\n', 1)
    const size = Number.parseInt(line, 16)
    if (size === 0) return [body, rest.slice(line.length + 4)]
    body += rest.slice(line.length + 2, line.length + 2 + size)
    expect(rest.slice(line.length + 2 + size, line.length + 4 + size)).toBe('\r\n')
    rest = rest.slice(line.length + 4 + size)
  }
}

/** The responses of a connection, and what is left of the text. */
function readBody(text: string, isFramed: boolean): [body: string, rest: string] {
  const [head = ''] = text.split('\r\n\r\n', 1)
  const after = text.slice(head.length + 4)
  if (isFramed) return decodeChunks(after)
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
  return [after.slice(0, length), after.slice(length)]
}

test('pieces of any size arrive whole and in order, in chunks and with a length, and after those of a request sent ahead', async () => {
  const bodies: number[][] = []
  const server = await startDataListener((exchange) => {
    writePieces(exchange, bodies[Number(exchange.target.slice(2))] ?? [], exchange.target[1] === 'c')
  })
  const lists = fc.array(fc.array(sizes, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(lists, fc.boolean(), async (requests, isFramed) => {
      const targets = requests.map((pieces) => `/${isFramed ? 'c' : 'l'}${bodies.push(pieces) - 1}`)
      const closing = 'GET /l HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
      const client = await server.client(`${targets.map((target) => formatGet(target)).join('')}${closing}`)
      client.socket.pause()
      await new Promise((resolve) => setImmediate(resolve))
      client.socket.resume()
      await client.waitForClose()
      let rest = client.text
      for (const pieces of requests) {
        const [body, more] = readBody(rest, isFramed)
        expect(body === expectedBody(pieces)).toBe(true)
        rest = more
      }
      expect(rest).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    }),
    { numRuns: 40 },
  )
})
