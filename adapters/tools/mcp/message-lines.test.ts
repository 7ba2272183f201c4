// Lines of a server, however its output is cut into chunks.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MessageLines } from './message-lines.ts'

const split = (lines: MessageLines, ...chunks: readonly string[]) =>
  chunks.flatMap((chunk) => [...lines.split(Buffer.from(chunk))].map(String))

test('lines are found however the chunks cut them', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-zé]{1,8}$/)), fc.array(fc.nat(40)), (texts, cuts) => {
      const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''))
      const places = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort((a, b) => a - b)
      const lines = new MessageLines(100)
      const found = places.slice(1).flatMap((to, at) => [...lines.split(bytes.subarray(places[at], to))])
      expect(found.map(String)).toEqual(texts)
    }),
  )
})

test('ends of lines of other systems are taken, and empty lines left out', () => {
  expect(split(new MessageLines(10), 'a\r\n\n', '\r\nb', '\n')).toEqual(['a', 'b'])
})

test('a line without an end is refused once it is too long, and none before it is lost', () => {
  const lines = new MessageLines(4)
  expect(split(lines, 'ab\n', 'cd', 'ef\n', '1234')).toEqual(['ab', 'cdef'])
  expect(() => split(lines, '5')).toThrow(/larger than 4 bytes/)
})
