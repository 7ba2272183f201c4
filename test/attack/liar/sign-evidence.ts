// Changes the evidence of a host and signs it anew with its key.
import type { Signatures } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalDigest, canonicalJson, sha256 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import type { Combination } from '../../../daemon/roles/consensus/combine/combination.ts'
import { decide } from '../../../daemon/roles/consensus/combine/decide.ts'
import { compareCanonicallyThenById } from '../../../daemon/roles/consensus/combine/opinion.ts'
import { contributionDigest } from '../../../daemon/roles/consensus/session/contribution/recent-contribution.ts'
import type { QuorumPolicy } from '../../../daemon/shared/quorum-policy/quorum-policy.ts'
import type { MessageLie } from './tampering-carrier.ts'

/** As every version of the block quotes it. */
export type QuotedContribution = {
  contributor_id: string
  pair_score: number
  accuracy: number
  credibility: number
  signer_key_id: string
  classification: Label
  digest: string
  msg_id?: string
  /** From version 2 on: its position in the record. */
  ordinal?: number
}

/** What the lies change of a block's content, of whatever version. */
export type BlockContent = {
  v: number
  site: string
  tenant_id: string
  session_id: string
  lens_id: string
  lens_version: string
  subject?: { kind: string; left: string; right: string }
  policy: QuorumPolicy
  label: Label
  contributions: QuotedContribution[]
  record: { contributions: number; chain: string }
  result: Combination
  decision: 'match' | 'non_match'
  parent_block_ids: string[]
  decided_at: string
}

export type SignedBlock = { readonly content: BlockContent; readonly keys: unknown }

export type EvidenceLie = {
  readonly name: string
  /** Changes the content of the evidence of a session in which alpha gave .9 and bravo's ben .8. */
  readonly change: (content: BlockContent) => void
}

/** A lie about the evidence, signed by its host. */
export function lieAboutEvidence(change: EvidenceLie['change']): MessageLie {
  return async ({ statement, body }, sign) => {
    if (statement.kind !== 'result') return
    const { evidence } = body.data as { evidence?: SignedBlock }
    if (!evidence) return
    const content = structuredClone(evidence.content)
    change(content)
    body.data = { ...body.data, evidence: await signBlock({ ...evidence, content }, sign) }
  }
}

export async function signBlock({ content, keys }: SignedBlock, sign: Signatures['sign']) {
  const block_id = sha256(canonicalJson(content))
  const { v, site } = content
  const signed = canonicalJson({ v, type: 'platform.evidence', site, block_id })
  return { block_id, content, keys, signature: await sign('evidence', Buffer.from(signed)) }
}

/** Makes all that can be computed follow from the contributions: digests, order, result, decision, chain. */
export function settle(content: BlockContent): void {
  for (const each of content.contributions) each.digest = contributionDigest(each)
  content.contributions.sort(compareCanonicallyThenById)
  const decided = decide(content.policy, content.contributions)
  content.result = decided.combination
  if (decided.state === 'RATIFIED') content.decision = decided.decision
  content.record.contributions = content.contributions.length
  content.record.chain = chainOf(content)
}

/** The record in the order of arrival, which blocks without ordinals do not tell. */
function chainOf({ session_id, contributions }: BlockContent): string {
  const arrived = contributions.toSorted((a, b) => (a.ordinal ?? 0) - (b.ordinal ?? 0))
  return arrived.reduce((before, { digest }) => sha256(before + digest), canonicalDigest(session_id))
}

export const quoteOf = ({ contributions }: BlockContent, contributor_id = 'tenant-a'): QuotedContribution => {
  const found = contributions.find((each) => each.contributor_id === contributor_id)
  if (!found) throw new Error(`the block quotes no contribution of ${contributor_id}`)
  return found
}
