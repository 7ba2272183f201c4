// The encoding of a text: by its mark, its zero bytes, and all of its letters, wherever they are.
import { expect, test } from 'vitest'
import type { ByteSource } from '../../../daemon/kernel/data/byte-source.ts'
import { detectEncoding } from './detect-encoding.ts'

/** Reads at most `step` bytes at once. */
function opened(bytes: Uint8Array, step = 100_000): () => ByteSource {
  return () => {
    let offset = 0
    return {
      read(into) {
        const part = bytes.subarray(offset, offset + Math.min(step, into.length))
        into.set(part)
        offset += part.length
        return part.length
      },
    }
  }
}

const utf16 = (text: string) => Buffer.from(text, 'utf16le')
const latin = (text: string) => Buffer.from(text, 'latin1')
const table = 'id,name\n1,Müller\n'

test.each<[what: string, bytes: Uint8Array, encoding: string, hasMark: boolean, odd_count: number]>([
  ['ASCII', Buffer.from('id,name\n1,a\n'), 'utf-8', false, 0],
  ['nothing', new Uint8Array(0), 'utf-8', false, 0],
  ['UTF-8', Buffer.from(table), 'utf-8', false, 0],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${table}`), 'utf-8', true, 0],
  ['UTF-16LE with a mark', utf16(`\ufeff${table}`), 'utf-16le', true, 0],
  ['UTF-16BE with a mark', utf16(`\ufeff${table}`).swap16(), 'utf-16be', true, 0],
  ['UTF-16LE', utf16(table), 'utf-16le', false, 0],
  ['UTF-16BE', utf16(table).swap16(), 'utf-16be', false, 0],
  ['UTF-16LE of another script', utf16('id,名前\n1,山田太郎\n2,鈴木花子\n'.repeat(9)), 'utf-16le', false, 0],
  ['NUL bytes in a text of ASCII', Buffer.from(`id,name\n1,\0\n${'2,abcdefgh\n'.repeat(20)}`), 'utf-8', false, 0],
  ['Latin-1', latin(table), 'windows-1252', false, 0],
  ['Windows-1252', latin('id,price\n1,5 \x80\n'), 'windows-1252', false, 0],
  ['UTF-8 with a damaged letter', Buffer.concat([Buffer.from(table), Buffer.of(0xfc, 10)]), 'utf-8', false, 1],
  ['Windows-1252 with a letter of UTF-8', latin(`${'Müller\n'.repeat(20)}Ã¼\n`), 'windows-1252', false, 1],
  ['UTF-8 that is cut within its only letter', Buffer.from('id\né').subarray(0, 4), 'utf-8', false, 1],
])('%s', async (_, bytes, encoding, hasMark, odd_count) => {
  for (const step of [100_000, 1, 7])
    expect(await detectEncoding(opened(bytes, step))).toEqual({ encoding, hasMark, odd_count })
})

test('one letter at the end of megabytes decides', async () => {
  const before = Buffer.alloc(1_000_001, 'some text\n')
  expect(await detectEncoding(opened(Buffer.concat([before, latin('M\xfcller\n')])))).toMatchObject({
    encoding: 'windows-1252',
  })
  expect(await detectEncoding(opened(Buffer.concat([before, Buffer.from('Müller\n')])))).toMatchObject({
    encoding: 'utf-8',
  })
})

test('letters that two reads share are whole', async () => {
  for (const before of [262_141, 262_142, 262_143, 262_144]) {
    for (const letter of ['é', '漢', '😀']) {
      const text = Buffer.from(`${'x'.repeat(before)}${letter}${'y'.repeat(300_000)}${letter}`)
      expect(await detectEncoding(opened(text))).toMatchObject({ encoding: 'utf-8', odd_count: 0 })
    }
  }
})
