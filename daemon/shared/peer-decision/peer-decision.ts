// Decisions that peers emitted on lenses, as the roles that act on them by rules of the profile read them.
import * as z from 'zod'
import { label } from '../../kernel/label/label.ts'
import { operationContract } from '../../kernel/operation/operation-contract.ts'
import { listFields } from '../../kernel/operation/paging.ts'
import { sessionSubject } from '../match-session/match-session.ts'

/** Of the fields of an emission, those that a rule or its effect reads. */
const peerDecision = z.object({
  id: z.string().min(1).max(192),
  tenant_id: z.string().min(1),
  classification: label,
  origin: z.string().min(1),
  status: z.enum(['standing', 'withdrawn']),
  seq: z.int().min(1),
  at: z.iso.datetime(),
  lens_id: z.string(),
  subject: sessionSubject.optional(),
  decision: z.enum(['match', 'non_match']),
  score: z.number().nullable(),
  attested: z.boolean(),
  evidence_block_id: z.string().optional(),
  updated_at: z.iso.datetime(),
})
export type PeerDecision = z.infer<typeof peerDecision>

/** Newest change first. */
export const listPeerDecisions = operationContract({
  address: 'consensus.emission.list',
  input: z.strictObject({
    ...listFields,
    lens_id: z.string().max(256).optional(),
    session_id: z.string().max(128).optional().meta({ description: 'The session’s id at its origin' }),
    correlation_id: z.string().max(256).optional().meta({ description: 'uid of the EntityMatch that it decides' }),
    origin: z.string().max(64).optional().meta({ description: 'The peer that decided' }),
    status: peerDecision.shape.status.optional(),
  }),
  output: z.object({ items: z.array(peerDecision), next_cursor: z.string().optional() }),
})

/** The decisions that a rule of the profile is about. */
export const peerDecisionFilter = {
  peer: z.string().min(1).max(64).meta({ description: 'The peer that decided' }),
  lens_id: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .meta({ description: 'Id of the lens, as the peer names it; absent: any' }),
}

export type PeerDecisionFilter = { readonly peer: string; readonly lens_id?: string | undefined }

export function isSelected({ peer, lens_id }: PeerDecisionFilter, decision: PeerDecision): boolean {
  return decision.origin === peer && (lens_id === undefined || decision.lens_id === lens_id)
}
