// The evidence block: the complete basis of a ratification, in one self-contained signed document.
import * as z from 'zod'
import { jws, publicKey } from '../../../kernel/cryptography/signatures.ts'
import { label } from '../../../kernel/label/label.ts'
import { collection } from '../../../kernel/store/store.ts'
import { sessionSubject } from '../../../shared/match-session/match-session.ts'
import { quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { combination } from '../combine/combination.ts'
import { decision } from '../combine/decide.ts'
import { blockId, fraction, max_parent_blocks, shortText } from '../fields.ts'
import { contributionProof } from '../session/contribution/proof/model.ts'
import { attestation } from '../session/model.ts'

const hex64 = blockId

/** Without defaults: the id of a block covers the content as it stands, not as a reader completes it. */
const statedLabel = label.extend({ categories: label.shape.categories.unwrap() })
const { combination_method, ratify_threshold, conflict_threshold } = quorumPolicy.shape
const statedPolicy = quorumPolicy.safeExtend({
  combination_method: combination_method.unwrap(),
  ratify_threshold: ratify_threshold.unwrap(),
  conflict_threshold: conflict_threshold.unwrap(),
})

const quotedContribution = z.strictObject({
  contributor_id: shortText,
  pair_score: fraction,
  accuracy: fraction,
  credibility: fraction,
  signer_key_id: shortText,
  classification: statedLabel,
  digest: hex64.meta({ description: 'SHA-256 of the canonical contributor, opinion, key and classification' }),
  msg_id: shortText.optional(),
})

const provenContribution = quotedContribution.extend({
  ordinal: z.int().min(1).meta({ description: 'Position in the session’s record' }),
  proof: contributionProof.optional().meta({ description: 'Absent: the site alone vouches for the contribution' }),
})

export type ProvenContribution = z.infer<typeof provenContribution>

const record = z.strictObject({
  contributions: z
    .int()
    .min(0)
    .meta({ description: 'Number of contributions in the record, superseded ones included' }),
  chain: z.string().meta({ description: 'Rolling digest over all of them' }),
})

const provenRecord = record.extend({
  superseded: z
    .array(z.strictObject({ ordinal: z.int().min(1), digest: hex64 }))
    .optional()
    .meta({ description: 'The superseded contributions; absent when there are more than a thousand' }),
})

/** The order of the sums and the operations, as docs/consensus.md defines them; a change of either is a new name. */
export const algorithm = z.enum(['weighted_average/1', 'dempster_shafer/1'])

const contentFields = {
  type: z.literal('platform.evidence'),
  site: shortText,
  tenant_id: shortText,
  session_id: shortText,
  lens_id: shortText,
  lens_version: shortText,
  subject: sessionSubject.optional(),
  policy: statedPolicy,
  label: statedLabel,
  result: combination,
  decision,
  attestation: attestation.optional(),
  parent_block_ids: z.array(hex64),
  decided_at: z.iso.datetime(),
}

/** Without proofs: the site alone vouches for each contribution. */
const evidenceContent1 = z.strictObject({
  v: z.literal(1),
  ...contentFields,
  contributions: z.array(quotedContribution),
  record,
})
export type EvidenceContent1 = z.infer<typeof evidenceContent1>

const evidenceContent2 = z.strictObject({
  v: z.literal(2),
  ...contentFields,
  algorithm,
  contributions: z.array(provenContribution),
  record: provenRecord,
})
export type EvidenceContent2 = z.infer<typeof evidenceContent2>

const lineageEntry = z.strictObject({
  relation: z.enum(['supersedes', 'rests_on']).meta({
    description:
      'supersedes: the block of the session that this one takes the place of; rests_on: a block that the attester named',
  }),
  block_id: hex64,
})
export type LineageEntry = z.infer<typeof lineageEntry>

/** Version 2 of a session that names blocks itself, besides those that its messages name. */
const evidenceContent3 = evidenceContent2.extend({
  v: z.literal(3),
  lineage: z
    .array(lineageEntry)
    .min(1)
    .max(max_parent_blocks + 1)
    .meta({ description: 'In ascending order of the ids, each once' }),
})
type EvidenceContent3 = z.infer<typeof evidenceContent3>

/** The versions in which a contribution stands beside its proof. */
export type ProvenEvidence = EvidenceContent2 | EvidenceContent3

/** The hashed content, as canonical JSON (RFC 8785). */
const evidenceContent = z
  .discriminatedUnion('v', [evidenceContent1, evidenceContent2, evidenceContent3])
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
