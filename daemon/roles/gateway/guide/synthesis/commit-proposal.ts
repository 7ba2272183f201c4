// Commits one artifact that a model proposes: with the figures of the gateway, and after the check for drift.
import { isRefusal } from '../../../../kernel/error/errors.ts'
import { promoteArtifact } from '../artifact/change-artifacts.ts'
import { proposeArtifact } from '../artifact/propose-artifact.ts'
import { checkMined, type DriftFinding } from '../drift/check-mined.ts'
import { scopeKey } from '../graph/rules.ts'
import type { MinedArtifact } from '../learning/mined-artifact.ts'
import { keyOf, recordDrift } from '../learning/synthesise.ts'
import { observations } from '../observation/model.ts'
import { type ArtifactClaim, buildDraft, isSameClaim, listTexts } from './build-draft.ts'
import { type CommitContext, curatorGround, hasManyHeld } from './commit-context.ts'
import { measureProposal, measureTrajectory, type ProposalEvidence } from './measure-proposal.ts'
import type { ChangeOutcome } from './metrics.ts'
import type { AnswerEntry, SynthesisProposal } from './model-answer.ts'
import { repeatsSource } from './repeats-source.ts'

/** Below this the model itself doubts: an administrator decides. */
const least_confidence = 0.5
const max_summarised_traces = 4
const max_observations = 64

export async function commitProposal(context: CommitContext, proposal: SynthesisProposal): Promise<ChangeOutcome> {
  const claim = { ...proposal, content: completeContent(proposal) }
  return await commitClaim(context, claim, measureProposal(proposal, context.traces))
}

/** Observations of many traces, summarised into one artifact. */
export async function commitCompaction(
  context: CommitContext,
  compaction: AnswerEntry<'compactions'>,
): Promise<ChangeOutcome> {
  const { intent_class, steps, rationale } = compaction
  const claim = { type: 'DecisionTrajectory', content: { intent_class, steps }, intent_class, rationale } as const
  return await commitClaim(context, claim, measureTrajectory(compaction, context.traces))
}

/** A map of the model says for which tools it has a hint, and not which intents they serve. */
function completeContent({ type, content }: SynthesisProposal): Readonly<Record<string, unknown>> {
  if (type !== 'CapabilityMap') return content
  return { ...content, tools: content.tools.map((tool) => ({ ...tool, intent_classes: [] })) }
}

async function commitClaim(
  context: CommitContext,
  claim: ArtifactClaim,
  evidence: ProposalEvidence | undefined,
): Promise<ChangeOutcome> {
  const { call, scope, confidence } = context
  const draft = buildDraft(claim, evidence)
  if (!draft || listTexts(claim).some((text) => repeatsSource(text, context.source))) return 'refused'
  if (context.active.some(({ value }) => isSameClaim(value, draft))) return 'refused'
  const [finding] = [...checkMined(draft, context.graph), ...(evidence ? [] : [missingEdge])]
  const isHeld = finding !== undefined
  const isWaiting = isHeld || confidence < least_confidence
  if (isWaiting && (await hasManyHeld(context))) return 'refused'
  const evidence_ref = { observations: await listObservations(context, draft), related_audit_ids: [] }
  const key = keyOf(scope, draft.type, draft.key)
  const proposed = await proposeArtifact(
    call,
    { ...scope, ...draft, confidence, key, isHeld, trace_ids: [...draft.trace_ids] },
    { ...curatorGround, evidence_ref },
  )
  if (isRefusal(proposed)) return 'refused'
  const { doc, isNew } = proposed
  if (finding && isNew) await recordDrift(call, scope, { ...finding, held_proposal_id: doc.id }, key)
  if (isWaiting) return isNew ? 'held' : 'refused'
  if (doc.value.status !== 'proposed') return 'refused'
  const promoted = await promoteArtifact(call, doc.id, { ...curatorGround, rationale: draft.rationale })
  return isRefusal(promoted) ? 'refused' : 'committed'
}

/** Of a text, or a claim that the traces do not show: no edge carries it. */
const missingEdge: DriftFinding = { rule: 'contradicted_edge' }

/** Those that a compaction stands for; of another proposal its traces are enough. */
async function listObservations({ call, scope }: CommitContext, draft: MinedArtifact): Promise<string[]> {
  if (draft.type !== 'DecisionTrajectory') return []
  const ids: string[] = []
  for (const trace_id of draft.trace_ids.slice(-max_summarised_traces)) {
    const order = { field: 'batch_seq', direction: 'desc' } as const
    const { docs } = await call.store(observations).list({ filter: { trace_id }, order, limit: 16 })
    ids.push(...docs.filter(({ value }) => scopeKey(value) === scopeKey(scope)).map(({ id }) => id))
  }
  return ids.slice(0, max_observations)
}
