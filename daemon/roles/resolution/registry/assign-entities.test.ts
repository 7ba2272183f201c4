// An id stays with the largest part of its records, and no two clusters share an id.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assignEntities, type ClusterMemberKeys } from './assign-entities.ts'

const createEntities = (members: Readonly<Record<string, ClusterMemberKeys>>) => new Map(Object.entries(members))

describe('an entity', () => {
  test('keeps its id when it gains or loses records', () => {
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

  test('merged from two keeps the id of the larger one, and names the other', () => {
    expect(
      assignEntities([['a', 'b', 'c', 'd', 'e']], createEntities({ e1: ['a', 'b'], e2: ['c', 'd', 'e'] })),
    ).toEqual([{ id: 'e2', merged_from: ['e1'], split_from: undefined }])
    const equal = createEntities({ e9: ['a', 'b'], e1: ['c', 'd'] })
    expect(assignEntities([['a', 'b', 'c', 'd']], equal)).toEqual([
      { id: 'e1', merged_from: ['e9'], split_from: undefined },
    ])
  })

  test('leaves its id to the larger part of a split, and the other part names its origin', () => {
    expect(assignEntities([['a'], ['b', 'c']], createEntities({ e1: ['a', 'b', 'c'] }))).toEqual([
      { id: undefined, merged_from: [], split_from: 'e1' },
      { id: 'e1', merged_from: [], split_from: undefined },
    ])
    const halves = assignEntities([['b'], ['a']], createEntities({ e1: ['a', 'b'] }))
    expect(halves.map(({ id }) => id)).toEqual([undefined, 'e1'])
  })

  test('whose parts join other entities is merged into each of them', () => {
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

  test('of new records has no id yet', () => {
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

describe('for all clusterings', () => {
  test('each id goes to one cluster that shares a record with it, and each old id is kept or merged', () => {
    fc.assert(
      fc.property(clusterings, before, (clusters, entities) => {
        const assignments = assignEntities(clusters, entities)
        const ids = assignments.flatMap(({ id }) => (id === undefined ? [] : [id]))
        expect(new Set(ids).size).toBe(ids.length)
        for (const [at, { id }] of assignments.entries()) {
          if (id === undefined) continue
          expect(entities.get(id)?.some((member) => clusters[at]?.includes(member))).toBe(true)
        }
        const reported = new Set([...ids, ...assignments.flatMap(({ merged_from }) => merged_from)])
        expect([...reported].sort()).toEqual([...entities.keys()].sort())
      }),
    )
  })

  test('the order of clusters and members changes nothing', () => {
    fc.assert(
      fc.property(clusterings, before, (clusters, entities) => {
        const reversed = clusters.map((members) => members.toReversed()).toReversed()
        const reversedEntities = new Map([...entities].reverse().map(([id, members]) => [id, members.toReversed()]))
        expect(assignEntities(reversed, reversedEntities).toReversed()).toEqual(assignEntities(clusters, entities))
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
