// Any frames of clients, any answers of the upstream, and a role that decides at any time: the process serves on, and forgets them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { manualCoarseClock } from '../../../test/support/clock/manual-coarse-clock.ts'
import { http2Client } from '../../../test/support/forward/forward-client.ts'
import { flags, frame, frameClient, hpackFields, types } from '../../../test/support/forward/http2-frames.ts'
import { type ForwarderOptions, startForwarder } from '../../../test/support/forward/test-forwarder.ts'
import { createAuthority, issueCertificate } from '../../../test/support/keys/site-certificates.ts'
import { startRawUpstream } from '../../../test/support/proxy/raw-upstream.ts'
import { pollOptions } from '../../../test/support/proxy/upstream-fixture.ts'
import type { PemKeyPair } from './data-listener.ts'
import { defaultHttp2Limits } from './limits.ts'

let folder: string
let ca: string
let tls: PemKeyPair

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'any-frames-'))
  const authority = await createAuthority(folder, 'site')
  const { pem } = await issueCertificate(folder, authority, 'listener')
  ca = authority.certificate
  tls = { cert: pem, key: pem }
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Sent by the upstream for each read; `end` and `reset` close it. */
const answers = [
  ...['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 204 X\r\n\r\n'],
  ...[
    'HTTP/1.1 205 X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    'HTTP/1.1 304 X\r\nContent-Length: 5\r\n\r\n',
  ],
  ...[
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    '5\r\nhello\r\n',
    '0\r\n\r\n',
    'HTTP/1.1 200 OK\r\n\r\nabc',
  ],
  ...[`HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`, '\0', '', 'end', 'reset'],
] as const

const fields = fc.record({
  method: fc.constantFrom('GET', 'POST', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'get', 'CONNECT', 'TRACE'),
  target: fc.constantFrom('/a', '/a', '/a', '*', '/\xff', 'http://b/', '/a#b', '//'),
  scheme: fc.constantFrom('https', 'https', 'https', 'http', 'ftp'),
  more: fc.subarray(
    [
      ['expect', '100-continue'],
      ['expect', 'x'],
      ['content-length', '5'],
      ['host', 'b'],
      ['te', 'trailers'],
      ['x', '\xff'],
      ['content_length', '1'],
    ] as const,
    { maxLength: 2 },
  ),
})
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}
/** Of a stream that the client has opened, the last but `back`. */
const back = fc.nat(3)
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('open' as const), head: fields, isEnded: fc.boolean() }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('data' as const),
        back,
        length: fc.constantFrom(0, 5, 16_000),
        isEnded: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('reset' as const), back, code: fc.constantFrom(0, 1, 8) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('window' as const), back, by: fc.constantFrom(1, 65_535, 2 ** 31 - 1) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constantFrom('wait' as const, 'release' as const, 'cut' as const, 'advance' as const),
      }),
    },
  ),
  { minLength: 5, maxLength: 40, size: 'max' },
)
type Step = typeof steps extends fc.Arbitrary<readonly (infer One)[]> ? One : never

function frameOf(step: Step, streams: number): Buffer | undefined {
  const id = 'back' in step ? Math.max(1, streams * 2 - 1 - step.back * 2) : streams * 2 + 1
  const end = 'isEnded' in step && step.isEnded ? flags.end_stream : 0
  switch (step.kind) {
    case 'open': {
      const { method, scheme, target, more } = step.head
      const pseudo = [
        [':method', method],
        [':scheme', scheme],
        [':authority', 'a'],
        [':path', target],
      ] as const
      return frame(types.headers, flags.end_headers | end, id, hpackFields([...pseudo, ...more]))
    }
    case 'data':
      return frame(types.data, end, id, Buffer.alloc(step.length, 'x'))
    case 'reset':
      return frame(types.reset, 0, id, uint32(step.code))
    case 'window':
      return frame(types.window, 0, id, uint32(step.by))
    default:
      return undefined
  }
}

async function play(
  history: readonly Step[],
  replies: readonly string[],
  options: Partial<ForwarderOptions>,
): Promise<void> {
  const clock = manualCoarseClock()
  let isOver = false
  let reads = 0
  const server = await startRawUpstream(({ socket }) => {
    const text = isOver ? answers[0] : (replies[reads++ % replies.length] as string)
    if (text === 'reset') socket.resetAndDestroy()
    else if (text === 'end') socket.end()
    else socket.write(text, 'latin1')
  })
  const limits = { idle_ms: 5_000, total_ms: 10_000 }
  const forwarder = await startForwarder({
    ...options,
    port: server.port,
    clock,
    limits,
    listener: { tls, http2: defaultHttp2Limits },
  })
  const client = await frameClient(forwarder.port, ca)
  let streams = 0
  for (const step of history) {
    const bytes = frameOf(step, streams)
    if (bytes) client.send(bytes)
    if (step.kind === 'open') streams += 1
    else if (step.kind === 'release') forwarder.release()
    else if (step.kind === 'cut') forwarder.cutLast()
    else if (step.kind === 'advance') clock.advance(3_000)
    else if (step.kind === 'wait') await new Promise((resolve) => setImmediate(resolve))
  }
  isOver = true
  client.socket.destroy()
  await vi.waitFor(() => expect(forwarder.connections()).toBe(0), pollOptions)
  forwarder.release()
  const other = http2Client(forwarder.port, ca)
  const call = other.open('POST', '/a')
  call.end()
  await vi.waitFor(() => {
    forwarder.release()
    expect(call.answer.isEnded || call.answer.isBroken).toBe(true)
  }, pollOptions)
  other.close()
  await forwarder.close()
  await server.close()
}

test.each([{}, { holds: 'requests' as const }, { holds: 'responses' as const }, { pool_ports: [] }])(
  'with %j',
  async (options) => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.array(fc.constantFrom(...answers), { minLength: 1, maxLength: 6 }),
        (history, replies) => play(history, replies, options),
      ),
      { numRuns: 60 },
    )
  },
)
