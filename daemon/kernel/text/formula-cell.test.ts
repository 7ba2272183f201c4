// Formulas in cells: none is left, numbers stay, and every text is read back as it was.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeFormula, unescapeFormula } from './formula-cell.ts'

test.each([
  ['=cmd|"/c calc"!A1', `'=cmd|"/c calc"!A1`],
  ['@SUM(1)', "'@SUM(1)"],
  ['+1+cmd', "'+1+cmd"],
  ['-2+3', "'-2+3"],
  ['\t=1', "'\t=1"],
  ['\r=1', "'\r=1"],
  ['\n=1', "'\n=1"],
  ['\0=1', "'\0=1"],
  ['＝1+1', "'＝1+1"],
  ['＠SUM(1)', "'＠SUM(1)"],
  ["'=1", "''=1"],
  ['-', "'-"],
  ['-5', '-5'],
  ['+49.5', '+49.5'],
  ['-1e-7', '-1e-7'],
  ['+49 30 1234', '+49 30 1234'],
  ['+49 (0)30 123 456', '+49 (0)30 123 456'],
  ['+49.30.123.456', '+49.30.123.456'],
  ['+1 (555) 123-4567', '+1 (555) 123-4567'],
  ['+1-555-123-4567', "'+1-555-123-4567"],
  ['+1-2', "'+1-2"],
  ['+1 - 555123', "'+1 - 555123"],
  ['+1(2)', "'+1(2)"],
  ['+49 30 1234/5', "'+49 30 1234/5"],
  ['+49 30 1234 x5', "'+49 30 1234 x5"],
  ['+49 30 1234\n', "'+49 30 1234\n"],
  ['+(49) 30 1234', "'+(49) 30 1234"],
  ['-49 30 1234', "'-49 30 1234"],
  [`+1 2${' '.repeat(100_000)}3`, `'+1 2${' '.repeat(100_000)}3`],
  ["'+49 30 1234", "'+49 30 1234"],
  ['-1.5e+300', '-1.5e+300'],
  ['-1e-7+cmd', "'-1e-7+cmd"],
  ["'tis", "'tis"],
  ['a=b', 'a=b'],
  ['', ''],
])('%j is written as %j', (text, cell) => {
  expect(escapeFormula(text)).toBe(cell)
  expect(unescapeFormula(cell)).toBe(text)
})

/** Whether a cell may be evaluated: one that begins like a formula, but for numbers and for texts of digits without an operator. */
function isRun(cell: string): boolean {
  if (/^[+-]\d+([.,]\d+)?([eE][+-]?\d+)?$/.test(cell)) return false
  if (/^\+\d[\d .()]*$/.test(cell) || /^\+\d[\d .()-]*[\d)] +[\d(][\d .()-]*$/.test(cell)) return false
  return /^[=+\-@\0\t\n\r＝＋]/.test(cell)
}

test('every text is read back as it was, and no cell begins a formula', () => {
  const texts = fc.string({
    unit: fc.constantFrom(
      ...["'", '=', '+', '-', '@', '\t', '\n', '\r', '\0', '＝', '＋', '1', '.', 'a', ' ', '(', ')'],
    ),
  })
  fc.assert(
    fc.property(texts, (text) => {
      const cell = escapeFormula(text)
      expect(unescapeFormula(cell)).toBe(text)
      expect(isRun(cell)).toBe(false)
    }),
  )
})
