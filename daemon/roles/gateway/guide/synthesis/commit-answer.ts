// Commits the answer of a model, entry by entry: what it suggests is checked, and one that fails keeps no other from it.
import { findDivergence } from '../drift/check-mined.ts'
import { commitDemotion, commitEdit, commitPromotion, commitReview } from './commit-change.ts'
import { type CommitContext, holdForReview } from './commit-context.ts'
import { commitCompaction, commitProposal } from './commit-proposal.ts'
import { type ChangeKind, type ChangeOutcome, synthesisChangeTotal } from './metrics.ts'
import type { AnswerEntry } from './model-answer.ts'
import type { SynthesisAnswer } from './read-answer.ts'
import { reviewByRules } from './review-by-rules.ts'

/** What came of each entry, such as `demote held`. */
export async function commitAnswer(context: CommitContext, answer: SynthesisAnswer): Promise<string[]> {
  const { call } = context
  const changes: string[] = []
  const commitAll = async <E>(
    kind: ChangeKind,
    entries: readonly E[],
    commit: (context: CommitContext, entry: E) => Promise<ChangeOutcome>,
  ) => {
    for (const entry of entries) {
      call.signal.throwIfAborted()
      const outcome = await commit(context, entry)
      call.count(synthesisChangeTotal, { change: kind, outcome })
      changes.push(`${kind} ${outcome}`)
      await call.pause()
    }
  }
  // Reviews first: a demotion of the same artifact may follow from one.
  await commitAll('review', answer.reviews, commitReview)
  await commitAll('propose', answer.proposals, commitProposal)
  await commitAll('compact', answer.compactions, commitCompaction)
  await commitAll('edit', answer.edits, commitEdit)
  await commitAll('promote', answer.promotions, commitPromotion)
  await commitAll('demote', answer.demotions, commitDemotion)
  await commitAll('drift', answer.drift_flags, commitDriftFlag)
  const reviewed = new Set(answer.reviews.map(({ artifact_id }) => artifact_id))
  const rest = [...context.shown.values()].filter(({ id }) => !reviewed.has(id))
  for (const outcome of await reviewByRules(call, rest)) changes.push(`review ${outcome}`)
  return changes
}

/** Of an edge that is recorded. It is a finding of the model's unless its windows have moved apart. */
async function commitDriftFlag(
  context: CommitContext,
  { source, target, rationale }: AnswerEntry<'drift_flags'>,
): Promise<ChangeOutcome> {
  const graphs = ['outcome_graph', 'intent_tool_graph', 'service_routing_graph'] as const
  const edge = graphs
    .flatMap((graph_id) => context.graph.listEdges(graph_id, source))
    .find((each) => each.target === target)
  if (!edge) return 'refused'
  const { graph_id } = edge
  const finding = findDivergence(edge) ?? { rule: 'diverging_trajectory', graph_id, source, target }
  const subject = `A synthesis reports drift of the edge from ${edge.source} to ${edge.target}`
  return await holdForReview(context, finding, { subject, rationale })
}
