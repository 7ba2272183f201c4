// Evaluates the artifacts that a finished trace carried, or went without. What follows from it is done as the evaluator, with an
// audit record for each change.
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { type Doc, labelKeyOf } from '../../../../kernel/store/store.ts'
import { demoteArtifact, flagArtifact, promoteArtifact } from '../artifact/change-artifacts.ts'
import { type Artifact, artifacts, isMeasured } from '../artifact/model.ts'
import { persistScore } from '../artifact/persist-score.ts'
import type { ChangeGround } from '../audit/entry.ts'
import type { GraphScope } from '../graph/rules.ts'
import { countTrace } from '../holdout/count-trace.ts'
import { loadTraceLineage, markCounted } from '../holdout/trace-lineage.ts'
import type { Learner } from '../learning/learner.ts'
import { recordDrift } from '../learning/synthesise.ts'
import type { TraceRecord } from '../learning/trace-record.ts'
import { guideSettings } from '../settings.ts'
import { guideCountsPart } from '../stats/guide-counts.ts'
import { type ArtifactAssessment, type AssessmentResult, first_assessment } from './assess-trace.ts'
import { scorePersistedTotal, scorePersistFailedTotal } from './metrics.ts'
import { isDominatedByLayer3, listUpstream } from './rules.ts'
import { readWeights } from './weights.ts'

const max_artifacts = 500
const evaluator: Pick<ChangeGround, 'actor'> = { actor: 'evaluator_auto' }

/** Of a tenant and a label: the artifacts that its traces may have carried. */
export async function loadActive(call: Call, scope: GraphScope): Promise<readonly Doc<Artifact>[]> {
  const filter = { status: 'active', tenant_id: scope.tenant_id, label_key: labelKeyOf(scope) }
  const { docs } = await call.store(artifacts).list({ filter, limit: max_artifacts })
  return docs
}

export async function evaluateTrace(
  call: Call,
  learner: Learner,
  {
    scope,
    trace,
    active,
  }: { readonly scope: GraphScope; readonly trace: TraceRecord; readonly active: readonly Doc<Artifact>[] },
): Promise<void> {
  if (active.length === 0) return
  const settings = call.settings(guideSettings)
  const weights = readWeights(settings)
  const fast_demotion = settings.evaluator_l3_fast_demote_n
  const isHoldOutEnabled = settings.holdout_enabled && settings.holdout_first_share + settings.holdout_share > 0
  const lineage = await loadTraceLineage(call, scope, trace)
  const carried = active.filter(({ id }) => lineage.get(id)?.isAttached)
  for (const doc of active) {
    const ofArtifact = lineage.get(doc.id)
    if (!ofArtifact) continue
    const { isAttached, mark } = ofArtifact
    const before = learner.assessments.get(doc.id) ?? resume(doc.value)
    const terms = { weights, fast_demotion, isHoldOutEnabled, isDecided: !isMeasured(doc.value) }
    const judged = await countTrace(call, doc, { before, trace, isAttached, mark }, terms)
    if (!judged) continue
    const { assessment, result, counted } = judged
    learner.assess(doc.id, assessment)
    learner.holdout.note(doc.id, assessment)
    await markCounted(call, ofArtifact, counted)
    if (isAttached) await writeScore(call, doc.id, assessment)
    await conclude(call, scope, { doc, assessment, result, carried })
  }
}

/** After a restart: the score goes on from what is stored; the counts of traces are in a document of their own. */
function resume({ content, low_scores }: Artifact): ArtifactAssessment {
  const { evaluator_score, score_decomposition } = content
  if (evaluator_score === undefined || score_decomposition === undefined) return first_assessment
  return { ...first_assessment, evaluation: { score: evaluator_score, decomposition: score_decomposition, low_scores } }
}

/** A score that cannot be written is counted, and delays nothing: the copy in memory goes on. */
async function writeScore(call: Call, id: string, { evaluation }: ArtifactAssessment): Promise<void> {
  if (!call.settings(guideSettings).evaluator_persist_scores_enabled) return
  const { score, decomposition, low_scores } = evaluation
  try {
    const terms = { evaluator_score: score, score_decomposition: decomposition, low_scores }
    if ((await persistScore(call, id, terms)) !== 'stored') return
    call.count(scorePersistedTotal, {})
    call.part(guideCountsPart).scores.persisted += 1
  } catch (error) {
    call.count(scorePersistFailedTotal, {})
    call.part(guideCountsPart).scores.failed += 1
    call.log.warn('gateway.guide.score_not_persisted', { artifact_id: id, error })
  }
}

type Conclusion = {
  readonly doc: Doc<Artifact>
  readonly assessment: ArtifactAssessment
  readonly result: AssessmentResult
  readonly carried: readonly Doc<Artifact>[]
}

async function conclude(
  call: Call,
  scope: GraphScope,
  { doc, assessment, result, carried }: Conclusion,
): Promise<void> {
  if (result === 'none') return
  if (result === 'repeated_failures') {
    const hour = Math.floor(call.now() / 3_600_000)
    return await recordDrift(call, scope, { rule: 'repeated_failures', of_artifact_id: doc.id }, `${doc.id} ${hour}`)
  }
  const { score, decomposition } = assessment.evaluation
  const ground: ChangeGround = {
    ...{ ...evaluator, trigger: 'evaluator_score_below_threshold', evaluator_score: score },
    ...{ score_decomposition: decomposition, rationale: explain(assessment, result) },
  }
  const change = result === 'benefit' ? promoteArtifact : demoteArtifact
  const changed = await change(call, doc.id, ground)
  // While the curator is paused, or where an administrator was faster, it stays as it is.
  if (isRefusal(changed) || result === 'benefit') return
  const weights = readWeights(call.settings(guideSettings))
  if (isDominatedByLayer3(decomposition, weights)) await flagUpstream(call, doc, carried)
}

async function flagUpstream(call: Call, failing: Doc<Artifact>, carried: readonly Doc<Artifact>[]): Promise<void> {
  const candidateOf = ({ id, value }: Doc<Artifact>) => {
    return { id, type: value.type, intent_class: value.applicability.intent_class }
  }
  const ids = listUpstream(candidateOf(failing), carried.map(candidateOf))
  for (const id of ids)
    await flagArtifact(call, id, { ...evaluator, trigger: 'l3_performance_cascade', upstream_artifact_ids: ids })
}

function explain({ attached, held_out, evaluation }: ArtifactAssessment, result: AssessmentResult): string {
  const { successes, trials } = attached
  const traces = `${successes} of ${trials} traces with it succeeded, and ${held_out.successes} of ${held_out.trials} without it`
  if (result === 'low_score')
    return `The score was low ${evaluation.low_scores} times in a row, ${evaluation.score.toFixed(2)} at last; ${traces}.`
  return `${result === 'harm' ? 'Harm' : 'Benefit'} is proven by the traces that were held out: ${traces}.`
}
