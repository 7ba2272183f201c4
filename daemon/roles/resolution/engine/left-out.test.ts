// The pairs that a run keeps at its limit.
import { expect, test } from 'vitest'
import { lens as lensSchema } from '../lens/model.ts'
import { chooseMatches, listTextsLeftOut } from './left-out.ts'
import type { Resolution } from './resolve.ts'

/** Pairs of the rows 0 and 1, 2 and 3, and so on; `linked`: the pairs whose rows are one cluster. */
function buildResolution(scores: readonly number[], linked: readonly number[]) {
  const length = scores.length
  const lefts = Int32Array.from({ length }, (_, pair) => 2 * pair)
  const rights = Int32Array.from({ length }, (_, pair) => 2 * pair + 1)
  const clusters = Int32Array.from({ length: 2 * length }, (_, row) => (linked.includes(row >> 1) ? row & ~1 : row))
  const compared = { lefts, rights, length } as Resolution['compared']
  return { compared, scores: Float64Array.from(scores), clusters, floor: -1 }
}

function choose(scores: readonly number[], linked: readonly number[], limit: number) {
  return chooseMatches(buildResolution(scores, linked), limit)
}

test('below the limit every linked pair is a match, and every other one above the floor', () => {
  expect(choose([5, -2, 0, -1, -3], [0, 4], 3)).toEqual({ pairs: [0, 2, 4], left_out: [] })
})

test('above the limit linked pairs come before better others, then the highest scores, then the first', () => {
  const scores = [3, 9, -2, 4, 4, 4, -5]
  const leftOut = (count: number, limit: number) => [{ what: 'matches', count, limit }]
  expect(choose(scores, [0, 2], 4)).toEqual({ pairs: [0, 1, 2, 3], left_out: leftOut(2, 4) })
  expect(choose(scores, [0, 2], 2)).toEqual({ pairs: [0, 2], left_out: leftOut(4, 2) })
  expect(choose(scores, [0, 2], 1)).toEqual({ pairs: [0], left_out: leftOut(5, 1) })
})

test('neighbours by text are reported where a lens is told by texts and the records are too many', () => {
  const lens = lensSchema.parse({
    ...{ lens: 'things', version: '1.0.0', entity_type: 'thing', told_by: 'texts' },
    fields: [{ name: 'title', type: 'text' }],
  })
  expect(listTextsLeftOut(lens, 250_000)).toEqual([])
  expect(listTextsLeftOut(lens, 250_001)).toEqual([{ what: 'text_neighbours', count: 250_001, limit: 250_000 }])
  expect(listTextsLeftOut({ ...lens, told_by: 'fields' }, 250_001)).toEqual([])
  expect(listTextsLeftOut({ ...lens, blocking: ['title'] }, 250_001)).toEqual([])
})
