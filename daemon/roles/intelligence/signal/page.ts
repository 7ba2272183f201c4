// A page of signals as every list of them is asked for: filters by value, a span of time, the latest detected first.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { severity, signal, signalStatus, signals } from './model.ts'
import { shown } from './view.ts'

const instant = z.iso.datetime({ offset: true })

export const filterFields = {
  ...listFields,
  status: signalStatus.optional(),
  severity: severity.optional(),
  signal_type: z.string().min(1).max(128).optional(),
  since: instant.optional().meta({ description: 'Detected at this instant or later' }),
  until: instant.optional().meta({ description: 'Detected before this instant' }),
}

export const signalPage = pageOf(signal).meta({ id: 'SignalPage' })

const filters = z.object({ ...filterFields, subject_id: z.string().optional() })

export async function pageOfSignals(call: Call, { limit, cursor, since, until, ...filter }: z.output<typeof filters>) {
  const order = { field: 'detected_at', direction: 'desc' } as const
  const query = queryOf(filter, limit, cursor, order)
  const span = { ...(since ? { gte: utc(since) } : {}), ...(until ? { lt: utc(until) } : {}) }
  const detected_at = since || until ? { detected_at: span } : {}
  const { docs, ...next } = await call.store(signals).list({ ...query, filter: { ...query.filter, ...detected_at } })
  return { items: docs.map((doc) => shown(call, doc)), ...next }
}

function utc(given: string): string {
  return new Date(given).toISOString()
}
