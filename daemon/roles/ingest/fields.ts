// Fields that inputs and documents of this role share.
import * as z from 'zod'
import { label } from '../../kernel/label/label.ts'
import { requiredText } from '../../kernel/operation/required-text.ts'

export const shortText = requiredText(256)
/** A column of a dataset: files may name it as they like. */
export const columnName = z.string().max(1_024)
export const uid = z.string().min(1).max(128)
export const uidInput = z.strictObject({ uid })
export const count = z.int().min(0)
export const instant = z.iso.datetime()

/** Owner, label and origin of a document, as every document of this role stores them. */
export const provenanceFields = {
  tenant_id: z.string(),
  label,
  created_by: shortText,
  created_at: instant,
  updated_at: instant,
}

/** These fields under the names of the interface. */
export const provenanceViewFields = {
  tenant_id: z.string(),
  classification: label,
  created_by: shortText,
  create_ts: instant,
  update_ts: instant,
}

/** Values by names, of any JSON: what a caller brings, and no part of the site decides. */
export const namedValues = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/, 'must be a name of letters, digits and _ . -'),
  z.json(),
)

export const jsonSchema = z.record(z.string(), z.json())

/** The JSON Schema of what an author writes. */
export function renderSchema(schema: z.ZodType): z.output<typeof jsonSchema> {
  return jsonSchema.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
}
