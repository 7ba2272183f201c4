// Codecs of batches: data as their documents describe it, and an end to what is too long or is none of theirs.
import { expect, test } from 'vitest'
import { zigzag } from '../../../test/support/engines/kafka-batches.ts'
import { crc32c } from './crc32c.ts'
import { expandBatch } from './expand.ts'
import { WireReader } from './wire-reader.ts'

const [snappy, lz4] = [2, 3]
const bytes = (...parts: readonly (number | string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))))

test('Snappy is read alone and in the frame of its Java library', () => {
  const wanted = Buffer.from('abcdeabcdeabcabcabcabca')
  const plain = bytes(23, 4 << 2, 'abcde', (4 << 2) | 1, 5, (9 << 2) | 2, 3, 0)
  expect(expandBatch(snappy, plain).toString()).toBe(wanted.toString())
  const length = Buffer.from([0, 0, 0, plain.length])
  const frame = bytes(0x82, 'SNAPPY', 0, Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]), length, plain, length, plain)
  expect(expandBatch(snappy, frame).toString()).toBe(wanted.toString().repeat(2))
  expect(() => expandBatch(snappy, bytes(24, plain.subarray(1)))).toThrow('another length than it says')
  expect(() => expandBatch(snappy, bytes(9, 0, 'a', 1, 2))).toThrow('begins before the data')
})

test('LZ4 is read in its frame, with blocks that are compressed and not, and with each of its checksums', () => {
  const compressed = bytes(0x14, 'a', 1, 0, 0x50, 'bcdef')
  const head = (flags: number) => bytes(0x04, 0x22, 0x4d, 0x18, flags, 0x40)
  const size = (length: number, bit = 0) => bytes(length, 0, 0, bit)
  const simple = bytes(head(0x60), 0, size(compressed.length), compressed, size(3, 0x80), 'xyz', size(0))
  expect(expandBatch(lz4, simple).toString()).toBe('aaaaaaaaabcdefxyz')
  const sums = bytes(head(0x7c), Buffer.alloc(8), 0, size(3, 0x80), 'xyz', Buffer.alloc(4), size(0), Buffer.alloc(4))
  expect(expandBatch(lz4, sums).toString()).toBe('xyz')
  expect(() => expandBatch(lz4, bytes(head(0x20), 0, size(0)))).toThrow('another version')
  expect(() => expandBatch(lz4, simple.subarray(1))).toThrow('not of LZ4')
  expect(() => expandBatch(lz4, simple, 10)).toThrow('has more than 10 bytes when it is expanded')
})

test('numbers of each length are read as they are written', () => {
  for (const value of [0, -1, 63, -64, 64, 8_191, -8_192, 2 ** 31 - 1, -(2 ** 30)])
    expect(new WireReader(zigzag(value)).varint()).toBe(value)
  const longest = Buffer.from([0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1])
  expect(new WireReader(longest).varlong()).toBe(9_223_372_036_854_775_807n)
  expect(() => new WireReader(Buffer.alloc(11, 0xff)).varlong()).toThrow('too long')
})

// RFC 3720, appendix B.4.
test('the checksum is that of the examples of its document', () => {
  expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa)
  expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43)
  expect(crc32c(Uint8Array.from({ length: 32 }, (_, at) => at))).toBe(0x46dd794e)
})
