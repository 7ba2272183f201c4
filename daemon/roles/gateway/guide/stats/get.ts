// Counters, timings, scores and sizes of the guidance layer, its health by scope, and the services that have stopped to emit.
import * as z from 'zod'
import type { Call } from '../../../../kernel/operation/call.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { artifactTypes } from '../artifact/content.ts'
import { artifactStatuses, artifacts } from '../artifact/model.ts'
import { isPaused } from '../curator/check-paused.ts'
import { graphEdges, graphIds, graphNodes } from '../graph/model.ts'
import { guidancePart } from '../guidance/parts.ts'
import { eventTypes, observations } from '../observation/model.ts'
import { observerPart } from '../observation/parts.ts'
import { findStaleServices } from '../observation/rules.ts'
import { proposals } from '../proposal/model.ts'
import { guideSettings } from '../settings.ts'
import { guideCountsPart } from './guide-counts.ts'
import { summariseScores } from './summarise-scores.ts'

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

const attachHealth = z
  .strictObject({
    success: count,
    null: z.record(z.string(), count).meta({ description: 'By reason: disabled, unavailable, empty, timeout, error' }),
    slowest_ms: z.number().min(0),
  })
  .meta({ id: 'GuideAttachHealth' })

const rate = z.number().min(0).max(1)
const lowScore = z.strictObject({
  artifact_id: z.string(),
  type: z.enum(artifactTypes),
  evaluator_score: rate,
  confidence: rate.optional(),
})

const scores = z
  .strictObject({
    active: count,
    evaluated: count,
    mean: rate.nullable(),
    low: count.meta({ description: 'Below 0.5' }),
    lowest: z.array(lowScore).meta({ description: 'At most ten, the lowest first' }),
  })
  .meta({ id: 'GuideScores' })

export const get = operation({
  summary: 'Show counters, timings and scores of the guidance layer, its health by scope, and degraded emitters',
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
        .record(z.string(), attachHealth)
        .meta({ description: 'By scope: attachments of the tenant by this process, and why there were none' }),
      scores: scores.nullable().meta({ description: 'Of active artifacts; null: they are not loaded' }),
      evaluator: z
        .strictObject({ scores_persisted: count, scores_failed: count })
        .optional()
        .meta({ description: 'For administrators of the tenant of the site alone' }),
      artifacts: z.partialRecord(z.enum(artifactStatuses), count),
      proposals: z.strictObject({ open: count, held: count.meta({ description: 'That an administrator decides' }) }),
      curator_paused: z.boolean(),
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
      guidance_health: describeHealth(call),
      ...(await describeArtifacts(call)),
      ...(isOfSite ? { evaluator: describeEvaluator(call) } : {}),
    }
  },
})

function describeHealth(call: Call): Record<string, z.output<typeof attachHealth>> {
  const counts = call.part(guideCountsPart).attachOf(call.caller.tenant_id)
  return Object.fromEntries(
    counts.map(([scope, { success, null: reasons, slowest_ms }]) => [
      scope,
      { success, null: Object.fromEntries(reasons), slowest_ms: Math.round(slowest_ms * 1_000) / 1_000 },
    ]),
  )
}

function describeEvaluator(call: Call) {
  const { persisted, failed } = call.part(guideCountsPart).scores
  return { scores_persisted: persisted, scores_failed: failed }
}

async function describeArtifacts(call: Call) {
  const { index } = call.part(guidancePart)
  const byStatus = await call.store(artifacts).countBy('status')
  const proposed = await call.store(proposals).countBy('status')
  return {
    scores: index.isLoaded ? summariseScores(index.listReadable(call.caller)) : null,
    artifacts: Object.fromEntries(artifactStatuses.map((status) => [status, byStatus.get(status) ?? 0])),
    proposals: { open: proposed.get('open') ?? 0, held: proposed.get('held') ?? 0 },
    curator_paused: await isPaused(call, call.caller.tenant_id),
  }
}

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
