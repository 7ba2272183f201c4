// Fields that inputs and documents of this role share.
import * as z from 'zod'
import { label } from '../../kernel/label/label.ts'

export const shortText = z.string().min(1).max(256)
export const uid = z.string().min(1).max(128)
export const uidInput = z.strictObject({ uid })
export const instant = z.iso.datetime()
/** Why somebody did something. */
export const rationale = z.string().trim().min(1).max(4_096)

/** What every document of this role says of whose it is and when it came to be. */
export const documentFields = {
  tenant_id: z.string(),
  label,
  created_by: shortText,
  created_at: instant,
  updated_at: instant,
  request_digest: z.string(),
}

/** The same as the interface shows it. */
export const documentViewFields = {
  tenant_id: z.string(),
  classification: label,
  created_by: shortText,
  created_at: instant,
  updated_at: instant,
}
