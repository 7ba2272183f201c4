// The curator as administrators see it.
import * as z from 'zod'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { StoredCurator } from './model.ts'

export const curatorView = z
  .strictObject({
    paused: z.boolean(),
    changed_at: z.iso.datetime().nullable().meta({ description: 'Null: it was never paused' }),
    changed_by: z.string().nullable(),
    rationale: z.string().nullable(),
  })
  .meta({ id: 'GuideCurator' })

export function showCurator(doc: Doc<StoredCurator> | undefined): z.output<typeof curatorView> {
  if (!doc || doc.version === 0) return { paused: false, changed_at: null, changed_by: null, rationale: null }
  const { is_paused, update_ts, actor, rationale } = doc.value
  return { paused: is_paused, changed_at: new Date(update_ts).toISOString(), changed_by: actor, rationale }
}
