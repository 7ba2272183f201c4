// A contribution: one contributor's scored opinion, its signing key, and its provenance.
import * as z from 'zod'
import { classification, label } from '../../../../kernel/label/label.ts'
import { collection } from '../../../../kernel/store/store.ts'
import { sessionId } from '../../../../shared/match-session/session-id.ts'
import { fraction, parentBlocks, shortText } from '../../fields.ts'
import { contributorSignature } from './proof/model.ts'

const opinionFields = {
  pair_score: fraction.meta({ description: 'Opinion on the pair: 1 for a match, 0 for no match' }),
  accuracy: fraction.meta({ description: 'Observed accuracy of this kind of judgement' }),
  credibility: fraction.meta({ description: 'Trust in the contributor' }),
}

export const contributionInput = z.strictObject({
  contributor_id: shortText,
  ...opinionFields,
  signer_key_id: shortText.meta({ description: 'A key enrolled for the contributor' }),
  classification,
  signature: contributorSignature.optional().meta({
    description: 'By an enrolled key of the contributor; then the classification must name its releasability',
  }),
  parent_block_ids: parentBlocks.default([]).meta({
    description: 'Evidence blocks that the contribution rests on, for the message to the peer that hosts the session',
  }),
})

/** The data of a `contribution` message. */
export const contributionMessage = z.strictObject({ session_id: sessionId, ...opinionFields, classification: label })

/** The message that a record came from; `(epoch, seq)` orders the messages of one source. */
export const provenance = z.strictObject({
  transport: shortText,
  peer: shortText,
  msg_id: shortText,
  epoch: z.int(),
  seq: z.int(),
  parent_block_ids: z.array(z.string()),
})
export type Provenance = z.infer<typeof provenance>

export const contribution = z
  .strictObject({
    id: shortText,
    ordinal: z.int().min(1).meta({ description: 'Position in the session’s record' }),
    contributor_id: shortText,
    ...opinionFields,
    signer_key_id: shortText,
    classification: label,
    digest: z.string().meta({ description: 'SHA-256 of the canonical contributor, opinion, key and label' }),
    submitted_by: shortText,
    at: z.iso.datetime(),
    federation: provenance.optional(),
    parent_block_ids: parentBlocks
      .optional()
      .meta({ description: 'At a session of a peer: the blocks that the message to it names' }),
    proof: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .meta({ description: 'SHA-256 of its proof: the signed message, or the signature of the contributor' }),
  })
  .meta({ id: 'Contribution' })
export type Contribution = z.infer<typeof contribution>

/** Number of contributions in each stored page of a session's record; pages are written once and never changed. */
export const page_size = 8

export const contributionPages = collection({
  name: 'contribution_page',
  schema: z.strictObject({
    tenant_id: z.string(),
    label,
    session_id: z.string(),
    page: z.int().min(0),
    contributions: z.array(contribution).length(page_size),
  }),
  // Found by id alone.
  indexes: [],
})
