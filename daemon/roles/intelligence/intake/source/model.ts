// What is kept of a source: how much has come, when it last worked, and where a polled one goes on; and what it said that is no signal.
import * as z from 'zod'
import type { Call } from '../../../../kernel/call.ts'
import { label, lowestLabel } from '../../../../kernel/label.ts'
import { collection } from '../../../../kernel/store.ts'
import { instant, word } from '../../fields.ts'
import { nothing } from './tally.ts'

const count = z.int().min(0)

export const lastError = z
  .strictObject({ at: instant, code: z.string(), detail: z.string() })
  .meta({ id: 'SourceError', description: 'The last time that something was not taken, and why' })

export const counts = {
  taken: count.meta({ description: 'Signals that were raised' }),
  repeated: count.meta({ description: 'What had been raised before' }),
  refused: count.meta({ description: 'What was no signal' }),
  failed: count.meta({ description: 'Times that nothing could be taken: no signature, no answer' }),
  last_success_at: instant.optional(),
  last_error: lastError.optional(),
}

export const storedSource = z.strictObject({
  tenant_id: word,
  label,
  ...counts,
  cursor: z.string().max(4_096).optional(),
})
export type StoredSource = z.infer<typeof storedSource>

/** By the source's name in the profile. */
export const signalSources = collection({ name: 'signal_source', schema: storedSource, indexes: [] })

export function newSource({ site }: Pick<Call, 'site'>, tenant_id: string): StoredSource {
  return { tenant_id, label: lowestLabel(tenant_id, site.labels, site.tenant_id), ...nothing }
}

/** What a source said that is no signal, so that nothing of it is lost where the source forgets it. */
export const refusedItems = collection({
  name: 'refused_item',
  schema: z.strictObject({
    tenant_id: word,
    label,
    source: word,
    known: z.string().max(1_024),
    at: instant,
    detail: z.string().max(1_024),
    item: z.string().max(65_536).meta({ description: 'JSON, cut off where it is longer' }),
  }),
  indexes: ['source', 'at'],
})
