// Rows of a sent dataset as JSON lines.
import { expect, test } from 'vitest'
import { renderRow } from './row-lines.ts'

test('each type is written as docs/filedrop-format.md states it, and reads as itself', () => {
  const columns = [
    { name: 'a "b"', type: 'text' },
    { name: 'truth', type: 'boolean' },
    { name: 'small', type: 'int32' },
    { name: 'large', type: 'int64' },
    { name: 'real', type: 'double' },
    { name: 'end', type: 'double' },
    { name: 'day', type: 'date' },
    { name: 'at', type: 'timestamp', unit: 'ns' },
    { name: 'none', type: 'int64' },
  ] as const
  const row = [
    '007\n',
    'TRUE',
    '-7',
    '9223372036854775807',
    '1e-7',
    '-Infinity',
    '2024-02-29',
    '2024-02-29T13:00:00.123456789Z',
    null,
  ]
  const line = renderRow(columns, row)
  expect(line).toBe(
    '{"a \\"b\\"":"007\\n","truth":true,"small":-7,"large":9223372036854775807,"real":1e-7,"end":"-Infinity","day":"2024-02-29","at":"2024-02-29T13:00:00.123456789Z","none":null}\n',
  )
})

test('a text that is not of its type is a text, so that no peer writes JSON of its own', () => {
  const columns = [{ name: 'n', type: 'int64' }] as const
  expect(renderRow(columns, ['1},{"x":1'])).toBe('{"n":"1},{\\"x\\":1"}\n')
})
