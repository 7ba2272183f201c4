// Evidence as an origin makes it for a session that several sites contribute to: with the real messages of real keys.
import { canonicalDigest, sha256 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import { parseStatement } from '../../../daemon/kernel/messaging/statement-format.ts'
import { combine } from '../../../daemon/roles/consensus/combine/combine.ts'
import { compareCanonicallyThenById } from '../../../daemon/roles/consensus/combine/opinion.ts'
import type {
  EvidenceBlock,
  EvidenceContent,
  EvidenceContent2,
} from '../../../daemon/roles/consensus/evidence/model.ts'
import { algorithmOf, signedBytes } from '../../../daemon/roles/consensus/evidence/rules.ts'
import { contributionMessage } from '../../../daemon/roles/consensus/session/contribution/model.ts'
import { contributionDigest } from '../../../daemon/roles/consensus/session/contribution/recent-contribution.ts'
import type { FederationMessage } from '../../../daemon/shared/federation-message/federation-message.ts'
import type { QuorumPolicy } from '../../../daemon/shared/quorum-policy/quorum-policy.ts'
import { noon } from '../../support/clock/simulated-clock.ts'
import type { PeerSite } from './peer-site.ts'

export type QuotedContribution = Omit<EvidenceContent2['contributions'][number], 'ordinal'>

/** A contribution of a site as the origin quotes it, with its message. */
export function quoteMessage({ envelope, body }: FederationMessage): QuotedContribution {
  const statement = parseStatement(Buffer.from(envelope.payload, 'base64url'))
  if (!statement) throw new Error('not a statement')
  const text = Buffer.from(body, 'base64url').toString('utf8')
  const { session_id: _session, ...opinion } = contributionMessage.parse(JSON.parse(text).data)
  const signer_key_id = 'message'
  const quoted = { contributor_id: statement.sender_tenant_id, ...opinion, signer_key_id, msg_id: statement.msg_id }
  return { ...quoted, digest: contributionDigest(quoted), proof: { type: 'message', envelope, body: text } }
}

/** A contribution of a person at the origin, who did not sign. */
export function quoteLocal(contributor_id: string, pair_score: number, classification: Label): QuotedContribution {
  const signer_key_id = `${contributor_id}-1`
  const quoted = { contributor_id, pair_score, accuracy: 1, credibility: 1, signer_key_id, classification }
  return { ...quoted, digest: contributionDigest(quoted) }
}

/** The quoted contribution with other numbers, and the digest that belongs to them. */
export function misquote(quoted: QuotedContribution, change: Partial<QuotedContribution>): QuotedContribution {
  const changed = { ...quoted, ...change }
  return { ...changed, digest: contributionDigest(changed) }
}

export type OriginSession = { readonly session_id: string; readonly policy: QuorumPolicy; readonly label: Label }

/** What an honest origin states about these contributions, in the order of their arrival. */
export function buildContent(
  { session_id, policy, label }: OriginSession,
  arrived: readonly QuotedContribution[],
): EvidenceContent2 {
  const numbered = arrived.map((quoted, at) => ({ ...quoted, ordinal: at + 1 }))
  const parents = numbered.flatMap(({ proof }) => (proof?.type === 'message' ? parentsOf(proof.envelope.payload) : []))
  return {
    v: 2,
    type: 'platform.evidence',
    site: 'bravo',
    tenant_id: 'tenant-b',
    session_id,
    lens_id: 'lens-b',
    lens_version: '1',
    policy,
    label,
    algorithm: algorithmOf(policy.combination_method),
    contributions: numbered.toSorted(compareCanonicallyThenById),
    record: {
      contributions: numbered.length,
      chain: numbered.reduce((chain, { digest }) => sha256(chain + digest), canonicalDigest(session_id)),
      superseded: [],
    },
    result: combine(policy.combination_method, numbered),
    decision: 'match',
    parent_block_ids: [...new Set(parents)].sort(),
    decided_at: new Date(noon).toISOString(),
  }
}

/** The same as a release without proofs states it. */
export function withoutProofs({ algorithm: _algorithm, ...content }: EvidenceContent2): EvidenceContent {
  const { contributions, chain } = content.record
  return {
    ...content,
    v: 1,
    contributions: content.contributions.map(({ ordinal: _ordinal, proof: _proof, ...quoted }) => quoted),
    record: { contributions, chain },
  }
}

/** The content under its id, signed as by the site that it names. */
export async function signBlock(by: PeerSite, content: EvidenceContent): Promise<EvidenceBlock> {
  const block_id = canonicalDigest(content)
  const signature = await by.sign('evidence', signedBytes(content, block_id))
  return { block_id, content, signature, keys: by.pinned.keys }
}

function parentsOf(payload: string): readonly string[] {
  return parseStatement(Buffer.from(payload, 'base64url'))?.parent_block_ids ?? []
}
