// Lines of a watch, however the network divides them, and never more of one than the bound.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitLines } from './split-lines.ts'

async function* inChunks(text: string, cuts: readonly number[]) {
  const bytes = Buffer.from(text)
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((one, other) => one - other)
  let from = 0
  for (const end of [...ends, bytes.length]) {
    yield bytes.subarray(from, end)
    from = end
  }
}

async function collect(lines: AsyncIterable<Buffer>): Promise<string[]> {
  const all: string[] = []
  for await (const line of lines) all.push(line.toString())
  return all
}

test('lines are whole however they arrive, and a broken last one is left out', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.string({ maxLength: 20 })), fc.array(fc.nat(200)), async (texts, cuts) => {
      const lines = texts.map((text) => text.replaceAll('\n', ' '))
      const sent = `${lines.map((line) => `${line}\n`).join('')}broken`
      expect(await collect(splitLines(inChunks(sent, cuts), 1_000))).toEqual(lines.filter((line) => line !== ''))
    }),
  ))

test.each(['x'.repeat(101), `${'x'.repeat(101)}\n`])('a line beyond the bound ends the reading', async (text) => {
  await expect(collect(splitLines(inChunks(text, [50]), 100))).rejects.toThrow('an event of more than 100 bytes')
})
