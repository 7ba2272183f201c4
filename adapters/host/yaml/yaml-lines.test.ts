// Finds the line of a value by its path; for a missing value, the line of its nearest present parent.
import { expect, test } from 'vitest'
import { yamlLineLocator } from './yaml-lines.ts'

const text = 'lens: a\nfields:\n  - name: x\n    type: y\n  - { name: z,\n      type: w }\n'

test.each([
  [['lens'], 1],
  [['fields'], 2],
  [['fields', 0, 'type'], 4],
  [['fields', 1], 5],
  [['fields', 1, 'type'], 6],
  [['fields', 1, 'columns', 3], 5],
  [['fields', 7, 'name'], 2],
  [['version'], 1],
  [[], 1],
] as const)('%j is in line %i', (path, line) => {
  expect(yamlLineLocator(text)(path)).toBe(line)
})
