// The evidence block: the complete basis of a ratification, in one self-contained signed document.
import * as z from 'zod'
import { jws, publicKey } from '../../../kernel/cryptography/signatures.ts'
import { label } from '../../../kernel/label/label.ts'
import { collection } from '../../../kernel/store/store.ts'
import { sessionSubject } from '../../../shared/match-session/match-session.ts'
import { quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { combination } from '../combine/combination.ts'
import { decision } from '../combine/decide.ts'
import { fraction } from '../fields.ts'
import { attestation } from '../session/model.ts'

const hex64 = z.string().regex(/^[0-9a-f]{64}$/)

/** The hashed content, as canonical JSON (RFC 8785). */
const evidenceContent = z
  .strictObject({
    v: z.literal(1),
    type: z.literal('platform.evidence'),
    site: z.string(),
    tenant_id: z.string(),
    session_id: z.string(),
    lens_id: z.string(),
    lens_version: z.string(),
    subject: sessionSubject.optional(),
    policy: quorumPolicy,
    label,
    contributions: z.array(
      z.strictObject({
        contributor_id: z.string(),
        pair_score: fraction,
        accuracy: fraction,
        credibility: fraction,
        signer_key_id: z.string(),
        classification: label,
        digest: hex64.meta({ description: 'SHA-256 of the canonical contributor, opinion, key and classification' }),
        msg_id: z.string().optional(),
      }),
    ),
    record: z.strictObject({
      contributions: z.int().meta({ description: 'Number of contributions in the record, superseded ones included' }),
      chain: z.string().meta({ description: 'Rolling digest over all of them' }),
    }),
    result: combination,
    decision,
    attestation: attestation.optional(),
    parent_block_ids: z.array(hex64),
    decided_at: z.iso.datetime(),
  })
  .meta({ id: 'EvidenceContent' })
export type EvidenceContent = z.infer<typeof evidenceContent>

export const evidenceBlock = z
  .strictObject({
    block_id: hex64.meta({ description: 'SHA-256 of the canonical content' }),
    content: evidenceContent,
    signature: jws.meta({ description: 'JWS over the canonical {v, type, site, block_id}' }),
    keys: z.array(publicKey).meta({ description: 'The signer’s public keys; trust them by fingerprint' }),
  })
  .meta({ id: 'EvidenceBlock' })
export type EvidenceBlock = z.infer<typeof evidenceBlock>

export const evidenceBlocks = collection({
  name: 'evidence',
  schema: z.strictObject({
    tenant_id: z.string(),
    label,
    session_id: z.string(),
    created_at: z.iso.datetime(),
    block: evidenceBlock,
  }),
  indexes: ['session_id', 'created_at'],
})
