// Fields that every document of the guidance layer has (document 002, "Memory model and indices").
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'

/** Times are epoch milliseconds. */
export const documentFields = {
  tenant_id: z.string(),
  label: label.optional(),
  uds: z.strictObject({ timestamp: z.number(), username: z.string(), visibility: z.enum(['tenant', 'label']) }),
  create_ts: z.number(),
  update_ts: z.number(),
  schema_version: z.literal(1),
}
