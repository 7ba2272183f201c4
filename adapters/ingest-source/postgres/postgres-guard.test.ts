// Messages of servers of PostgreSQL, however they are cut: those of the protocol pass, and all others do not.
import { expect, test } from 'vitest'
import { PostgresGuard } from './postgres-guard.ts'

function message(code: string, body: string, length = body.length + 4): Buffer {
  const head = Buffer.alloc(5)
  head.write(code, 'latin1')
  head.writeUInt32BE(length, 1)
  return Buffer.concat([head, Buffer.from(body, 'latin1')])
}

function check(bytes: Buffer, size: number): void {
  const guard = new PostgresGuard()
  for (let at = 0; at < bytes.length; at += size) guard.check(bytes.subarray(at, at + size))
}
const sizes = [1, 2, 4, 5, 6, 7, 11, 1_000]
const good = Buffer.concat([
  ...[message('R', '\0\0\0\0'), message('N', 'SNOTICE\0Mhello\0\0'), message('Z', 'I'), message('1', '')],
  ...[message('D', '\0\x01\0\0\0\x01x'), message('E', '\0'), message('E', 'C42501\0\xff\0\0'), message('Z', 'I')],
])

test('messages pass in pieces of every size', () => {
  for (const size of sizes) expect(() => check(good, size)).not.toThrow()
})

test.each([
  ['a length that does not count itself', message('Z', 'I', 3)],
  ['a message larger than any row', message('D', 'x', 33_554_437)],
  ['an error without a field', message('E', '')],
  ['an error without its end', message('E', 'Mhello\0')],
  ['an error whose text has no end', message('E', 'Mhello')],
  ['an error that ends before its message', message('E', 'Mhello\0\0M\0')],
  ['a notice without its end', message('N', 'M')],
  ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
])('refuses %s', (_, bytes) => {
  for (const size of sizes)
    expect(() => check(Buffer.concat([good, bytes, good]), size)).toThrow('does not answer as a PostgreSQL server does')
})

test('bytes and rows of one answer are counted, and again for the next one', () => {
  const guard = new PostgresGuard()
  const notice = message('N', `M${'x'.repeat(1_000_000)}\0\0`)
  guard.check(notice)
  expect(() => guard.check(notice)).toThrow('more than 1048576 bytes for one answer')
  guard.begin()
  for (let times = 0; times < 268; times++) guard.check(notice)
  expect(() => guard.check(notice)).toThrow('more than 268435456 bytes for one answer')
  const rows = Buffer.concat(Array.from({ length: 10_000 }, () => message('D', '\0\0')))
  for (let times = 0; times < 3; times++) {
    guard.begin()
    guard.check(rows)
  }
  expect(() => guard.check(message('D', '\0\0'))).toThrow('does not answer as a PostgreSQL server does')
})
