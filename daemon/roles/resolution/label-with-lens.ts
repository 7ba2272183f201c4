// Computes the label of data that names fields of a lens: its own label joined with the label of the lens.
import { isRefusal, type Refusal, refuse } from '../../kernel/error/errors.ts'
import { joinLabels, type Label } from '../../kernel/label/label.ts'
import { resolveClassification } from '../../kernel/label/resolve-classification.ts'
import type { Call } from '../../kernel/operation/call.ts'
import type { Doc } from '../../kernel/store/store.ts'
import type { StoredLens } from './lens/stored-lens.ts'

type RequestedLabel = Parameters<typeof resolveClassification>[1]

/** `classification`: the label in the request. Without one, the default level of the site applies. */
export function labelWithLens(
  call: Call,
  classification: RequestedLabel | undefined,
  { value }: Doc<StoredLens>,
): Label | Refusal {
  const own = resolveClassification(call, classification ?? call.site.default_level)
  if (isRefusal(own)) return own
  const joined = joinLabels(own, value.label, call.site.labels)
  return joined
    ? resolveClassification(call, joined)
    : refuse('label_denied', 'the lens is labelled under another policy than the data')
}
