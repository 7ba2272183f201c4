// Fields shared by inputs and documents of this role.
import * as z from 'zod'
import { label } from '../../kernel/label/label.ts'
import { requiredText } from '../../kernel/operation/required-text.ts'

export const shortText = requiredText(256)
export const uid = z.string().min(1).max(128)
export const uidInput = z.strictObject({ uid })
export const instant = z.iso.datetime()
/** The reason of an action. */
export const rationale = z.string().trim().min(1).max(4_096)

/** Fields of every document of this role: tenant, label, author and times. */
export const documentFields = {
  tenant_id: z.string(),
  label,
  created_by: shortText,
  created_at: instant,
  updated_at: instant,
  request_digest: z.string(),
}

/** These fields as the API returns them. */
export const documentViewFields = {
  tenant_id: z.string(),
  classification: label,
  created_by: shortText,
  created_at: instant,
  updated_at: instant,
}
