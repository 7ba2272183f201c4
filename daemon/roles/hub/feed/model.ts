// A stored entry of a coalition's status feed.
import * as z from 'zod'
import { collection } from '../../../kernel/store/store.ts'
import { feedEntry } from '../../../shared/coalition/hub-protocol.ts'

const storedFeedEntry = z.strictObject({
  tenant_id: z.string(),
  ...feedEntry.shape,
  /** Node and event id, indexed to find a repeat. */
  event: z.string(),
})
export type StoredFeedEntry = z.infer<typeof storedFeedEntry>

export const feedEntries = collection({
  name: 'feed',
  schema: storedFeedEntry,
  indexes: ['seq', 'event', 'node', 'lens_id'],
})
