// Numbers on the command line are read as they are meant, and refused outside their range.
import { describe, expect, test } from 'vitest'
import { decimal } from './params.ts'

describe('a decimal from -10 to 10', () => {
  const { parse } = decimal('BITS', 'A number', -10, 10)
  test.each([
    ['3', 3],
    ['-3', -3],
    ['-.5', -0.5],
    ['10.0', 10],
  ])('reads %s', (input, value) => expect(parse(input)).toBe(value))
  test.each(['-10.1', '11', '--3', '3.', 'three', '1e1', ''])('refuses %j', (input) => {
    expect(() => parse(input)).toThrow('it must be a number from -10 to 10')
  })
})
