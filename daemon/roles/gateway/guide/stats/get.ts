// Counters, timings and sizes of the guidance layer, and the services that have stopped to emit.
import * as z from 'zod'
import type { Call } from '../../../../kernel/operation/call.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { graphEdges, graphIds, graphNodes } from '../graph/model.ts'
import { eventTypes, observations } from '../observation/model.ts'
import { observerPart } from '../observation/parts.ts'
import { findStaleServices } from '../observation/rules.ts'
import { guideSettings } from '../settings.ts'

const count = z.int().min(0)
const moment = z.iso.datetime().nullable()

const ingest = z
  .strictObject({
    queue_depth: count,
    queue_bytes: count,
    queue_maxsize: count,
    stored: count.meta({ description: 'By this process since its start, as all the counts here' }),
    repeats: count,
    invalid: count,
    failed: count,
    last_batch_ms: z.number().min(0).meta({ description: 'Time that the last batch took' }),
    services: z.array(
      z.strictObject({ service: z.string(), accepted: count, dropped: count, last_ingest: moment, last_drain: moment }),
    ),
  })
  .meta({ id: 'GuideIngestStats' })

const degradedEmitter = z
  .strictObject({ service: z.string(), reason: z.enum(['stale', 'queue_deep']), last_ingest: moment })
  .meta({ id: 'GuideDegradedEmitter' })

export const get = operation({
  summary: 'Show counters and timings of the guidance layer, and degraded emitters',
  method: 'GET',
  path: '/api/v1/guide/stats',
  tool: 'guide_stats',
  surface: 'admin_chat',
  input: z.strictObject({}),
  output: z
    .strictObject({
      enabled: z.boolean(),
      ingest: ingest.optional().meta({ description: 'For administrators of the tenant of the site alone' }),
      degraded_emitters: z.array(degradedEmitter),
      memories: z.strictObject({
        by_event_type: z.record(z.string(), count),
        needs_review: count,
      }),
      graphs: z.array(z.strictObject({ graph_id: z.enum(graphIds), nodes: count, edges: count })),
      guidance_health: z
        .record(z.string(), z.strictObject({ success: count, null: z.record(z.string(), count) }))
        .meta({ description: 'By scope: attachments, and why there were none' }),
    })
    .meta({ id: 'GuideStats' }),
  errors: [],
  allow: 'guide:admin',

  async run(call) {
    const byType = await call.store(observations).countBy('event_type')
    const nodes = await call.store(graphNodes).countBy('graph_id')
    const edges = await call.store(graphEdges).countBy('graph_id')
    // The counts of a process are those of all tenants together.
    const isOfSite = call.caller.tenant_id === call.site.tenant_id
    return {
      enabled: call.settings(guideSettings).enabled,
      ...(isOfSite ? { ingest: describeIngest(call) } : {}),
      degraded_emitters: isOfSite ? listDegraded(call) : [],
      memories: {
        by_event_type: Object.fromEntries(eventTypes.map((type) => [type, byType.get(type) ?? 0])),
        needs_review: await call.store(observations).count({ needs_review: true }),
      },
      graphs: graphIds.map((graph_id) => ({
        ...{ graph_id, nodes: nodes.get(graph_id) ?? 0, edges: edges.get(graph_id) ?? 0 },
      })),
      guidance_health: {},
    }
  },
})

const isoOf = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString())

function describeIngest(call: Call): z.output<typeof ingest> {
  const { queue, stored } = call.part(observerPart)
  const { observations: total, ...counts } = stored
  return {
    ...{ queue_depth: queue.depth, queue_bytes: queue.bytes, stored: total, ...counts },
    queue_maxsize: call.settings(guideSettings).ingest_queue_maxsize,
    services: [...queue.counts].map(([service, { accepted, dropped }]) => ({
      ...{ service, accepted, dropped },
      last_ingest: isoOf(queue.last_ingest.get(service)),
      last_drain: isoOf(queue.last_drain.get(service)),
    })),
  }
}

function listDegraded(call: Call): z.output<typeof degradedEmitter>[] {
  const { queue } = call.part(observerPart)
  const { ingest_stale_warn_s, ingest_depth_warn } = call.settings(guideSettings)
  const stale = findStaleServices(queue.last_ingest, call.now(), ingest_stale_warn_s * 1_000).map(
    ({ service, last_ingest_ts }) => ({ service, reason: 'stale' as const, last_ingest: isoOf(last_ingest_ts) }),
  )
  if (queue.depth <= ingest_depth_warn) return stale
  return [{ service: 'gateway', reason: 'queue_deep', last_ingest: isoOf(queue.last_ingest.get('gateway')) }, ...stale]
}
