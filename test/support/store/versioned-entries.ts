// One collection as two releases know it: documents of version 2 have `name` for `title`.
import * as z from 'zod'
import { collection, type StoredFields } from '../../../daemon/kernel/store/store.ts'

const base = { tenant_id: z.string(), rank: z.number() }

export const firstEntries = collection({
  name: 'entry',
  schema: z.strictObject({ ...base, title: z.string() }),
  indexes: ['rank'],
})

export const secondEntries = collection({
  name: 'entry',
  schema: z.strictObject({ ...base, name: z.string() }),
  indexes: ['rank', 'name'],
  migrations: [{ to: 2, summary: 'title is name', change: renameTitle }],
})

function renameTitle(value: StoredFields): StoredFields {
  if (!('title' in value)) return value
  const { title, ...rest } = value
  return { ...rest, name: title } as StoredFields
}

export const entryOf = (at: number) => ({ tenant_id: 'alpha', rank: at, title: `entry ${at}` })
