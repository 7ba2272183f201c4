// The report at the end of a run about its time: the slowest files first, and a folder beyond its share.
import { expect, test } from 'vitest'
import { formatTimeReport } from './time-report.ts'

const times = [
  { file: 'test/sites/demo.test.ts', duration_ms: 6_000 },
  { file: 'test/cli/help.test.ts', duration_ms: 1_000 },
  { file: 'daemon/kernel/label/label.test.ts', duration_ms: 3_000 },
]

const budget = { 'test/sites': 50, 'test/cli': 20, other: 40 }

test('names the slowest files, and marks the folder that takes more than its share', () => {
  expect(formatTimeReport(times, budget, true)).toEqual([
    'Test time over all workers: 10.0 s. Slowest files:',
    '    6.0 s  test/sites/demo.test.ts',
    '    3.0 s  daemon/kernel/label/label.test.ts',
    '    1.0 s  test/cli/help.test.ts',
    'Share of each folder:',
    '    6.0 s   60 % of  50 %  test/sites  OVER BUDGET',
    '    3.0 s   30 % of  40 %  other',
    '    1.0 s   10 % of  20 %  test/cli',
  ])
})

test('shows shares alone for a part of the tests', () => {
  expect(formatTimeReport(times, budget, false).slice(-3)).toEqual([
    '    6.0 s   60 %  test/sites',
    '    3.0 s   30 %  other',
    '    1.0 s   10 %  test/cli',
  ])
})
