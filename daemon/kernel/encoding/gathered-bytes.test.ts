// Chunks of any size become the bytes that were sent, and a million of one byte cost no more than their bytes.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GatheredBytes } from './gathered-bytes.ts'

test('chunks become what was sent, whatever their sizes, and nothing stays behind', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 6_000 }), { maxLength: 20 })
  fc.assert(
    fc.property(chunks, chunks, (first, second) => {
      const gathered = new GatheredBytes()
      for (const sent of [first, second]) {
        for (const chunk of sent) gathered.append(chunk)
        expect(gathered.length).toBe(Buffer.concat(sent).length)
        expect(gathered.take().equals(Buffer.concat(sent))).toBe(true)
      }
    }),
  )
})

test('bytes that were taken stay as they are', () => {
  const gathered = new GatheredBytes()
  gathered.append(Buffer.from('first'))
  const taken = gathered.take()
  gathered.append(Buffer.from('other'))
  expect(taken.toString()).toBe('first')
})

test('a million chunks of one byte are held as a megabyte', () => {
  const gathered = new GatheredBytes()
  for (let at = 0; at < 1_000_000; at += 1) gathered.append(Buffer.of(at % 251))
  const taken = gathered.take()
  expect([taken.length, taken.buffer.byteLength < 2_200_000]).toEqual([1_000_000, true])
})
