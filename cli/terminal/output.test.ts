// Untrusted text cannot control the terminal; columns are aligned.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapingTerminal } from './escaping-terminal.ts'
import { colourText, formatFields, formatTable, keepLayout, line_break, printResult } from './output.ts'
import type { Terminal } from './terminal.ts'

function terminal(hasColour = false) {
  const lines: string[] = []
  const made: Terminal = {
    env: {},
    isInteractive: hasColour,
    canPrompt: false,
    hasColour,
    width: 80,
    print: (line) => void lines.push(line),
    note: () => undefined,
    progress: () => undefined,
    prompt: async () => undefined,
    promptSecret: async () => undefined,
    readInput: async () => undefined,
    inputBytes: () => undefined,
  }
  return { made, lines }
}

const hostile = 'x\nerror: forged\ta\u001b[2Jb\u009bc\u202ed\u2028e\u0007\u{e0001}'

test('no control character of others reaches a terminal, in any form of output', () => {
  const { made, lines } = terminal()
  const formatted = [
    formatTable(made, [{ name: `${hostile}\n` }], ['name'], 'none'),
    formatFields(made, { name: hostile }),
    hostile,
  ]
  const shown = escapingTerminal(made)
  for (const text of formatted) shown.print(text)
  printResult(shown, true, { name: hostile }, () => '')
  for (const each of lines.flatMap((text) => text.split('\n'))) {
    expect(each).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  }
  expect(lines.map((text) => text.split('\n').length)).toEqual([2, 1, 1, 1])
})

test('JSON on stdout is the value again, whatever it holds', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const { made, lines } = terminal()
      printResult(made, true, value, () => '')
      expect(JSON.parse(lines[0] ?? '')).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('columns line up, and absent cells are a dash', () => {
  const { made } = terminal()
  const drawn = formatTable(made, [{ id: 'long one', state: 'OK' }, { id: 'b' }], ['id', 'state'], 'none')
  expect(drawn.split(line_break)).toEqual(['ID        STATE', 'long one  OK', 'b         -'])
  expect(formatTable(made, [], ['id'], 'there is none')).toBe('there is none')
})

test('figures for people have four decimals that count, without the noise of binary fractions', () => {
  const { made, lines } = terminal()
  const score = 0.1 + 0.82 - 1e-16
  const shown = [0.9199999999, 0.7 - 0.1, 1 / 3, 0.00001234567, 2 / 3 + 1, 0, 1, 8001, 1_700_000_000_123]
  const drawn = formatTable(
    made,
    shown.map((value) => ({ value })),
    ['value'],
    'none',
  )
  expect(drawn.split(line_break).slice(1)).toEqual([
    '0.92',
    '0.6',
    '0.3333',
    '0.00001235',
    '1.6667',
    '0',
    '1',
    '8001',
    '1700000000123',
  ])
  expect(formatFields(made, { score: 0.9199999999 })).toBe('score  0.92')
  printResult(made, true, { score }, () => '')
  expect(lines).toEqual([JSON.stringify({ score })])
})

test('colours are there only where they are wanted', () => {
  const { made, lines } = terminal(true)
  escapingTerminal(made).print(colourText(made, 'red', 'x\u001b[31my\t'))
  expect(lines).toEqual(['\u001b[31mx\\u001b[31my\\t\u001b[0m'])
  expect(colourText(terminal(false).made, 'red', 'x')).toBe('x')
})

test('line ends and tabs are there where they are the structure of a text, and nowhere else', () => {
  const { made, lines } = terminal()
  const shown = escapingTerminal(made)
  shown.print(['one\ntwo', 'three'].join(line_break))
  shown.print(keepLayout('{\n\t"a": 1\n}'))
  expect(lines).toEqual(['one\\ntwo\nthree', '{\n\t"a": 1\n}'])
})
