// The value of an entity that survives by each rule, for any order of its records.
import { expect, test } from 'vitest'
import type { SurvivorshipRule } from '../lens/field.ts'
import { type GoldenMember, GoldenRecordBuilder } from './golden-record.ts'

const members: readonly GoldenMember[] = [
  { ref: { node_id: 'crm', record_id: '1' }, values: { name: 'ann lee', phone: '1' }, at: '2026-01-01' },
  { ref: { node_id: 'crm', record_id: '2' }, values: { name: 'ann lee' }, at: '2026-01-02' },
  { ref: { node_id: 'web', record_id: '9' }, values: { name: 'annabel lee', phone: '22' }, at: '2026-01-03' },
  { ref: { node_id: 'bank', record_id: '5' }, values: { name: 'a lee', phone: '33' }, at: '2025-12-31' },
]

async function survive(rule: SurvivorshipRule | undefined, among = members, source_order?: string[]) {
  const fields = ['name', 'phone', 'mail'].map((name) => ({ name, ...(rule ? { survivorship: rule } : {}) }))
  const builder = new GoldenRecordBuilder({ fields, source_order })
  for (const member of among) builder.add(member)
  return await builder.build(async () => undefined)
}
const valuesOf = async (rule?: SurvivorshipRule, order?: string[]) =>
  (await survive(rule, members, order)).map(({ value }) => value)

test('by default the most frequent value survives, then the longest, then that of the first source', async () => {
  expect(await survive(undefined)).toEqual([
    {
      ...{ field: 'name', value: 'ann lee', rule: 'most_frequent' },
      ...{ record: { node_id: 'crm', record_id: '1' }, records: 2, of: 4 },
    },
    {
      ...{ field: 'phone', value: '33', rule: 'most_frequent' },
      ...{ record: { node_id: 'bank', record_id: '5' }, records: 1, of: 3 },
    },
  ])
  expect(await valuesOf(undefined, ['web'])).toEqual(['ann lee', '22'])
})

test.each<[SurvivorshipRule, string[] | undefined, string[]]>([
  ['longest', undefined, ['annabel lee', '33']],
  ['newest', undefined, ['annabel lee', '22']],
  ['oldest', undefined, ['a lee', '33']],
  ['first_source', undefined, ['a lee', '33']],
  ['first_source', ['crm', 'web'], ['ann lee', '1']],
])('%s with sources %j', async (rule, order, expected) => {
  expect(await valuesOf(rule, order)).toEqual(expected)
})

test('the order of the records changes nothing, and a field without a value is absent', async () => {
  for (const rule of ['most_frequent', 'longest', 'newest', 'oldest', 'first_source'] as const)
    expect(await survive(rule, members.toReversed())).toEqual(await survive(rule))
  expect((await survive(undefined)).map(({ field }) => field)).not.toContain('mail')
  expect(await survive(undefined, [])).toEqual([])
})

test('a record without a time is older than all others', async () => {
  const [first, ...rest] = members
  const undated = { ...first, at: undefined } as GoldenMember
  expect((await survive('oldest', [undated, ...rest]))[0]?.value).toBe('ann lee')
  expect((await survive('newest', [undated, ...rest]))[0]?.value).toBe('annabel lee')
})
