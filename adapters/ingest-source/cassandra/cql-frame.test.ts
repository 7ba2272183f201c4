// Frames of a server come whole, however they are cut, and those that are none of the protocol are refused.
import { expect, test } from 'vitest'
import { type CqlFrame, FrameCollector, queryFrame } from './cql-frame.ts'

function frame(code: number, body: Buffer, flags = 0): Buffer {
  const header = Buffer.from([0x84, flags, 0, 0, code, 0, 0, 0, 0])
  header.writeInt32BE(body.length, 5)
  return Buffer.concat([header, body])
}

function collect(bytes: Buffer, size: number): CqlFrame[] {
  const collector = new FrameCollector()
  const found: CqlFrame[] = []
  for (let at = 0; at < bytes.length; at += size) found.push(...collector.add(bytes.subarray(at, at + size)))
  return found
}

const describeFrames = (frames: readonly CqlFrame[]) =>
  frames.map(({ opcode, body }) => `${opcode}:${body.take(body.left).toString()}`)

test('frames come in pieces of every size, without traces, warnings and payloads', () => {
  const traced = Buffer.concat([Buffer.alloc(16), Buffer.from([0, 1, 0, 2]), Buffer.from('wa'), Buffer.from('rows')])
  const payload = Buffer.concat([Buffer.from([0, 1, 0, 1, 107, 0, 0, 0, 1, 118]), Buffer.from('more')])
  const all = [
    frame(2, Buffer.alloc(0)),
    frame(8, Buffer.from('x'.repeat(300))),
    frame(8, traced, 10),
    frame(8, payload, 4),
  ]
  const expected = ['2:', `8:${'x'.repeat(300)}`, '8:rows', '8:more']
  for (const size of [1, 2, 8, 9, 10, 64, 5_000])
    expect(describeFrames(collect(Buffer.concat(all), size))).toEqual(expected)
})

test('a warning longer than its frame is refused', () => {
  expect(() => collect(frame(8, Buffer.from([0, 1, 0, 9, 65]), 8), 100)).toThrow(
    'does not answer as a server of Cassandra',
  )
  expect(() => collect(frame(8, Buffer.alloc(3), 2), 100)).toThrow('does not answer as a server of Cassandra')
})

test('a query has its page, its state and its consistency', () => {
  const bytes = queryFrame({ cql: 'ab', consistency: 'local_quorum', page_rows: 7, page_state: Buffer.from('s') })
  expect(bytes.toString('hex')).toBe('0400000007000000120000000261620006' + '0c' + '00000007' + '00000001' + '73')
  expect(queryFrame({ cql: 'ab', page_rows: 7 }).subarray(9).toString('hex')).toBe(
    '000000026162' + '0001' + '04' + '00000007',
  )
})
