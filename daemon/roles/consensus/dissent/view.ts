// Shows a stored dissent record as the API returns it.
import type { Doc } from '../../../kernel/store/store.ts'
import type { DissentRecord } from '../session/dissent/model.ts'

export function showDissent({ id, value }: Doc<DissentRecord>) {
  const { label, body, ...rest } = value
  return { id, ...rest, classification: label, ...body }
}
