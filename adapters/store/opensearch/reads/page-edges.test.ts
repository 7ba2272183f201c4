// The range searched for a page, estimated from earlier pages of the same list; lists are distinguished.
import { expect, test } from 'vitest'
import type { ListQuery } from '../../../../daemon/kernel/store/store.ts'
import { PageEdges } from './page-edges.ts'

const query: ListQuery = { limit: 10, filter: { tenant_id: 'alpha' } }

test('numbers: the span of the first page, from the start of the next', () => {
  const edges = new PageEdges()
  expect(edges.findEdge('note rank', query, undefined)).toBeUndefined()
  edges.record('note rank', query, { first: 100, last: 90 })
  expect(edges.findEdge('note rank', query, undefined)).toBe(80)
  expect(edges.findEdge('note rank', query, 50)).toBe(30)
  edges.record('note rank', query, { first: 1, last: 4 })
  expect(edges.findEdge('note rank', query, undefined)).toBe(7)
  edges.record('note rank', query, { first: 5, last: 5 })
  expect(edges.findEdge('note rank', query, undefined)).toBe(5)
  expect(edges.findEdge('note rank', query, 5)).toBeUndefined()
  edges.record('note rank', query, { first: -1e308, last: 1e308 })
  expect(edges.findEdge('note rank', query, undefined)).toBeUndefined()
})

test('texts: the first page alone, up to its end', () => {
  const edges = new PageEdges()
  edges.record('note id', query, { first: 'a', last: 'k' })
  expect(edges.findEdge('note id', query, undefined)).toBe('k')
  expect(edges.findEdge('note id', query, 'k')).toBeUndefined()
})

test('a list is identified by its whole query, and forgotten when its first page is its last', () => {
  const edges = new PageEdges()
  edges.record('note id', query, { first: 'a', last: 'k' })
  const scope = { viewer: { tenant_id: 'alpha', clearance: undefined }, policy: { policy: 'site', levels: ['OPEN'] } }
  const others: ListQuery[] = [
    { ...query, limit: 9 },
    { ...query, filter: {} },
    { ...query, read_scope: scope },
  ]
  for (const other of others) expect(edges.findEdge('note id', other, undefined)).toBeUndefined()
  expect(edges.findEdge('other id', query, undefined)).toBeUndefined()
  expect(edges.findEdge('note id', { ...query, cursor: 'x', fresh: true }, undefined)).toBe('k')
  edges.record('note id', query, undefined)
  expect(edges.findEdge('note id', query, undefined)).toBeUndefined()
})

test('at most 1,000 lists are recorded; the oldest are forgotten', () => {
  const edges = new PageEdges()
  for (let n = 0; n <= 1_000; n++) edges.record('note id', { ...query, limit: n }, { first: 'a', last: 'k' })
  expect(edges.findEdge('note id', { ...query, limit: 0 }, undefined)).toBeUndefined()
  expect(edges.findEdge('note id', { ...query, limit: 1 }, undefined)).toBe('k')
})
