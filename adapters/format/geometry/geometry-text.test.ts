// The text of a geometry of many short pieces takes no more memory than its bytes.
import { expect, test } from 'vitest'
import { GeometryText } from './geometry-text.ts'

test('a text of millions of pieces is not kept as so many objects', () => {
  const before = process.memoryUsage().heapUsed
  const text = new GeometryText()
  text.open('MultiLineString', 'EPSG:1')
  text.addList(8_000_000, () => undefined)
  const grown = process.memoryUsage().heapUsed - before
  text.close()
  expect(text.toString()).toBe(
    `{"type":"MultiLineString","crs":{"type":"name","properties":{"name":"EPSG:1"}},"coordinates":[${','.repeat(7_999_999)}]}`,
  )
  expect(grown).toBeLessThan(150_000_000)
})
