// Metrics of the newest runs of an object with a DAG: listed by themselves, or inlined in reads of the object.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { runMetric, runMetrics, showRunMetric } from '../run-metric/model.ts'

type MetricFilter = { readonly since?: string | undefined; readonly limit: number }

/** Of an object that the caller sees. */
export async function listMetrics(call: Call, uid: string, { since, limit }: MetricFilter) {
  const filter = { object: uid, ...(since === undefined ? {} : { end_ts: { gte: Date.parse(since) } }) }
  const order = { field: 'end_ts', direction: 'desc' } as const
  const { docs, total, total_is } = await call.store(runMetrics).page({ filter, order, limit, fresh: true })
  return { items: docs.map(({ value }) => showRunMetric(value)), total, total_is }
}

/** Of each object that a read inlines the metrics of. */
const inlined_metrics = 10

export const statisticsInput = z
  .boolean()
  .default(false)
  .meta({ description: `Inline metrics of the newest ${inlined_metrics} finished runs` })

export const statisticsFields = {
  metrics: z.array(runMetric).optional().meta({ description: 'Of its newest finished runs, by statistics=true' }),
}

export async function withStatistics<T>(call: Call, uid: string, shown: T, isWanted: boolean): Promise<T> {
  if (!isWanted) return shown
  const { items: metrics } = await listMetrics(call, uid, { limit: inlined_metrics })
  return { ...shown, metrics }
}
