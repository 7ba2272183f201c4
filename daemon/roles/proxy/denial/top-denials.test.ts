// Frequent denials stay counted while many other paths are tried.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { TopDenials } from './top-denials.ts'

const kind = (path: string) => ({ reason: 'no_rule' as const, method: 'GET', path })

test('equal denials are counted together, the most frequent first', () => {
  const top = new TopDenials(10)
  for (const path of ['/a', '/b', '/b', '/c', '/b', '/a'])
    top.count(kind(path), '2026-01-01T00:00:00.000Z', '192.0.2.1')
  top.count({ ...kind('/c'), method: 'POST' }, '2026-01-01T00:00:01.000Z', '192.0.2.2')
  expect(top.total).toBe(7)
  expect(top.top(2).map(({ path, count }) => [path, count])).toEqual([
    ['/b', 3],
    ['/a', 2],
  ])
  expect(top.top(10)).toHaveLength(4)
  expect(top.top(10).at(-1)).toMatchObject({ method: 'POST', last_source: '192.0.2.2', at_most_over: 0 })
})

test('no count is too low or exceeds its stated error, and frequent denials are never lost', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30), { maxLength: 400 }), (paths) => {
      const top = new TopDenials(8)
      const true_counts = new Map<string, number>()
      for (const each of paths) {
        top.count(kind(`/${each}`), '', '')
        true_counts.set(`/${each}`, (true_counts.get(`/${each}`) ?? 0) + 1)
      }
      const counts = new Map(top.top(8).map((each) => [each.path, each]))
      for (const { path, count, at_most_over } of counts.values()) {
        const actual = true_counts.get(path) ?? 0
        expect(count).toBeGreaterThanOrEqual(actual)
        expect(count - at_most_over).toBeLessThanOrEqual(actual)
      }
      for (const [path, count] of true_counts) if (count > paths.length / 8) expect(counts.has(path)).toBe(true)
    }),
  )
})
