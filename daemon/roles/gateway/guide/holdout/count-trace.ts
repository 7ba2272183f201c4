// Counts a finished trace for the effect of an artifact, in one document that all processes share.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { Artifact } from '../artifact/model.ts'
import {
  type ArtifactAssessment,
  type AssessmentResult,
  type AssessmentTerms,
  assessTrace,
  nameCaller,
} from '../evaluation/assess-trace.ts'
import type { TraceRecord } from '../learning/trace-record.ts'
import { artifactEffects, type StoredArtifactEffect } from './model.ts'
import { addCounted, countedTrace, findCounted, withoutCounted } from './rules.ts'

export type TraceCount = {
  readonly trace: TraceRecord
  readonly isAttached: boolean
  /** As it was counted before, by its lineage. */
  readonly mark: string | undefined
}

export type CountedTrace = {
  readonly assessment: ArtifactAssessment
  readonly result: AssessmentResult
  /** For its lineage. */
  readonly counted: string
}

/** `before`: its score in this process. Undefined: nothing is new, or the trace says nothing of the artifact. */
export async function countTrace(
  call: Call,
  doc: Doc<Artifact>,
  { before, ...count }: TraceCount & { readonly before: ArtifactAssessment },
  terms: AssessmentTerms,
): Promise<CountedTrace | undefined> {
  const store = call.store(artifactEffects)
  const now = call.now()
  const known = await store.find(doc.id)
  if (!known) {
    const first = judge(beginEffect(doc, now), doc.value, { before, ...count }, terms)
    if (!first) return undefined
    if ((await store.create(doc.id, { ...first.next, update_ts: now })) !== 'exists') return first.answer
  }
  const { answer } = await store.update<CountedTrace | undefined>(doc.id, ({ value }) => {
    const judged = judge(renewEffect(value, doc, now), doc.value, { before, ...count }, terms)
    return judged ? { next: { ...judged.next, update_ts: now }, answer: judged.answer } : { answer: undefined }
  })
  return answer
}

function beginEffect({ id, value }: Doc<Artifact>, now: number): StoredArtifactEffect {
  const { tenant_id, label, version } = value
  const none = { successes: 0, trials: 0 }
  return {
    ...{ tenant_id, ...(label ? { label } : {}) },
    uds: { timestamp: now, username: 'evaluator_auto', visibility: label ? 'label' : 'tenant' },
    ...{ create_ts: now, update_ts: now, schema_version: 1, artifact_id: id, artifact_version: version },
    ...{ attached: none, held_out: none, callers: [], verdict: 'pending', counted: [] },
  }
}

/** An artifact that was edited, promoted or restored gets another chance, unless the evaluator itself has changed it. */
function renewEffect(effect: StoredArtifactEffect, doc: Doc<Artifact>, now: number): StoredArtifactEffect {
  const { version, actor } = doc.value
  if (version <= effect.artifact_version) return effect
  if (actor === 'evaluator_auto') return { ...effect, artifact_version: version }
  return { ...beginEffect(doc, now), create_ts: effect.create_ts }
}

function judge(
  effect: StoredArtifactEffect,
  of: Artifact,
  { before, trace, isAttached, mark }: TraceCount & { readonly before: ArtifactAssessment },
  terms: AssessmentTerms,
): { readonly next: StoredArtifactEffect; readonly answer: CountedTrace } | undefined {
  const counted = countedTrace({ ...trace, isAttached })
  const last = findCounted(effect, counted, mark)
  if (last === counted) return undefined
  const base = withoutCounted(effect, last, nameCaller(trace))
  const { attached, held_out, callers, verdict } = base
  const start = { ...before, attached, held_out, callers, verdict }
  const { assessment, result } = assessTrace(start, of, { trace, isAttached }, terms)
  if (assessment === start) return undefined
  const next = { ...base, ...pickCounts(assessment), counted: addCounted(base.counted, counted) }
  return { next, answer: { assessment, result, counted } }
}

function pickCounts({ attached, held_out, callers, verdict }: ArtifactAssessment) {
  return { attached, held_out, callers: [...callers], verdict }
}
