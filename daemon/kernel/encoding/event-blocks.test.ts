// Events come out whole, whichever line ends their service uses and wherever the network cuts them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventBlocks } from './event-blocks.ts'

/** The data of each event of the stream, which arrives in these chunks. */
function readData(chunks: readonly Buffer[]): string[] {
  const blocks = new EventBlocks()
  return chunks.flatMap((chunk) => [...blocks.split(chunk)].map((block) => block.toString().trim()))
}

function cutInto(text: string, sizes: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text)
  const chunks: Buffer[] = []
  let from = 0
  for (let at = 0; from < bytes.length; at += 1) {
    const size = sizes[at % sizes.length] ?? 1
    chunks.push(bytes.subarray(from, from + size))
    from += size
  }
  return chunks
}

const lineEnds = fc.constantFrom('\n', '\r', '\r\n')

test('an event is what stands before a blank line, by any line ends and in any chunks', () => {
  const data = fc.array(
    fc.stringMatching(/^[a-zž😀]{1,20}$/u).map((text) => `data: ${text}`),
    { minLength: 1, maxLength: 6 },
  )
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 })
  fc.assert(
    fc.property(data, lineEnds, sizes, (events, end, cuts) => {
      const text = events.map((event) => `${event}${end}${end}`).join('')
      // A CR at the very end may be half of a CR LF; it ends its line all the same.
      expect(readData(cutInto(text, cuts))).toEqual(events)
    }),
  )
})

test.each<[string, string, string[]]>([
  ['an event without its blank line', 'data: a\n', []],
  ['blank lines and comments alone', '\n\n\r\n:\n\n:\r\n\r\n', []],
  ['an event after blank lines', '\n\n\ndata: a\n\n', ['data: a']],
  ['mixed line ends', 'data: a\r\n\ndata: b\n\r\ndata: c\r\r', ['data: a', 'data: b', 'data: c']],
])('%s', (_, text, events) => {
  for (const size of [1, 2, 3, 100]) expect(readData(cutInto(text, [size]))).toEqual(events)
})
