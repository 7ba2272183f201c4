// Checks the evidence of a peer against all that this site knows: the invitation, its own contributions, the keys of others.
import { selectCountingKeys } from '../../../kernel/cryptography/counting-signers.ts'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { isCoveredBy } from '../../../kernel/label/label.ts'
import { type LabelMap, translateLabel } from '../../../kernel/label/label-map.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { runInSlices } from '../../../kernel/role/run-in-slices.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { listPinnedPeers, type PinnedPeer } from '../../../shared/pinned-peers/pinned-peers.ts'
import { verifyFromPeer, verifyQuotedStatement } from '../../../shared/site-message/site-message.ts'
import { type Attribution, attributeContributions, type SignerDirectory } from '../evidence/attribute-contributions.ts'
import { findEvidenceFaults } from '../evidence/content-faults.ts'
import type { EvidenceBlock, EvidenceContent, EvidenceContent1 } from '../evidence/model.ts'
import type { StoredSession } from '../session/model.ts'
import { timeDecisions } from '../session/time-decisions.ts'
import { settings } from '../settings.ts'
import { isQuotedAsSent, listOwnContributions } from './own-contributions.ts'

export type EvidenceCheck = { readonly faults: readonly string[]; readonly attributions: readonly Attribution[] }

/** `copy`: the session as this site follows it. Faults are in words, for people. */
export async function checkEvidence(
  call: Call,
  copy: Doc<StoredSession>,
  block: EvidenceBlock,
  label_map: LabelMap | undefined,
): Promise<EvidenceCheck> {
  const { content } = block
  const timer = timeDecisions(call)
  const pinned = await listPinnedPeers(call)
  const sites = [...pinned, { name: call.site.name, tenant_id: call.site.tenant_id }]
  const attributed = await attributeContributions(content, signerDirectory(call, sites))
  const faults = [
    ...findInvitationFaults(copy.value, content),
    ...findLabelFaults(call, copy.value, content, label_map),
    ...(await runInSlices(call, findEvidenceFaults(block, timer.decide))),
    ...(await findSignatureFaults(call, block)),
    ...attributed.faults,
    ...findUnprovenContributions(call, copy.value, content, sites),
    ...(content.v === 1 ? await findMisquotes(call, copy, content) : []),
  ]
  timer.observe()
  return { faults, attributions: attributed.attributions }
}

/** The session must be the one that this site was invited to. */
function findInvitationFaults(copy: StoredSession, content: EvidenceContent): string[] {
  const pairs = {
    site: [copy.origin?.peer, content.site],
    tenant_id: [copy.origin?.tenant_id, content.tenant_id],
    session_id: [copy.id, content.session_id],
    lens_id: [copy.lens_id, content.lens_id],
    lens_version: [copy.lens_version, content.lens_version],
    subject: [canonicalJson(copy.subject ?? null), canonicalJson(content.subject ?? null)],
    policy: [canonicalJson(copy.policy), canonicalJson(content.policy)],
  }
  const different = Object.entries(pairs).flatMap(([name, [invited, stated]]) => (invited === stated ? [] : [name]))
  return different.length > 0 ? [`the block differs from the invitation in ${different.join(', ')}`] : []
}

/** Contributions can narrow the label of a session, and nothing can widen it. */
function findLabelFaults(
  { site }: Call,
  { invitation_label }: StoredSession,
  { label }: EvidenceContent,
  label_map: LabelMap | undefined,
): string[] {
  const translated = translateLabel(label, label_map, site.labels)
  if (isRefusal(translated)) return ['the label of the block cannot be translated']
  const isNarrower = !invitation_label || isCoveredBy(invitation_label, translated, site.labels)
  return isNarrower ? [] : ['the label of the block is wider than that of the invitation']
}

async function findSignatureFaults(call: Call, { content, signature }: EvidenceBlock): Promise<string[]> {
  const verified = await verifyFromPeer(call, content.site, 'evidence', signature)
  if (isRefusal(verified)) return ['the block carries no valid signature of the origin']
  const hasCounting = selectCountingKeys(verified.keys, content.decided_at).length > 0
  return hasCounting ? [] : ['the block is signed by an expired key']
}

function signerDirectory(call: Call, sites: readonly PinnedPeer[]): SignerDirectory {
  return {
    async verifyMessage({ src, sender_tenant_id }, envelope) {
      if (!sites.some(({ name, tenant_id }) => name === src || tenant_id === sender_tenant_id))
        return { outcome: 'unknown' }
      const verified = await verifyQuotedStatement(call, src, envelope)
      if (!isRefusal(verified)) return { outcome: 'signed', keys: verified.keys }
      return { outcome: 'refused', detail: `the message in the name of ${src} does not hold: ${verified.message}` }
    },
    // People are enrolled at the origin.
    verifyContributor: async () => ({ outcome: 'unknown' }),
    pause: call.pause,
  }
}

/** Contributions of sites whose keys are pinned here, this one included, need their signed message. */
function findUnprovenContributions(
  call: Call,
  copy: StoredSession,
  content: EvidenceContent,
  sites: readonly PinnedPeer[],
): string[] {
  const isTrusted = call.settings(settings).evidence_v1_peers.includes(content.site)
  const tenants = new Set(sites.map(({ tenant_id }) => tenant_id))
  const proven = new Set(content.contributions.flatMap((each) => (isQuotedMessage(each) ? each.contributor_id : [])))
  return content.contributions.flatMap((contribution) => {
    const { contributor_id, msg_id } = contribution
    const isOwn = contributor_id === copy.tenant_id
    // The origin vouches for its own people, whatever their names.
    if (contributor_id === copy.origin?.tenant_id) return []
    if (content.v === 1) {
      const isOfThirdSite = !isOwn && (msg_id !== undefined || tenants.has(contributor_id))
      return isOfThirdSite && !isTrusted
        ? [`${contributor_id}: version 1 proves no contribution of another site; see consensus.evidence_v1_peers`]
        : []
    }
    // Beside the message of the site, a contributor of the origin with the name of its tenant is one of its own people.
    return tenants.has(contributor_id) && !proven.has(contributor_id)
      ? [`${contributor_id}: the message of this site is missing`]
      : []
  })
}

function isQuotedMessage(contribution: EvidenceContent['contributions'][number]): boolean {
  return 'proof' in contribution && contribution.proof?.type === 'message'
}

/** Version 1 has no proofs: the contributions of this site must be in its own record. */
async function findMisquotes(call: Call, copy: Doc<StoredSession>, content: EvidenceContent1): Promise<string[]> {
  const quoted = content.contributions.filter(({ contributor_id }) => contributor_id === copy.value.tenant_id)
  if (quoted.length === 0) return []
  const sent = await listOwnContributions(call, copy)
  return quoted.every((each) => sent.some((own) => isQuotedAsSent(own, each)))
    ? []
    : [`${copy.value.tenant_id}: the record of this site holds no such contribution`]
}
