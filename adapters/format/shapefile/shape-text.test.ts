// Shapes as GeoJSON: every type, the rings of polygons, and contents that lie about what they have.
import { describe, expect, test } from 'vitest'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { encodeParts, encodeShape } from '../../../test/support/data/write-shapefile.ts'
import { shapeTextOf } from './shape-text.ts'

const square = [
  [0, 0],
  [0, 9],
  [9, 9],
  [9, 0],
  [0, 0],
] as const
const hole = [
  [1, 1],
  [2, 1],
  [2, 2],
  [1, 1],
] as const
const apart = [
  [20, 0],
  [20, 5],
  [25, 5],
  [20, 0],
] as const
const withinHole = [
  [4, 4],
  [4, 5],
  [5, 5],
  [4, 4],
] as const

describe('a shape is GeoJSON:', () => {
  test.each<[what: string, shape: Uint8Array, text: string | undefined]>([
    ['none', encodeShape(0), undefined],
    ['a point', encodeShape(1, 1.5, -2), '{"type":"Point","coordinates":[1.5,-2]}'],
    ['a point with a height', encodeShape(11, 1, 2, 3, 4), '{"type":"Point","coordinates":[1,2,3]}'],
    ['a point with a measure', encodeShape(21, 1, 2, 9), '{"type":"Point","coordinates":[1,2]}'],
    ['points', encodeShape(8, 0, 0, 0, 0, { int: 2 }, 1, 2, 3, 4), '{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}'],
    [
      'points with heights',
      encodeShape(18, 0, 0, 0, 0, { int: 2 }, 1, 2, 3, 4, 7, 8, 7, 8),
      '{"type":"MultiPoint","coordinates":[[1,2,7],[3,4,8]]}',
    ],
    [
      'a line',
      encodeParts(3, [
        [
          [0, 0],
          [1, 1],
        ],
      ]),
      '{"type":"LineString","coordinates":[[0,0],[1,1]]}',
    ],
    [
      'lines with heights',
      encodeParts(
        13,
        [
          [
            [0, 0],
            [1, 1],
          ],
          [[2, 2]],
        ],
        [5, 7, 5, 6, 7],
      ),
      '{"type":"MultiLineString","coordinates":[[[0,0,5],[1,1,6]],[[2,2,7]]]}',
    ],
    ['lines without a part', encodeParts(23, []), '{"type":"MultiLineString","coordinates":[]}'],
    ['a polygon', encodeParts(5, [square]), '{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,9],[0,0]]]}'],
    [
      'polygons, each hole in the smallest ring around it',
      encodeParts(25, [
        apart,
        hole,
        square,
        withinHole,
        [
          [4.5, 4.7],
          [4.6, 4.7],
          [4.6, 4.8],
          [4.5, 4.7],
        ],
      ]),
      JSON.stringify({
        type: 'MultiPolygon',
        coordinates: [
          [apart.toReversed()],
          [square.toReversed(), hole.toReversed()],
          [
            withinHole.toReversed(),
            [
              [4.5, 4.7],
              [4.6, 4.8],
              [4.6, 4.7],
              [4.5, 4.7],
            ],
          ],
        ],
      }),
    ],
    [
      'a hole without a ring',
      encodeParts(5, [
        square,
        apart,
        [
          [50, 1],
          [52, 1],
          [52, 2],
          [50, 1],
        ],
      ]),
      JSON.stringify({
        type: 'MultiPolygon',
        coordinates: [
          [square.toReversed()],
          [apart.toReversed()],
          [
            [
              [50, 1],
              [52, 1],
              [52, 2],
              [50, 1],
            ],
          ],
        ],
      }),
    ],
  ])('%s', (_, shape, text) => {
    expect(shapeTextOf(shape, undefined)).toBe(text)
  })

  test.each<[what: string, shape: Uint8Array, fault: string]>([
    ['of an unknown type', encodeShape(31, 0), 'a shape of type 31, which GeoJSON does not have'],
    ['without a type', Buffer.alloc(0), 'it ends too early'],
    ['a point that is cut', encodeShape(1, 1), 'it ends too early'],
    ['four billion points', encodeShape(8, 0, 0, 0, 0, { int: 0xffff_ffff }, 1, 2), 'it ends too early'],
    ['four billion parts', encodeShape(3, 0, 0, 0, 0, { int: 0xffff_ffff }, { int: 0 }), 'it ends too early'],
    ['no heights', encodeShape(18, 0, 0, 0, 0, { int: 1 }, 1, 2), 'it ends too early'],
    ['parts beyond the points', encodeShape(3, 0, 0, 0, 0, { int: 1 }, { int: 1 }, { int: 9 }, 1, 2), 'not in order'],
    [
      'parts that go back',
      encodeShape(5, 0, 0, 0, 0, { int: 2 }, { int: 2 }, { int: 1 }, { int: 0 }, 1, 2, 3, 4),
      'not in order',
    ],
    ['a coordinate without a number', encodeShape(1, Number.NaN, 2), 'a coordinate that is not a number'],
  ])('%s is refused', (_, shape, fault) => {
    expect(() => shapeTextOf(shape, undefined)).toThrow(DataFault)
    expect(() => shapeTextOf(shape, undefined)).toThrow(fault)
  })

  test('a hole may touch the ring around it, by a corner or all of them', () => {
    const touching = [
      [
        [9, 9],
        [5, 6],
        [6, 5],
        [9, 9],
      ],
      [
        [9, 5],
        [8, 6],
        [8, 4],
        [9, 5],
      ],
      [
        [5, 9],
        [4, 8],
        [6, 8],
        [5, 9],
      ],
      [
        [9, 3],
        [9, 6],
        [3, 9],
        [9, 3],
      ],
    ] as const
    for (const inner of touching) {
      const text = shapeTextOf(encodeParts(5, [apart, square, inner]), undefined)
      expect(JSON.parse(text ?? '').coordinates).toEqual([
        [apart.toReversed()],
        [square.toReversed(), inner.toReversed()],
      ])
    }
  })

  test('parts without points, and rings of one, take no memory of the service', () => {
    const empty = Buffer.alloc(44 + 4_000_000)
    for (const [value, at] of [
      [3, 0],
      [1_000_000, 36],
    ] as const)
      empty.writeUInt32LE(value, at)
    expect(() => shapeTextOf(empty, undefined)).toThrow('it has more parts than points')
    const single = encodeParts(
      5,
      Array.from({ length: 100_001 }, () => [[1, 1]]),
    )
    expect(() => shapeTextOf(single, undefined)).toThrow('a shape of too many rings')
  })

  test('rings that would take hours to assign are refused', () => {
    const outer = Array.from({ length: 12_000 }, () => square)
    const inner = Array.from({ length: 12_000 }, () => hole)
    expect(() => shapeTextOf(encodeParts(5, [...outer, ...inner]), undefined)).toThrow('a shape of too many rings')
  })
})
