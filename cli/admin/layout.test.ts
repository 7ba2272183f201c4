// Lines and columns are shared so that what matters fits, on any terminal.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { computeColumnWidths, computeFirstRow, computePaneHeights, pane_overhead_rows, wrapText } from './layout.ts'
import { buildPaneTable } from './tables.ts'
import { panes } from './view.ts'

test('80 by 24 shows all panes, or those beside the one in focus; a handful of lines that one alone', () => {
  expect(computePaneHeights(24, 'sessions', { roles: 2, sessions: 50, channels: 2 })).toEqual({
    roles: 2,
    channels: 2,
    sessions: 11,
  })
  expect(computePaneHeights(24, 'denials', { roles: 1, denials: 40 })).toEqual({ roles: 1, denials: 16 })
  expect(computePaneHeights(24, 'roles', { roles: 3, sessions: 9, channels: 2, denials: 40 })).toEqual({
    ...{ roles: 2, channels: 2, denials: 4, sessions: 5 },
  })
  expect(computePaneHeights(24, 'quotas', { roles: 2, services: 9, tools: 40, quotas: 90, decisions: 7 })).toEqual({
    ...{ roles: 2, services: 2, tools: 2, quotas: 3, decisions: 2 },
  })
  const everyPane = Object.fromEntries(panes.map((pane) => [pane, 50]))
  expect(computePaneHeights(24, 'decisions', everyPane)).toEqual({
    ...{ guidance: 2, services: 2, tools: 2, quotas: 3, decisions: 2 },
  })
  expect(Object.keys(computePaneHeights(24, 'sessions', everyPane)).sort()).toEqual([
    'channels',
    'pipelines',
    'roles',
    'sessions',
  ])
  expect(computePaneHeights(10, 'channels', { roles: 2, sessions: 50, channels: 2 })).toEqual({ channels: 5 })
})

test('panes never take more lines than there are', () => {
  const count = fc.nat(40)
  fc.assert(
    fc.property(fc.integer({ min: 8, max: 200 }), fc.subarray([...panes]), fc.array(count), (lines, here, some) => {
      const counts = Object.fromEntries(here.map((pane, at) => [pane, some[at] ?? 0]))
      const shared = Object.values(computePaneHeights(lines, 'roles', { roles: 1, ...counts }))
      expect(shared.every((height) => height >= 1)).toBe(true)
      expect(shared.reduce((sum, height) => sum + height + pane_overhead_rows, 0)).toBeLessThanOrEqual(lines - 3)
    }),
  )
})

test('every table fits, and at 80 columns nothing of it is left out', () => {
  for (const pane of panes) {
    for (const terminal of [30, 60, 79, 80, 100, 111, 200]) {
      const { columns } = buildPaneTable(pane, [], terminal)
      const sizes = computeColumnWidths(columns, terminal - 2)
      expect(sizes.reduce((sum, size) => sum + size + 2, -2)).toBeLessThanOrEqual(terminal - 2)
      expect(columns.every(({ heading }, at) => heading.length <= (sizes[at] ?? 0))).toBe(true)
    }
  }
  expect(panes.map((pane) => buildPaneTable(pane, [], 80).columns.length)).toEqual([4, 6, 4, 10, 5, 7, 5, 4, 5, 5])
})

test('the selected row is always among those shown', () => {
  fc.assert(
    fc.property(
      fc.nat(300),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 300 }),
      (given, height, count) => {
        const selected = given % count
        const first = computeFirstRow(selected, height, count)
        expect(first).toBeGreaterThanOrEqual(0)
        expect(selected - first).toBeGreaterThanOrEqual(0)
        expect(selected - first).toBeLessThan(height)
      },
    ),
  )
})

test('prose is wrapped at words, indents are kept, and nothing is lost', () => {
  expect(wrapText('  one two three', 9)).toEqual(['  one two', '  three'])
  expect(wrapText('a\n\nb', 9)).toEqual(['a', '', 'b'])
  expect(wrapText('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij'])
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 5, max: 80 }), (text, columns) => {
      const lines = wrapText(text, columns)
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(/[ \n]/g, ''))
      expect(lines.every((line) => line.length <= columns)).toBe(true)
    }),
  )
})
