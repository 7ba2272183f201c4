// Pages end at their limit of documents or of bytes, and hold at least one document.
import { expect, test } from 'vitest'
import { PageFill } from './page-fill.ts'

test.each([
  ['its limit of documents', 2, [1, 1, 1], 2],
  ['its bound of bytes', 9, [4, 6, 1], 2],
  ['its first document, however large', 9, [99, 1], 1],
])('a page ends at %s', (_end, limit, sizes, documents) => {
  const fill = new PageFill(limit, 10)
  expect(sizes.findIndex((bytes) => !fill.add(bytes))).toBe(documents)
})
