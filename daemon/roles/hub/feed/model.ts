// An entry of a coalition's status feed as it is kept.
import * as z from 'zod'
import { feedEntry } from '../../../kernel/coalition.ts'
import { collection } from '../../../kernel/store.ts'

export const storedEntry = z.strictObject({
  tenant_id: z.string(),
  ...feedEntry.shape,
  /** Node and event id in one, where an index finds a repeat. */
  event: z.string(),
})
export type StoredEntry = z.infer<typeof storedEntry>

export const feedEntries = collection({
  name: 'feed',
  schema: storedEntry,
  indexes: ['seq', 'event', 'node', 'lens_id'],
})
