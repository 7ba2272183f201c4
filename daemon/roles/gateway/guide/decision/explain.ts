// Explains one decision, or the last ones on an artifact or on the artifacts that were learnt from a trace.
import * as z from 'zod'
import { refuse } from '../../../../kernel/error/errors.ts'
import { noSuchObject } from '../../../../kernel/error/missing-object.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { iterateDocuments } from '../../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { artifacts } from '../artifact/model.ts'
import { guideAudits, type StoredAudit } from '../audit/model.ts'
import { auditView, showAudit } from '../audit/view.ts'

const max_decisions = 20
const max_traced_artifacts = 10
/** Artifacts that are read for a trace. */
const max_searched = 10_000
const page_size = 50

const id = z.string().min(1).max(300)

export const explain = operation({
  summary: 'Explain a decision, or those on an artifact or a trace, in plain language',
  method: 'GET',
  path: '/api/v1/guide/decisions/explanation',
  tool: 'guide_explain_decision',
  surface: 'admin_chat',
  input: z.strictObject({
    audit_id: id.optional(),
    artifact_id: id.optional(),
    trace_id: id.optional().meta({ description: 'Exactly one of audit_id, artifact_id and trace_id' }),
  }),
  output: z
    .strictObject({ explanation: z.string(), decisions: z.array(auditView) })
    .meta({ id: 'GuideDecisionExplanation' }),
  errors: ['not_found'],
  allow: 'guide:admin',

  async run(call, { audit_id, artifact_id, trace_id }) {
    if ([audit_id, artifact_id, trace_id].filter((each) => each !== undefined).length !== 1)
      return refuse('invalid', 'name exactly one of audit_id, artifact_id and trace_id', [
        { path: 'audit_id', message: 'or artifact_id, or trace_id' },
      ])
    const found =
      audit_id === undefined
        ? await findDecisions(call, artifact_id === undefined ? await findLearnt(call, trace_id ?? '') : [artifact_id])
        : [await call.store(guideAudits).get(audit_id)]
    if (found.length === 0) return noSuchObject('decision')
    return { explanation: found.map(explainOne).join('\n'), decisions: found.map(showAudit) }
  },
})

async function findLearnt(call: Call, trace_id: string): Promise<string[]> {
  const found: string[] = []
  let searched = 0
  for await (const { id: artifact, value } of iterateDocuments(call.store(artifacts), { page_size })) {
    if (value.trace_ids.includes(trace_id)) found.push(artifact)
    searched += 1
    if (found.length >= max_traced_artifacts || searched >= max_searched) break
    if (searched % page_size === 0) await call.pause()
  }
  return found
}

/** Newest first, of all of them together. */
async function findDecisions(call: Call, artifact_ids: readonly string[]): Promise<Doc<StoredAudit>[]> {
  const found: Doc<StoredAudit>[] = []
  for (const artifact_id of artifact_ids) {
    const order = { field: 'create_ts', direction: 'desc' } as const
    const query = { filter: { artifact_id }, order, limit: max_decisions, fresh: true }
    found.push(...(await call.store(guideAudits).list(query)).docs)
  }
  return found.toSorted((x, y) => y.value.create_ts - x.value.create_ts).slice(0, max_decisions)
}

function explainOne({ value }: Doc<StoredAudit>): string {
  const { create_ts, rationale, before_version_id, after_version_id, evidence_ref } = value
  const versions = before_version_id === undefined ? '' : ` Version ${before_version_id} became ${after_version_id}.`
  const { observations = [], graph_snapshot_id } = evidence_ref ?? {}
  const seen = observations.length === 0 ? '' : ` It rests on ${observations.length} observations.`
  const snapshot = graph_snapshot_id === undefined ? '' : ` The graphs were those of the snapshot ${graph_snapshot_id}.`
  return `${new Date(create_ts).toISOString()}: ${rationale}${versions}${seen}${snapshot}`
}
