// Pieces of a text become its lines, whatever the pieces are, and the open line is shown meanwhile.
import { expect, test } from 'vitest'
import { StreamedLines } from './streamed-lines.ts'

function printPieces(...pieces: string[]) {
  const [printed, shown]: [string[], string[]] = [[], []]
  const lines = new StreamedLines({
    width: 10,
    print: (line) => void printed.push(line),
    progress: (line) => void shown.push(line),
  })
  for (const piece of pieces) lines.add(piece)
  lines.end()
  return { printed, shown }
}

test.each([
  [['one\ntwo'], ['one', 'two']],
  [
    ['o', 'ne\n', '\ntw', 'o\n'],
    ['one', '', 'two'],
  ],
  [[''], []],
])('%j is printed as %j', (pieces, printed) => {
  expect(printPieces(...pieces).printed).toEqual(printed)
})

test('the open line is shown up to the width of the terminal, and removed before it is printed', () => {
  expect(printPieces('a long open line', '\n').shown).toEqual(['open line', '', '', ''])
})
