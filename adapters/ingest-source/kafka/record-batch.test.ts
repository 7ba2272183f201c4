// Batches as brokers send them: each message once, none of an aborted transaction, and damaged ones are noticed.
import { expect, test } from 'vitest'
import {
  buildBatch,
  buildMark,
  buildRecord,
  transaction_attributes,
  zigzag,
} from '../../../test/support/engines/kafka-batches.ts'
import { readBatches } from './record-batch.ts'
import type { AbortedTransaction } from './topic-requests.ts'
import { WireWriter } from './wire-writer.ts'

function read(batches: readonly Buffer[], aborted: readonly AbortedTransaction[] = []) {
  const fetched = { partition: 0, error: 0, isDiverging: false, aborted: [...aborted], records: Buffer.concat(batches) }
  const found = [...readBatches(fetched, 1_000)].map(({ next, records }) => ({ next, records: [...records] }))
  const values = found.flatMap(({ records }) => records.map(({ offset, value }) => `${offset}:${value ?? 'none'}`))
  return { values, next: found.at(-1)?.next }
}

test('messages have the offsets of their batch, and a batch that was cut is left for the next answer', () => {
  const whole = buildBatch({ base: 7, values: ['a', null, ''], last: 5 })
  const cut = buildBatch({ base: 13, values: ['b'] })
  expect(read([whole, cut.subarray(0, cut.length - 1)])).toEqual({ values: ['7:a', '8:none', '9:'], next: 13n })
  expect(read([whole, cut])).toMatchObject({ values: expect.arrayContaining(['13:b']), next: 14n })
  expect(read([])).toEqual({ values: [], next: undefined })
})

test('of producers whose transactions interleave, those that were aborted are left out up to their marks', () => {
  const of = (base: number, producer: number, value: string) =>
    buildBatch({ base, producer, values: [value], attributes: transaction_attributes })
  const log = [
    ...[of(0, 1, 'a0'), of(1, 2, 'c1'), buildBatch({ base: 2, values: ['plain'] }), of(3, 1, 'a3')],
    ...[buildMark(4, 1, 'abort'), of(5, 1, 'c5'), buildMark(6, 2, 'commit'), of(7, 2, 'a7'), of(8, 1, 'c8')],
    ...[buildMark(9, 1, 'commit'), buildMark(10, 2, 'abort'), of(11, 2, 'c11')],
  ]
  const aborted = [
    { producer: 2n, first: 7n },
    { producer: 1n, first: 0n },
  ]
  const wanted = ['1:c1', '2:plain', '5:c5', '8:c8', '11:c11']
  expect(read(log, aborted)).toEqual({ values: wanted, next: 12n })
  // An answer that begins at the mark of a transaction that was aborted before.
  expect(read(log.slice(4, 7), [{ producer: 1n, first: 0n }]).values).toEqual(['5:c5'])
})

test('a batch of another version, or with another checksum, is refused', () => {
  const batch = buildBatch({ values: ['a'] })
  const old = Buffer.from(batch)
  old.writeInt8(1, 16)
  expect(() => read([old])).toThrow('before Kafka 0.11')
  for (let at = 21; at < batch.length; at++) {
    const damaged = Buffer.from(batch)
    damaged[at] = (damaged[at] ?? 0) ^ 1
    expect(() => read([damaged])).toThrow('its checksum is another one')
  }
})

test('of a message above the limit nothing but its size is read', () => {
  const large = new WireWriter().int8(0).raw(zigzag(0)).raw(zigzag(0)).raw(zigzag(-1)).raw(zigzag(-1))
  const body = large.raw(zigzag(1_000_000)).raw(Buffer.alloc(2_000)).done()
  const records = Buffer.concat([zigzag(body.length), body, buildRecord(1, null, 'b')])
  expect(read([buildBatch({ records, count: 2, last: 1 })])).toEqual({ values: ['0:none', '1:b'], next: 2n })
})
