// Features of GeoJSON as records: properties, id and geometry; an item that is not a feature is a bad record with its number.
import { expect, test } from 'vitest'
import type { RejectedRecord } from '../../../daemon/kernel/data/data-fault.ts'
import { usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { listRows, memorySource } from '../../../test/support/data/memory-source.ts'
import { readGeoJson } from './read-json.ts'

const point = { type: 'Point', coordinates: [12.5, -3] }
const feature = (properties: unknown, more: object = {}) => ({ type: 'Feature', properties, geometry: point, ...more })
const collect = (features: readonly unknown[]) =>
  JSON.stringify({ type: 'FeatureCollection', name: 'x', features, bbox: [0, 0, 1, 1] })

function read(text: string, rejected?: RejectedRecord[], cuts: readonly number[] = []) {
  const onReject = rejected && ((record: RejectedRecord) => void rejected.push(record))
  const options = { limits: usualLimits, isSelected: () => true, ...(onReject && { onReject, hasLines: true }) }
  return listRows(readGeoJson(memorySource(Buffer.from(text), cuts), '|', options))
}

test('each feature is a record of its properties, wherever reads end', async () => {
  const text = collect([
    feature({ name: 'A', tags: ['x', 'y'] }, { id: 7 }),
    feature({ name: 'B' }, { geometry: null }),
    feature(null),
  ])
  const expected = [
    ['7', 'A', 'x|y', JSON.stringify(point)],
    [null, 'B', null, null],
    [null, null, null, JSON.stringify(point)],
  ]
  for (let cut = 0; cut <= text.length; cut += 7) {
    const { names, rows } = await read(text, undefined, [cut])
    expect([names, rows]).toEqual([['feature_id', 'name', 'tags', 'geometry'], expected])
  }
})

test('an item that is not a feature is left out with its number and the reason', async () => {
  const rejected: RejectedRecord[] = []
  const { rows } = await read(
    collect([
      feature({ n: 1 }),
      point,
      feature([]),
      { type: 'Feature', properties: {} },
      feature({}, { id: {} }),
      feature({ geometry: 1 }),
      feature({ n: 2 }),
    ]),
    rejected,
  )
  expect(rows).toHaveLength(2)
  expect(rejected.map(({ reason, place }) => [place.line, reason.split(':')[0]])).toEqual([
    [2, 'the item is not a feature'],
    [3, 'the feature has no object of properties'],
    [4, 'the feature has no geometry'],
    [5, 'the id of the feature is not a text or a number'],
    [6, 'the feature has a property geometry, and the record a column of that name'],
  ])
})

test.each([
  ['a feature alone', JSON.stringify(feature({})), 'the document has no list at /features'],
  ['a document that ends early', collect([feature({})]).slice(0, -4), 'it ends too early'],
  [
    'a member twice',
    '{"features": [{"type": "Feature", "type": "Feature", "properties": {}, "geometry": null}]}',
    'is repeated',
  ],
])('%s is refused', async (_, text, reason) => {
  await expect(read(text)).rejects.toThrow(reason)
})
