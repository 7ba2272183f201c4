// The guidance layer in the declaration of the gateway role: collections, metrics, workers and operations.
import type { Call } from '../../../kernel/operation/call.ts'
import { followArtifacts } from '../workers/follow-artifacts.ts'
import { ingestObservations } from '../workers/ingest-observations.ts'
import { learnGuidance } from '../workers/learn-guidance.ts'
import { maintainGuidance } from '../workers/maintain-guidance.ts'
import { synthesiseGuidance } from '../workers/synthesise-guidance.ts'
import { writeLineage } from '../workers/write-lineage.ts'
import { stats } from './artifact/stats.ts'
import { artifactCollections, artifactOperations, artifactWorkers } from './artifact-operations.ts'
import { send } from './chat/send.ts'
import { coalescerMetrics } from './coalescer/metrics.ts'
import { evaluationMetrics } from './evaluation/metrics.ts'
import { get as getGraph } from './graph/get.ts'
import { graphHeads } from './graph/head-model.ts'
import { list as listGraphs } from './graph/list.ts'
import { graphEdges, graphNodes } from './graph/model.ts'
import { rollback } from './graph/rollback.ts'
import { snapshot } from './graph/snapshot.ts'
import { graphSnapshots } from './graph/snapshot-model.ts'
import { connections } from './guidance/connections.ts'
import { attachSuccessTotal, guidanceMetrics } from './guidance/metrics.ts'
import { preview } from './guidance/preview.ts'
import { schemas } from './guidance/schemas.ts'
import { specs } from './guidance/specs.ts'
import { stream } from './guidance/stream.ts'
import { tools } from './guidance/tools.ts'
import { artifactEffects, holdoutKeys } from './holdout/model.ts'
import { capped } from './lineage/capped.ts'
import { list as listLineage } from './lineage/list.ts'
import { lineageEvents } from './lineage/model.ts'
import { edit } from './memory/edit.ts'
import { forget } from './memory/forget.ts'
import { get as getMemory } from './memory/get.ts'
import { list as listMemories } from './memory/list.ts'
import { seed } from './memory/seed.ts'
import {
  ingestAcceptedTotal,
  ingestDroppedTotal,
  ingestQueueDepth,
  ingestWorkerFailureTotal,
  observationMetrics,
} from './observation/metrics.ts'
import { observations } from './observation/model.ts'
import { gateway_service } from './observation/observe.ts'
import { record } from './observation/record.ts'
import { get as getStats } from './stats/get.ts'
import { countSynthesesFromZero, synthesisMetrics } from './synthesis/metrics.ts'
import { trigger } from './synthesis/trigger.ts'
import { advise } from './workflow/advise.ts'

export const guideCollections = [
  ...[observations, graphNodes, graphEdges, graphHeads, graphSnapshots, lineageEvents],
  ...[artifactEffects, holdoutKeys],
  ...artifactCollections,
]

export const guideMetrics = [
  ...[...observationMetrics, ...coalescerMetrics, ...guidanceMetrics, ...evaluationMetrics],
  ...synthesisMetrics,
]

export const guideWorkers = [
  ...[ingestObservations, followArtifacts, writeLineage, learnGuidance, maintainGuidance, synthesiseGuidance],
  ...artifactWorkers,
]

export const guideOperations = {
  ...artifactOperations,
  'guide.artifact': { ...artifactOperations['guide.artifact'], stats },
  'guide.chat': { send },
  'guide.graph': { list: listGraphs, get: getGraph, snapshot, rollback },
  'guide.guidance': { preview, schemas, tools, specs, connections, stream },
  'guide.lineage': { list: listLineage, capped },
  'guide.memory': { list: listMemories, get: getMemory, seed, edit, forget },
  'guide.observation': { record },
  'guide.stats': { get: getStats },
  'guide.synthesis': { trigger },
  'guide.workflow': { advise },
}

/** A counter that appears with its first event shows no increase by it. */
export function countGuideFromZero(call: Call): void {
  for (const metric of [...coalescerMetrics, ...evaluationMetrics]) call.count(metric, {}, 0)
  countSynthesesFromZero(call)
  for (const scope of ['l1', 'l2']) call.count(attachSuccessTotal, { scope }, 0)
  for (const metric of [ingestAcceptedTotal, ingestDroppedTotal, ingestWorkerFailureTotal])
    call.count(metric, { service: gateway_service }, 0)
  call.set(ingestQueueDepth, {}, 0)
}
