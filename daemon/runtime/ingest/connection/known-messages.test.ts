// A message that has landed is left out when it comes again, and no other one is.
import { expect, test } from 'vitest'
import type { SourceMessage } from '../../../shared/message-source/message-source.ts'
import { KnownMessages } from './known-messages.ts'

const messageOf = (text: string, more: Partial<SourceMessage> = {}): SourceMessage => {
  return { body: Buffer.from(text), properties: {}, isRedelivered: false, ...more }
}
const again = (text: string, more: Partial<SourceMessage> = {}) => messageOf(text, { isRedelivered: true, ...more })

function land(texts: string, base?: KnownMessages, isSettled = false): KnownMessages {
  const known = new KnownMessages(base?.describe(false), isSettled)
  for (const text of texts) expect(known.isNew(messageOf(text))).toBe(true)
  return known
}

test('what has landed and was not acknowledged is left out once for each time that it has landed', () => {
  const next = new KnownMessages(land('aab').describe(false), false)
  expect(['a', 'b', 'a', 'a', 'b', 'c'].map((text) => next.isNew(again(text)))).toEqual([
    ...[false, false, false, true, true, true],
  ])
  expect(next.describe(false).earlier).toEqual([])
  expect(next.describe(false).landed).toHaveLength(3)
})

test('an equal message that was never delivered is new', () => {
  const next = new KnownMessages(land('a').describe(false), false)
  expect(next.isNew(messageOf('a'))).toBe(true)
  expect(next.isNew(again('a'))).toBe(false)
})

test('a message of another sender, with other headers or by another way is another message', () => {
  const first = new KnownMessages(undefined, false)
  first.isNew(messageOf('a', { properties: { message_id: '1' } }))
  const next = new KnownMessages(first.describe(false), false)
  expect(next.isNew(again('a'))).toBe(true)
  expect(next.isNew(again('a', { properties: { message_id: '2' } }))).toBe(true)
  expect(next.isNew(again('a', { properties: { message_id: '1' } }))).toBe(false)
})

test('what the queue has removed is not remembered, and what may come again still is', () => {
  const unsettled = land('ab')
  const settled = land('c', unsettled)
  const next = new KnownMessages(settled.describe(false), true)
  expect([again('c'), again('a')].map((message) => next.isNew(message))).toEqual([true, false])
  expect(next.describe(false).earlier).toHaveLength(1)
  expect(next.describe(true).earlier).toEqual([])
})
