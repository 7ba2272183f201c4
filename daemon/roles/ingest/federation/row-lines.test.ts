// Rows of a sent dataset as JSON lines, and a part that becomes much more than it is.
import { expect, test } from 'vitest'
import { datasetPart } from './model.ts'
import { renderLines, renderRow } from './row-lines.ts'

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

test('a small part with long names of columns does not become lines without a bound, and other work may go on within', () => {
  const columns = [{ name: '\u4e00'.repeat(1_024), type: 'int64' }] as const
  const rows = Array.from({ length: 19_000 }, () => ['1'])
  let steps = 0
  const rendering = renderLines(columns, rows)
  let step = rendering.next()
  for (; !step.done; step = rendering.next()) steps += 1
  expect(step.value).toBeUndefined()
  expect(steps).toBeGreaterThan(1_000)
  expect(steps).toBeLessThan(4_000)
})

test('the names of all columns have a bound together', () => {
  const part = (length: number) => ({
    ...{ set_id: '0'.repeat(32), name: 'orders', number: 1, parts: 1, total_rows: 0, sha256: '0'.repeat(64), rows: [] },
    columns: Array.from({ length: 1_000 }, () => ({ name: 'x'.repeat(length), type: 'text' })),
  })
  expect(datasetPart.safeParse(part(262)).success).toBe(true)
  expect(datasetPart.safeParse(part(263)).success).toBe(false)
})
