// A lens emission: a site's decision on a lens, as it is sent and as the receiving site stores it.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { collection } from '../../../kernel/store/store.ts'
import { sessionSubject } from '../../../shared/match-session/match-session.ts'
import { sessionId } from '../../../shared/match-session/session-id.ts'
import { combination } from '../combine/combination.ts'
import { decision } from '../combine/decide.ts'
import { shortText } from '../fields.ts'
import { provenance } from '../session/contribution/model.ts'
import { emissionEvent } from '../session/model.ts'

const emissionFields = {
  session_id: z.string().min(1).max(128),
  seq: z.int().min(1).meta({ description: 'Number of the session’s event; a higher one is newer' }),
  at: z.iso.datetime().meta({ description: 'When the origin ratified the decision, or withdrew it' }),
  lens_id: shortText,
  lens_version: shortText,
  subject: sessionSubject.optional(),
  decision,
  score: combination.shape.score,
  attested: z.boolean().meta({ description: 'Whether a person decided, in place of the contributions' }),
  evidence_block_id: z.string().min(1).max(128).optional(),
}

/** The emission as every sink receives it; the data of a `lens_emission` message. */
export const sentEmission = z.strictObject({ event: emissionEvent, ...emissionFields, session_id: sessionId })
export type SentEmission = z.infer<typeof sentEmission>

const emissionStatus = z.enum(['standing', 'withdrawn'])

const receivedFields = {
  origin: z.string().meta({ description: 'The peer that decided' }),
  origin_tenant_id: z.string(),
  status: emissionStatus,
  ...emissionFields,
  signer_key_id: z.string(),
  federation: provenance,
  received_at: z.iso.datetime().meta({ description: 'When the first emission of this session arrived' }),
  updated_at: z.iso.datetime(),
}

const storedEmission = z.strictObject({
  tenant_id: z.string(),
  label,
  ...receivedFields,
  /** Correlation id of the subject, repeated here for the index. */
  correlation_id: z.string().optional(),
  /** SHA-256 of the canonical message data: distinguishes a repeat from other content under the same number. */
  digest: z.string(),
})
export type StoredEmission = z.infer<typeof storedEmission>

/** Emissions received from peers, one for each session of each peer. This site's own are in the outboxes of its sessions. */
export const emissions = collection({
  name: 'emission',
  schema: storedEmission,
  indexes: ['origin', 'session_id', 'lens_id', 'correlation_id', 'status', 'updated_at'],
})

export const lensEmission = z
  .strictObject({ id: z.string(), tenant_id: z.string(), classification: label, ...receivedFields })
  .meta({ id: 'LensEmission', description: 'A peer’s decision on a lens' })
