// Reads the pane of guidance: the curator, services that have stopped to emit, what awaits a decision, the health of each scope,
// and the active artifacts.
import type { ApiObject } from '../client/client.ts'
import type { ItemPage } from '../client/fetch-items.ts'
import type { OperationCall, PaneContent } from './admin-snapshot.ts'

/** The total counts the others. */
const max_held = 100
const max_artifacts = 100

export type ListReader = (address: string, limit: number, input: ApiObject) => Promise<ItemPage>

export async function readGuidance(call: OperationCall, list: ListReader): Promise<PaneContent> {
  const [stats, held, active] = await Promise.all([
    call('gateway.guide.stats.get', {}),
    list('gateway.guide.proposal.list', max_held, { status: 'held' }),
    list('gateway.guide.artifact.list', max_artifacts, { status: 'active', usage: true }),
  ])
  const first = [buildCuratorRow(stats), ...buildEmitterRows(stats)]
  const scopes = buildScopeRows(stats)
  const total_is = held.total_is === 'exact' && active.total_is === 'exact' ? 'exact' : active.total_is
  return {
    items: [...first, ...held.items.map(buildHeldRow), ...scopes, ...active.items.map(buildArtifactRow)],
    total: { total: first.length + scopes.length + held.total + active.total, total_is },
  }
}

function buildCuratorRow({ enabled, curator_paused, scores, proposals, artifacts }: ApiObject): ApiObject {
  const state = enabled === false ? 'disabled' : curator_paused ? 'paused' : 'running'
  return { kind: 'curator', name: 'curator', state, scores, proposals, artifacts }
}

function buildEmitterRows({ degraded_emitters }: ApiObject): ApiObject[] {
  return (degraded_emitters as readonly ApiObject[]).map(({ service, reason, last_ingest }) => ({
    ...{ kind: 'emitter', name: service, state: reason, type: 'emitter', last_ingest },
  }))
}

function buildHeldRow({ proposal_id, artifact_type, status, evaluator_score, ...proposal }: ApiObject): ApiObject {
  return {
    ...{ kind: 'held', name: proposal_id, state: status, type: artifact_type, score: evaluator_score },
    ...proposal,
  }
}

/** Reasons that are not faults: there was nothing to attach, or it is turned off. */
const plain_reasons: ReadonlySet<string> = new Set(['empty', 'disabled'])

function buildScopeRows({ guidance_health }: ApiObject): ApiObject[] {
  return Object.entries(guidance_health as Readonly<Record<string, ApiObject>>).map(([scope, health]) => {
    const reasons = Object.entries(health.null as Readonly<Record<string, number>>)
    const without = reasons.reduce((sum, [, count]) => sum + count, 0)
    const isFailing = reasons.some(([reason, count]) => count > 0 && !plain_reasons.has(reason))
    return {
      ...{ kind: 'scope', name: scope, state: isFailing ? 'failing' : 'ok', type: 'scope' },
      ...{ attached: health.success, without, reasons: health.null, slowest_ms: health.slowest_ms },
    }
  })
}

function buildArtifactRow({ id, status, attached_count, capped_count, content, ...artifact }: ApiObject): ApiObject {
  const { evaluator_score, confidence } = (content ?? {}) as ApiObject
  return {
    ...{ kind: 'artifact', name: id, state: status, type: artifact.type, score: evaluator_score, confidence },
    ...{ attached: attached_count, without: capped_count, ...artifact, content },
  }
}
