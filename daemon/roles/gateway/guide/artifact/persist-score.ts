// Scores of the evaluator on an artifact: no versions, since they change with each signal and the evaluator keeps the truth.
import type { Refusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { ChangeGround, ScoreDecomposition } from '../audit/entry.ts'
import { isPaused } from '../curator/check-paused.ts'
import { forgetArtifact } from './change-artifacts.ts'
import { artifact_topic } from './follow-up.ts'
import { type Artifact, artifacts } from './model.ts'
import { cyclesUntilForgotten, isDominatedByTools, type ScoreWeights } from './rules.ts'

export type ArtifactScore = {
  readonly evaluator_score: number
  readonly score_decomposition: ScoreDecomposition
  readonly low_scores: number
}

/** The score decides the order of attached artifacts: while the curator is paused, that stays as it is. */
export type ScoreOutcome = 'stored' | 'unchanged' | 'paused' | 'not_attached'

/** Idempotent; the store tries again after a conflict. Throws where the artifact is missing or the store fails. */
export async function persistScore(call: Call, id: string, score: ArtifactScore): Promise<ScoreOutcome> {
  const known = await call.store(artifacts).get(id)
  if (await isPaused(call, known.value.tenant_id)) return 'paused'
  const { answer } = await call.store(artifacts).update<ScoreOutcome>(id, ({ value }) => {
    if (value.status !== 'active') return { answer: 'not_attached' }
    if (hasScore(value, score)) return { answer: 'unchanged' }
    const { low_scores, evaluator_score, score_decomposition } = score
    const content = { ...value.content, evaluator_score, score_decomposition }
    return { next: { ...value, low_scores, content } as Artifact, answer: 'stored' }
  })
  if (answer === 'stored') call.announce(artifact_topic)
  return answer
}

function hasScore({ content, low_scores }: Artifact, score: ArtifactScore): boolean {
  const { evaluator_score, score_decomposition } = score
  return (
    low_scores === score.low_scores &&
    content.evaluator_score === evaluator_score &&
    JSON.stringify(content.score_decomposition) === JSON.stringify(score_decomposition)
  )
}

export type CycleTerms = { readonly weights: ScoreWeights; readonly fast_cycles: number }

/** After each evaluation, for a demoted artifact: the document once it is forgotten, else the number of cycles since. */
export async function endDemotedCycle(
  call: Call,
  id: string,
  { weights, fast_cycles }: CycleTerms,
  ground: ChangeGround,
): Promise<Doc<Artifact> | Refusal | number> {
  const known = await call.store(artifacts).get(id)
  if (await isPaused(call, known.value.tenant_id)) return known.value.demoted_cycles
  const { doc } = await call
    .store(artifacts)
    .update(id, ({ value }) =>
      value.status === 'demoted'
        ? { next: { ...value, demoted_cycles: value.demoted_cycles + 1 }, answer: undefined }
        : { answer: undefined },
    )
  const { status, demoted_cycles, content } = doc.value
  const isFast = isDominatedByTools(content.score_decomposition, weights)
  if (status !== 'demoted' || demoted_cycles < cyclesUntilForgotten(isFast, fast_cycles)) return demoted_cycles
  return await forgetArtifact(call, id, ground)
}
