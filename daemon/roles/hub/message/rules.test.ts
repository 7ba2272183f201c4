// Ids, sizes and limits of messages at the hub.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesOf, checkMailboxRoom, mailId, sortKeyOf, sumUsage } from './rules.ts'

const mail = { epoch: 1, seq: 1, envelope: 'AAAA', body: 'BBBB' }

test('the size of a message is its decoded size', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (envelope, body) => {
      const [first, second] = [envelope, body].map((bytes) => Buffer.from(bytes).toString('base64'))
      expect(bytesOf({ envelope: first ?? '', body: second ?? '' })).toBe(envelope.length + body.length)
    }),
  )
})

test('places sort by epoch and number', () => {
  const number = fc.record({ epoch: fc.integer({ min: 1, max: 99_999_999 }), seq: fc.maxSafeNat() })
  fc.assert(
    fc.property(number, number, (first, second) => {
      const isBefore = first.epoch < second.epoch || (first.epoch === second.epoch && first.seq < second.seq)
      expect(sortKeyOf(first) < sortKeyOf(second)).toBe(isBefore)
    }),
  )
})

test('the id covers every part of a message, its sender and its receiver', () => {
  const names = [
    mailId('t', 'b', 'a', mail),
    mailId('u', 'b', 'a', mail),
    mailId('t', 'c', 'a', mail),
    mailId('t', 'b', 'c', mail),
    mailId('t', 'b', 'a', { ...mail, seq: 2 }),
    mailId('t', 'b', 'a', { ...mail, epoch: 2 }),
    mailId('t', 'b', 'a', { ...mail, body: 'CCCC' }),
    mailId('t', 'b', 'a', { ...mail, envelope: 'CCCC' }),
  ]
  expect(new Set(names).size).toBe(names.length)
  expect(mailId('t', 'b', 'a', { ...mail })).toBe(names[0])
})

test('there is room up to both limits, and always for one message', () => {
  const limits = { messages: 3, bytes: 100 }
  const usage = sumUsage(
    new Map([
      [10, 2],
      [50, 1],
    ]),
  )
  expect(usage).toEqual({ messages: 3, bytes: 70 })
  expect(checkMailboxRoom(1, usage, limits)?.code).toBe('rate_limited')
  expect(checkMailboxRoom(30, { messages: 2, bytes: 70 }, limits)).toBeUndefined()
  expect(checkMailboxRoom(31, { messages: 2, bytes: 70 }, limits)?.retry_after_s).toBe(5)
  expect(checkMailboxRoom(1_000, { messages: 0, bytes: 0 }, limits)).toBeUndefined()
})
