// The label of a document that names others: the join of their labels.
import { type Refusal, refuse } from '../../kernel/error/errors.ts'
import { dominates, joinLabels, type Label } from '../../kernel/label/label.ts'
import type { Call } from '../../kernel/operation/call.ts'

/** Joins the labels. Refuses `label_denied` with `reason` if they have no join or the caller may not see the join. */
export function joinVisibleLabels(call: Call, labels: readonly [Label, ...Label[]], reason: string): Label | Refusal {
  let joined: Label | undefined = labels[0]
  for (const each of labels.slice(1)) joined = joined && joinLabels(joined, each, call.site.labels)
  if (joined && dominates(call.caller, joined, call.site.labels)) return joined
  return refuse('label_denied', reason)
}
