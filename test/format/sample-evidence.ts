// Evidence blocks of a test: content that follows from its contributions, and the signature of its site.
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { canonicalDigest, canonicalJson, sha256 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { combine } from '../../daemon/roles/consensus/combine/combine.ts'
import { decide } from '../../daemon/roles/consensus/combine/decide.ts'
import type { LineageEntry } from '../../daemon/roles/consensus/evidence/model.ts'
import type { QuorumPolicy } from '../../daemon/shared/quorum-policy/quorum-policy.ts'
import { type JsonMembers, signContent } from './signed-documents.ts'

export type SampleContribution = {
  readonly contributor_id: string
  readonly pair_score: number
  readonly accuracy: number
  readonly credibility: number
  readonly signer_key_id: string
  readonly classification: JsonMembers
  readonly msg_id?: string
  readonly proof?: JsonMembers
}

export type SampleBlock = {
  readonly session_id: string
  readonly policy: QuorumPolicy
  readonly label: JsonMembers
  readonly contributions: readonly SampleContribution[]
  readonly at: string
  readonly attestation?: JsonMembers
  readonly parent_block_ids?: readonly string[]
  readonly lineage?: readonly LineageEntry[]
  readonly subject?: JsonMembers
}

/** The content of a block of this version, by the rules of docs/consensus.md. */
export function buildContent(v: 1 | 2 | 3, block: SampleBlock): JsonMembers {
  const { session_id, policy, label, at, attestation, subject, lineage = [] } = block
  const { parent_block_ids = lineage.map(({ block_id }) => block_id) } = block
  const listed = block.contributions.map((contribution, index) => quote(v, contribution, index + 1))
  const chain = listed.reduce((before, { digest }) => sha256(before + digest), canonicalDigest(session_id))
  const opinions = block.contributions
  const decided = decide(policy, opinions)
  return {
    v,
    ...{
      type: 'platform.evidence',
      site: 'alpha',
      tenant_id: 'tenant-alpha',
      session_id,
      lens_id: 'lens',
      lens_version: '1',
    },
    ...(subject ? { subject } : {}),
    ...{ policy, label, decided_at: at, parent_block_ids },
    ...(v === 1 ? {} : { algorithm: `${policy.combination_method}/1` }),
    ...(v === 3 ? { lineage } : {}),
    contributions: listed,
    record: { contributions: listed.length, chain, ...(v === 1 ? {} : { superseded: [] }) },
    result: combine(policy.combination_method, opinions),
    decision: attestation?.decision ?? ('decision' in decided ? decided.decision : 'match'),
    ...(attestation ? { attestation } : {}),
  }
}

function quote(v: 1 | 2 | 3, { proof, msg_id, ...contribution }: SampleContribution, ordinal: number) {
  const digest = canonicalDigest(contribution)
  const quoted = { ...contribution, digest, ...(msg_id === undefined ? {} : { msg_id }) }
  return v === 1 ? quoted : { ...quoted, ordinal, ...(proof ? { proof } : {}) }
}

/** The block over this content, whatever it states. */
export async function signBlock(content: JsonMembers, by: readonly StoredKey[]): Promise<JsonMembers> {
  const block_id = canonicalDigest(content)
  const { v, site } = content
  const signed = canonicalJson({ v, type: 'platform.evidence', site, block_id })
  const signature = await signContent('evidence', signed, by)
  return { block_id, content, signature, keys: by.map(({ public_key }) => public_key) }
}
