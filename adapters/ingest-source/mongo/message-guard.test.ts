// Messages of servers, however they are cut: those of one document pass, and all others do not.
import { expect, test } from 'vitest'
import { MessageGuard } from './message-guard.ts'

/** `sent`: fewer bytes than the length says. `flags`: of the message; of a reply the number of documents. */
function message(length: number, code: number, { sent = length, flags = code === 1 ? 1 : 0, document = NaN } = {}) {
  const bytes = Buffer.alloc(Math.max(sent, 44))
  const before = code === 1 ? 36 : 21
  bytes.writeInt32LE(length, 0)
  bytes.writeInt32LE(code, 12)
  bytes.writeInt32LE(flags, code === 1 ? 32 : 16)
  bytes.writeInt32LE(Number.isNaN(document) ? length - before : document, before)
  return bytes.subarray(0, sent)
}

/** Whether all pieces of the size pass. */
function accepts(bytes: Buffer, size: number): boolean {
  const guard = new MessageGuard()
  for (let at = 0; at < bytes.length; at += size) if (!guard.accepts(bytes.subarray(at, at + size))) return false
  return true
}

const good = Buffer.concat([message(41, 1), message(26, 2_013), message(1_000, 2_013), message(900, 1)])

test('messages pass in pieces of every size', () => {
  for (const size of [1, 3, 15, 16, 17, 25, 26, 64, 5_000]) expect(accepts(good, size)).toBe(true)
  expect(accepts(message(48_000_000, 2_013, { sent: 40 }), 40)).toBe(true)
})

test.each([
  ['a compressed message', message(57, 2_012)],
  ['a message of more bytes than servers send', message(48_000_001, 2_013, { sent: 30 })],
  ['a message shorter than its head', message(25, 2_013, { sent: 44 })],
  ['a negative length', message(-1, 2_013, { sent: 44 })],
  ['a negative length of the document', message(57, 2_013, { document: -1 })],
  ['a document shorter than its message', message(57, 2_013, { document: 5 })],
  ['a message that others follow', message(57, 2_013, { flags: 2 })],
  ['a reply of many documents', message(57, 1, { flags: 2_000_000_000 })],
  ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n\r\n\r\n')],
])('%s does not pass, also after others', (_, bytes) => {
  for (const size of [1, 7, 16, 4_096]) {
    expect(accepts(bytes, size)).toBe(false)
    expect(accepts(Buffer.concat([message(57, 2_013), bytes]), size)).toBe(false)
  }
})
