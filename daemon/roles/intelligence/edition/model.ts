// The model of an edition: the findings of an insight at some time, which a person may attest.
import * as z from 'zod'
import { instant, rationale, shortText, uid } from '../fields.ts'

export const attestation = z
  .strictObject({ by: shortText, at: instant, rationale: rationale.optional() })
  .meta({ id: 'EditionAttestation' })

/** Fields that the author sets. */
export const editionInput = {
  title: z.string().trim().min(1).max(512),
  summary: z.string().max(4_096),
  closes: z.boolean().meta({ description: 'Whether its attestation closes the investigation' }),
}

const editionFields = {
  edition_id: uid,
  ...editionInput,
  created_by: shortText,
  created_at: instant,
  attested: attestation.optional(),
}

export const storedEdition = z.strictObject({ ...editionFields, request_digest: z.string() })
export type StoredEdition = z.infer<typeof storedEdition>

export const edition = z.strictObject(editionFields).meta({ id: 'Edition' })
