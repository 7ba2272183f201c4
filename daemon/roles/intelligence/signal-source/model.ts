// The stored state of a source: counts, last success and error, and cursor; and its refused items.
import * as z from 'zod'
import { label, lowestLabel } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { collection } from '../../../kernel/store/store.ts'
import { instant, shortText } from '../fields.ts'

const count = z.int().min(0)

const lastError = z
  .strictObject({ at: instant, code: z.string(), detail: z.string() })
  .meta({ id: 'SourceError', description: 'The last refusal or failure' })

export const countFields = {
  taken: count.meta({ description: 'Signals that were raised' }),
  repeated: count.meta({ description: 'Signals that had been raised before' }),
  refused: count.meta({ description: 'Items that were not signals' }),
  failed: count.meta({ description: 'Deliveries without a valid signature, and polls without a response' }),
  last_success_at: instant.optional(),
  last_error: lastError.optional(),
}
const sourceCounts = z.strictObject(countFields)
export type SourceCounts = Readonly<z.infer<typeof sourceCounts>>

export const zeroCounts: SourceCounts = { taken: 0, repeated: 0, refused: 0, failed: 0 }

const storedSignalSource = z.strictObject({
  tenant_id: shortText,
  label,
  ...countFields,
  cursor: z.string().max(4_096).optional(),
})
export type StoredSignalSource = z.infer<typeof storedSignalSource>

/** The id is the name of the source in the profile. */
export const signalSources = collection({ name: 'signal_source', schema: storedSignalSource, indexes: [] })

export function newSignalSource({ site }: Pick<Call, 'site'>, tenant_id: string): StoredSignalSource {
  return { tenant_id, label: lowestLabel(tenant_id, site.labels, site.tenant_id), ...zeroCounts }
}

/** Items that are not signals, stored so that they are not lost if the source deletes them. */
export const refusedItems = collection({
  name: 'refused_item',
  schema: z.strictObject({
    tenant_id: shortText,
    label,
    source: shortText,
    known: z.string().max(1_024),
    at: instant,
    detail: z.string().max(1_024),
    item: z.string().max(65_536).meta({ description: 'JSON, truncated' }),
  }),
  indexes: ['source', 'at'],
})
