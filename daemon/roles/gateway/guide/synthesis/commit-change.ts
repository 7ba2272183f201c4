// Commits what a model would change of artifacts that it was shown: only where the figures carry it, and never over an administrator.
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { escapeLine } from '../../../../kernel/text/escape-line.ts'
import { demoteArtifact, editArtifact, promoteArtifact } from '../artifact/change-artifacts.ts'
import type { Artifact } from '../artifact/model.ts'
import { checkMined, type DriftFinding } from '../drift/check-mined.ts'
import type { GraphView } from '../drift/graph-view.ts'
import type { MinedArtifact } from '../learning/mined-artifact.ts'
import { type CommitContext, groundOf, holdForReview, isAdminDecided } from './commit-context.ts'
import type { ChangeOutcome } from './metrics.ts'
import type { AnswerEntry } from './model-answer.ts'

/** Scores above which an evaluated artifact may count for more, and below which it may be demoted. */
const good_score = 0.8
const low_score = 0.5
/** As a proven benefit raises it at most. */
const most_weight = 10

const asMined = ({ id, value }: Doc<Artifact>) => ({ ...value, key: id }) as unknown as MinedArtifact
const driftOf = (doc: Doc<Artifact>, graph: GraphView): DriftFinding | undefined => checkMined(asMined(doc), graph)[0]

/** An active one needs evaluations that were good; a proposed one must agree with the graphs, and be open. */
export async function commitPromotion(
  context: CommitContext,
  { artifact_id, rationale }: AnswerEntry<'promotions'>,
): Promise<ChangeOutcome> {
  const doc = context.shown.get(artifact_id)
  if (!doc || isAdminDecided(doc.value)) return 'refused'
  const { status, content } = doc.value
  const { evaluator_score = 0, weight = 1 } = content
  const isProven = status === 'active' && evaluator_score >= good_score && weight < most_weight
  if (!isProven && !(status === 'proposed' && hasSupport(doc.value))) return 'refused'
  const finding = driftOf(doc, context.graph)
  if (finding) return await hold(context, doc, { finding, verb: 'promote', rationale })
  return outcomeOf(await promoteArtifact(context.call, artifact_id, groundOf(rationale)))
}

/** A text that an administrator has not decided on is never promoted by a model. */
const hasSupport = ({ content }: Artifact): boolean => 'support' in content && content.support > 0

/** By an edge that is recorded: one that is absent may have been rolled back, or never been kept. */
function isContradicted(doc: Doc<Artifact>, graph: GraphView): boolean {
  return checkMined(asMined(doc), graph).some(({ recent }) => recent !== undefined)
}

/** Without figures against it, the demotion contradicts what was recorded. */
export async function commitDemotion(
  context: CommitContext,
  { artifact_id, rationale }: AnswerEntry<'demotions'>,
): Promise<ChangeOutcome> {
  const doc = context.shown.get(artifact_id)
  if (doc?.value.status !== 'active') return 'refused'
  const { is_flagged, content } = doc.value
  const isCarried = is_flagged || (content.evaluator_score ?? 1) < low_score || isContradicted(doc, context.graph)
  if (!isCarried || isAdminDecided(doc.value)) return await hold(context, doc, { verb: 'demote', rationale })
  return outcomeOf(await demoteArtifact(context.call, artifact_id, groundOf(rationale)))
}

/** Tags, and the class of intents where the graphs know it. */
export async function commitEdit(
  context: CommitContext,
  { artifact_id, rationale, tags, intent_class }: AnswerEntry<'edits'>,
): Promise<ChangeOutcome> {
  const doc = context.shown.get(artifact_id)
  if (!doc || isAdminDecided(doc.value) || (tags === undefined && intent_class === undefined)) return 'refused'
  if (intent_class !== undefined) {
    const applicability = { ...doc.value.applicability, intent_class }
    const finding = driftOf({ ...doc, value: { ...doc.value, applicability } as Artifact }, context.graph)
    if (finding) return await hold(context, doc, { finding, verb: 'edit', rationale })
  }
  const edit = { tags: tags?.map((tag) => escapeLine(tag).slice(0, 64)), intent_class }
  return outcomeOf(await editArtifact(context.call, artifact_id, groundOf(rationale), edit))
}

/** Of a flagged one: the flag goes, or the artifact does. */
export async function commitReview(
  context: CommitContext,
  { artifact_id, rationale, verdict }: AnswerEntry<'reviews'>,
): Promise<ChangeOutcome> {
  const doc = context.shown.get(artifact_id)
  if (!doc?.value.is_flagged) return 'refused'
  if (verdict === 'demote') return await commitDemotion(context, { artifact_id, rationale })
  if (isAdminDecided(doc.value)) return 'refused'
  return outcomeOf(await editArtifact(context.call, artifact_id, groundOf(rationale), { is_reviewed: true }))
}

type HeldChange = { readonly verb: string; readonly rationale: string; readonly finding?: DriftFinding }

async function hold(
  context: CommitContext,
  { id, value }: Doc<Artifact>,
  { verb, rationale, finding = { rule: 'contradicted_edge' } }: HeldChange,
): Promise<ChangeOutcome> {
  const subject = `A synthesis would ${verb} ${value.type} ${id}`
  return await holdForReview(context, { ...finding, of_artifact_id: id }, { subject, rationale })
}

const outcomeOf = (changed: unknown): ChangeOutcome => (isRefusal(changed) ? 'refused' : 'committed')
