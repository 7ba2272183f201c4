// The label of data that names fields of a lens: its own label joined with that of the lens.
import { isRefusal, type Refusal, refuse } from '../../kernel/error/errors.ts'
import { joinLabels, type Label } from '../../kernel/label/label.ts'
import { resolveClassification } from '../../kernel/label/resolve-classification.ts'
import type { Call } from '../../kernel/operation/call.ts'
import type { Doc } from '../../kernel/store/store.ts'
import type { StoredLens } from './lens/stored-lens.ts'

type RequestedLabel = Parameters<typeof resolveClassification>[1]

/** `classification`: as the request has it; the default level of the site where it is absent. */
export function labelWithLens(
  call: Call,
  classification: RequestedLabel | undefined,
  { value }: Doc<StoredLens>,
): Label | Refusal {
  const own = resolveClassification(call, classification ?? call.site.default_level)
  if (isRefusal(own)) return own
  const joined = joinLabels(own, value.label, call.site.labels)
  return joined ? resolveClassification(call, joined) : refuse('label_denied', 'the lens is labelled by another policy')
}
