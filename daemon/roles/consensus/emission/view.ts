// Shows a stored emission as the API returns it.
import type * as z from 'zod'
import type { Doc } from '../../../kernel/store/store.ts'
import type { lensEmission, StoredEmission } from './model.ts'

export function showEmission({ id, value }: Doc<StoredEmission>): z.infer<typeof lensEmission> {
  const { label, correlation_id: _indexed, digest: _digest, ...rest } = value
  return { id, ...rest, classification: label }
}
