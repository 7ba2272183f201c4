// The folders of a profile from which records arrive.
import * as z from 'zod'
import { csvDialect } from '../../../kernel/data/csv-dialect.ts'
import { classification } from '../../../kernel/label/label.ts'

const arrivalFolder = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens'),
  path: z
    .string()
    .max(4_096)
    .regex(/^\/[^\0]*$/, 'must be an absolute path')
    .meta({ description: 'The folder; the service makes work, done and failed in it' }),
  node_id: z
    .string()
    .min(1)
    .max(256)
    .regex(/^[^\p{C}]+$/u, 'must not contain control characters')
    .meta({ description: 'The node of the records' }),
  lens: z.string().min(1).max(128).meta({ description: 'Lens whose registry the records are matched with' }),
  tenant_id: z
    .string()
    .min(1)
    .max(128)
    .refine((tenant_id) => tenant_id !== '*', 'must be one tenant')
    .optional()
    .meta({ description: 'Tenant of the records; default: the tenant of the site' }),
  classification: classification.optional().meta({
    description:
      'Label of the records, and clearance of the answers: they name no entity above it; default: platform’s',
  }),
  delimiter: csvDialect.shape.delimiter.unwrap().optional().meta({
    description: 'Between the values of text with columns; default: found in each file',
  }),
})
export type ArrivalFolder = z.infer<typeof arrivalFolder>

export const arrivalFolders = z
  .array(arrivalFolder)
  .max(32)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have unique names')
  .refine(
    (all) => new Set(all.map(({ path }) => path.replace(/\/+$/, ''))).size === all.length,
    'must have unique paths',
  )
  .default([])

/** The subject under which a folder acts, in audit records and in `created_by`. */
export function folderSubject(name: string): string {
  return `folder:${name}`
}

/** Name of a folder in the health of the role. */
export function folderDependency(name: string): string {
  return `arrival folder ${name}`
}
