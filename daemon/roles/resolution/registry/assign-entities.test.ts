// Ids stay with most of their records, and no two clusters ever share one.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assignEntities, type ClusterMemberKeys } from './assign-entities.ts'

const createEntities = (of: Readonly<Record<string, ClusterMemberKeys>>) => new Map(Object.entries(of))

describe('an entity', () => {
  test('that is found again keeps its id, with more records or fewer', () => {
    const before = createEntities({ e1: ['a', 'b'], e2: ['c', 'd', 'e'] })
    expect(
      assignEntities(
        [
          ['a', 'b', 'x'],
          ['c', 'd'],
        ],
        before,
      ).map(({ id }) => id),
    ).toEqual(['e1', 'e2'])
  })

  test('that is merged with another keeps the id of the one with more records, and says from which', () => {
    expect(
      assignEntities([['a', 'b', 'c', 'd', 'e']], createEntities({ e1: ['a', 'b'], e2: ['c', 'd', 'e'] })),
    ).toEqual([{ id: 'e2', merged_from: ['e1'], split_from: undefined }])
    const equal = createEntities({ e9: ['a', 'b'], e1: ['c', 'd'] })
    expect(assignEntities([['a', 'b', 'c', 'd']], equal)).toEqual([
      { id: 'e1', merged_from: ['e9'], split_from: undefined },
    ])
  })

  test('that is split leaves its id with the larger part, and the other says where it is from', () => {
    expect(assignEntities([['a'], ['b', 'c']], createEntities({ e1: ['a', 'b', 'c'] }))).toEqual([
      { id: undefined, merged_from: [], split_from: 'e1' },
      { id: 'e1', merged_from: [], split_from: undefined },
    ])
    const halves = assignEntities([['b'], ['a']], createEntities({ e1: ['a', 'b'] }))
    expect(halves.map(({ id }) => id)).toEqual([undefined, 'e1'])
  })

  test('that falls apart into others is merged into one of them alone', () => {
    const before = createEntities({ e1: ['a', 'b', 'c'], e2: ['d', 'e'], e3: ['f', 'g', 'h'] })
    const after = assignEntities(
      [
        ['a', 'b', 'c', 'd'],
        ['e', 'f', 'g', 'h'],
      ],
      before,
    )
    expect(after.map(({ id, merged_from }) => [id, merged_from])).toEqual([
      ['e1', ['e2']],
      ['e3', ['e2']],
    ])
  })

  test('of new records alone is new', () => {
    expect(assignEntities([['x', 'y']], createEntities({}))).toEqual([
      { id: undefined, merged_from: [], split_from: undefined },
    ])
  })
})

const records = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
/** Records by the number of their cluster. */
const clusterings = fc
  .array(fc.integer({ min: 0, max: 4 }), { minLength: records.length, maxLength: records.length })
  .map((numbers) => {
    const groups = new Map<number, string[]>()
    for (const [at, number] of numbers.entries()) groups.set(number, [...(groups.get(number) ?? []), records[at] ?? ''])
    return [...groups.values()]
  })
const before = clusterings.map((groups) => new Map(groups.map((members, at) => [`e${at}`, members])))

describe('whatever was and is', () => {
  test('each id goes to one cluster that shares a record with it, and each old one is kept or merged', () => {
    fc.assert(
      fc.property(clusterings, before, (clusters, entities) => {
        const found = assignEntities(clusters, entities)
        const ids = found.flatMap(({ id }) => (id === undefined ? [] : [id]))
        expect(new Set(ids).size).toBe(ids.length)
        for (const [at, { id }] of found.entries()) {
          if (id === undefined) continue
          expect(entities.get(id)?.some((member) => clusters[at]?.includes(member))).toBe(true)
        }
        const told = new Set([...ids, ...found.flatMap(({ merged_from }) => merged_from)])
        expect([...told].sort()).toEqual([...entities.keys()].sort())
      }),
    )
  })

  test('the order of clusters and members changes nothing', () => {
    fc.assert(
      fc.property(clusterings, before, (clusters, entities) => {
        const turned = clusters.map((members) => members.toReversed()).toReversed()
        const backwards = new Map([...entities].reverse().map(([id, members]) => [id, members.toReversed()]))
        expect(assignEntities(turned, backwards).toReversed()).toEqual(assignEntities(clusters, entities))
      }),
    )
  })

  test('the same clusters again keep every id, and nothing is merged or split', () => {
    fc.assert(
      fc.property(before, (entities) => {
        expect(assignEntities([...entities.values()], entities)).toEqual(
          [...entities.keys()].map((id) => ({ id, merged_from: [], split_from: undefined })),
        )
      }),
    )
  })
})
