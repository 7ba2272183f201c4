// The finder of marks agrees with a loop about any bytes, over the ends of its pieces, and for readers by turns.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MarkFinder } from './mark-finder.ts'

type Marks = readonly [number, number, number, number]

function findAll(bytes: Uint8Array, marks: Marks, from = 0): number[] {
  const finder = MarkFinder.ofThread()
  finder.begin(...marks)
  const found: number[] = []
  for (let next = finder.seek(from); ; next = 0) {
    found.push(...finder.positions.subarray(next, finder.count))
    if (!finder.find(bytes, bytes.length)) return found
  }
}

function expectAll(bytes: Uint8Array, marks: Marks, from = 0): void {
  const expected = [...bytes.keys()].filter((at) => at >= from && marks.includes(bytes[at] ?? -1))
  expect(findAll(bytes, marks, from)).toEqual(expected)
}

test('any bytes', () => {
  const byte = fc.constantFrom(0, 10, 13, 34, 44, 65, 127, 128, 172, 255)
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 100 }),
      fc.array(byte, { maxLength: 100 }),
      fc.nat(50),
      (some, few, from) => {
        for (const bytes of [some, Uint8Array.from(few)]) {
          expectAll(bytes, [44, 34, 10, 10], from)
          expectAll(bytes, [59, -1, 13, 10], from)
        }
      },
    ),
  )
})

test.each([65_535, 65_536, 65_537, 131_073])('%i bytes, all of them marks, and none behind the end', (length) => {
  const bytes = new Uint8Array(200_000).fill(44)
  const found = findAll(bytes.subarray(0, length), [44, 34, 10, 10])
  expect([found.length, found.at(0), found.at(-1)]).toEqual([length, 0, length - 1])
  expectAll(Uint8Array.of(65, 44, 65), [44, 34, 10, 10])
})

test('a search goes on behind a place', () => {
  const bytes = Uint8Array.from(Buffer.from('a,b,c\n'.repeat(30_000)))
  const finder = MarkFinder.ofThread()
  finder.begin(44, 34, 10, 10)
  expect([finder.seek(0), finder.count]).toEqual([0, 0])
  finder.find(bytes, bytes.length)
  expect(finder.positions[finder.seek(4)]).toBe(5)
  expect([finder.seek(100_000), finder.count, finder.find(bytes, bytes.length)]).toEqual([0, 0, true])
  expect(finder.positions[0]).toBe(100_001)
})
