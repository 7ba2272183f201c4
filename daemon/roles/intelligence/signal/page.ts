// A page of signals as every list of them is asked for: filters by value, a span of time, the latest detected first.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import type { Filter } from '../../../kernel/store.ts'
import { uid, word } from '../fields.ts'
import { severity, signal, signalStatus, signals, source, standing } from './model.ts'
import { shown } from './view.ts'

const instant = z.iso.datetime({ offset: true })

/** What signals are asked for by, wherever many are. */
export const signalFilter = {
  status: signalStatus.optional(),
  severity: severity.optional(),
  signal_type: z.string().min(1).max(128).optional(),
  source_type: source.shape.type.optional(),
  source_name: word.optional(),
  silence_id: uid
    .optional()
    .meta({ description: 'Came under this silence; with standing silenced those still out of sight' }),
  standing: standing
    .default('listed')
    .meta({ description: 'Those in plain lists, or silenced, or merged into others' }),
  since: instant.optional().meta({ description: 'Detected at this instant or later' }),
  until: instant.optional().meta({ description: 'Detected before this instant' }),
}

export const filterFields = { ...listFields, ...signalFilter }

export const signalPage = pageOf(signal).meta({ id: 'SignalPage' })

const filters = z.object({ ...signalFilter, subject_id: z.string().optional() })

/** The same for the store; what was not asked for does not filter. */
export function conditionsOf({ since, until, standing: wanted, ...equal }: z.output<typeof filters>): Filter {
  const given = Object.entries(equal).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const span = { ...(since ? { gte: utc(since) } : {}), ...(until ? { lt: utc(until) } : {}) }
  return {
    ...Object.fromEntries(given),
    [equal.subject_id === undefined ? 'standing' : 'subject_standing']: wanted,
    ...(since || until ? { detected_at: span } : {}),
  }
}

type Asked = z.output<typeof filters> & { readonly limit: number; readonly cursor?: string | undefined }

export async function pageOfSignals(call: Call, { limit, cursor, ...filter }: Asked, view = shown) {
  const order = { field: 'detected_at', direction: 'desc' } as const
  const query = { ...queryOf({}, limit, cursor, order), filter: conditionsOf(filter) }
  const { docs, ...next } = await call.store(signals).list(query)
  return { items: docs.map((doc) => view(call, doc)), ...next }
}

function utc(given: string): string {
  return new Date(given).toISOString()
}
