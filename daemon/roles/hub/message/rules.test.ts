// Ids, sizes and limits of messages at the hub.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesOf, checkMailboxRoom, mailId, sortKeyOf, sumUsage } from './rules.ts'

const mail = { epoch: 1, seq: 1, envelope: 'AAAA', body: 'BBBB' }

test('a message is counted by the bytes behind its base64', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (envelope, body) => {
      const [first, second] = [envelope, body].map((bytes) => Buffer.from(bytes).toString('base64'))
      expect(bytesOf({ envelope: first ?? '', body: second ?? '' })).toBe(envelope.length + body.length)
    }),
  )
})

test('places sort as epochs and numbers count', () => {
  const number = fc.record({ epoch: fc.integer({ min: 1, max: 99_999_999 }), seq: fc.maxSafeNat() })
  fc.assert(
    fc.property(number, number, (one, other) => {
      const isBefore = one.epoch < other.epoch || (one.epoch === other.epoch && one.seq < other.seq)
      expect(sortKeyOf(one) < sortKeyOf(other)).toBe(isBefore)
    }),
  )
})

test('every part of a message, and who it is from and for, is in its name', () => {
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

test('there is room up to both limits, and always for one', () => {
  const most = { messages: 3, bytes: 100 }
  const held = sumUsage(
    new Map([
      [10, 2],
      [50, 1],
    ]),
  )
  expect(held).toEqual({ messages: 3, bytes: 70 })
  expect(checkMailboxRoom(1, held, most)?.code).toBe('rate_limited')
  expect(checkMailboxRoom(30, { messages: 2, bytes: 70 }, most)).toBeUndefined()
  expect(checkMailboxRoom(31, { messages: 2, bytes: 70 }, most)?.retry_after_s).toBe(5)
  expect(checkMailboxRoom(1_000, { messages: 0, bytes: 0 }, most)).toBeUndefined()
})
