// Lists a page of signals by filters and time span, the latest detected first; all lists of signals use it.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import type { Filter } from '../../../kernel/store/store.ts'
import { severity } from '../../../shared/signal-cause/signal-subject.ts'
import { shortText, uid } from '../fields.ts'
import { signal, signalStatus, signals, source, visibility } from './model.ts'
import { showSignal } from './view.ts'

const offsetInstant = z.iso.datetime({ offset: true })

/** The filters of every operation that selects signals. */
export const signalFilter = {
  status: signalStatus.optional(),
  severity: severity.optional(),
  signal_type: z.string().min(1).max(128).optional(),
  source_type: source.shape.type.optional(),
  source_name: shortText.optional(),
  silence_id: uid
    .optional()
    .meta({ description: 'Matched by this silence; with visibility silenced those still hidden' }),
  visibility: visibility
    .default('listed')
    .meta({ description: 'Signals in plain lists, silenced ones, or ones merged into others' }),
  since: offsetInstant.optional().meta({ description: 'Detected at this instant or later' }),
  until: offsetInstant.optional().meta({ description: 'Detected before this instant' }),
}

export const filterFields = { ...listFields, ...signalFilter }

export const signalPage = pageSchema(signal).meta({ id: 'SignalPage' })

const filterSchema = z.object({ ...signalFilter, subject_id: z.string().optional() })

/** Builds the store filter; absent values do not filter. */
export function buildFilter({
  since,
  until,
  visibility: visibilityFilter,
  ...equal
}: z.output<typeof filterSchema>): Filter {
  const equalities = Object.entries(equal).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const span = { ...(since ? { gte: toUtc(since) } : {}), ...(until ? { lt: toUtc(until) } : {}) }
  return {
    ...Object.fromEntries(equalities),
    [equal.subject_id === undefined ? 'visibility' : 'subject_visibility']: visibilityFilter,
    ...(since || until ? { detected_at: span } : {}),
  }
}

type SignalPageQuery = z.output<typeof filterSchema> & { readonly limit: number; readonly cursor?: string | undefined }

export async function listSignals(call: Call, { limit, cursor, ...filter }: SignalPageQuery, view = showSignal) {
  const order = { field: 'detected_at', direction: 'desc' } as const
  const query = { ...buildListQuery({}, limit, cursor, order), filter: buildFilter(filter) }
  const { docs, ...counted } = await call.store(signals).page(query)
  return { items: docs.map((doc) => view(call, doc)), ...counted }
}

function toUtc(equalities: string): string {
  return new Date(equalities).toISOString()
}
