// Reviews artifacts that a cascade has flagged, by their own scores: where no model does it, or its answer leaves them out.
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { demoteArtifact, editArtifact } from '../artifact/change-artifacts.ts'
import type { Artifact } from '../artifact/model.ts'
import { isAdminDecided } from './commit-context.ts'
import type { ChangeOutcome } from './metrics.ts'

const low_score = 0.5

/** What an administrator has decided on keeps its flag until an administrator looks at it. */
export async function reviewByRules(call: Call, docs: readonly Doc<Artifact>[]): Promise<ChangeOutcome[]> {
  const outcomes: ChangeOutcome[] = []
  for (const { id, value } of docs) {
    if (!value.is_flagged || value.status !== 'active' || isAdminDecided(value)) continue
    const { evaluator_score = 1 } = value.content
    const ground = { actor: 'curator_auto', trigger: 'l3_performance_cascade', evaluator_score } as const
    const reason = `Guidance that rests on it fails; its own score is ${evaluator_score.toFixed(2)}.`
    const changed =
      evaluator_score < low_score
        ? await demoteArtifact(call, id, { ...ground, rationale: reason })
        : await editArtifact(call, id, { ...ground, rationale: `${reason} It stays as it is.` }, { is_reviewed: true })
    outcomes.push(isRefusal(changed) ? 'refused' : 'committed')
  }
  return outcomes
}
