// The curator of a tenant: whether it is paused, in one document, with the record of the last change.
import * as z from 'zod'
import { collection } from '../../../../kernel/store/store.ts'
import { auditEntry } from '../audit/entry.ts'
import { documentFields } from '../document-fields.ts'

const storedCurator = z.strictObject({
  ...documentFields,
  is_paused: z.boolean(),
  /** Counts changes. */
  version: z.int().min(1),
  actor: z.string(),
  rationale: z.string(),
  pending_audit: auditEntry.optional(),
  follow_up: z.boolean().optional(),
})
export type StoredCurator = z.infer<typeof storedCurator>

/** By tenant. */
export const curators = collection({
  name: 'guide_curator',
  schema: storedCurator,
  indexes: ['is_paused', 'follow_up'],
  revision: ({ version }) => version,
})

export const curatorId = (tenant_id: string): string => `curator.${tenant_id}`
