// Verifies a set at this site: by the pinned keys of its peer as they are now, for this site, with labels that may enter.
import { findSignerFault } from '../../../../kernel/cryptography/counting-signers.ts'
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { type Label, labelKey, normaliseLabel } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { admitLabel } from '../../../../shared/label-crossing/label-crossing.ts'
import { listPinnedPeers } from '../../../../shared/pinned-peers/pinned-peers.ts'
import { verifyFromPeer } from '../../../../shared/site-message/site-message.ts'
import { type SetManifest, set_document_type } from './format.ts'
import { setOriginId, setOrigins } from './model.ts'
import type { ReadSet } from './read-set.ts'

/** Clocks of sites differ by less. */
const skew_ms = 300_000

/** Refuses `signature_invalid` where enough pinned keys of the peer do not count for it, and `invalid` for one that is not for this site. */
export async function verifySet(call: Call, { signed, manifest }: ReadSet): Promise<Refusal | undefined> {
  const peer = (await listPinnedPeers(call)).find(({ name }) => name === manifest.from)
  if (!peer) return refuse('signature_invalid', 'the set is not from a pinned peer')
  const verified = await verifyFromPeer(call, peer.name, set_document_type, signed)
  if (isRefusal(verified)) return refuse('signature_invalid', `no pinned key of ${peer.name} has signed the set`)
  if (findSignerFault(verified, peer.threshold ?? 1, manifest.made_at))
    return refuse('signature_invalid', `too few keys of ${peer.name} signed the set before they ended`)
  return checkAddress(call, manifest, peer.tenant_id)
}

function checkAddress(call: Call, { to, tenant_id, made_at }: SetManifest, pinned: string): Refusal | undefined {
  if (to !== call.site.name) return refuse('invalid', 'the set was made for another site')
  if (tenant_id !== pinned) return refuse('invalid', 'the set is of another tenant than the pinned one of its peer')
  if (Date.parse(made_at) > call.now() + skew_ms)
    return refuse('invalid', 'the set was made in the future: check the clocks of both sites')
  return undefined
}

/** The labels of the artifacts in the terms of this site, in their order. Refuses `label_denied` if one of them may not enter. */
export async function admitLabels(call: Call, { manifest, artifacts }: ReadSet): Promise<readonly Label[] | Refusal> {
  const admitted = new Map<string, Label>()
  for (const { label } of artifacts) {
    const key = labelKey(label)
    if (admitted.has(key)) continue
    const translated = await admitLabel(call, manifest.from, label)
    if (isRefusal(translated)) return translated
    admitted.set(key, confineLabel(translated, call.site.tenant_id))
  }
  return artifacts.map(({ label }) => admitted.get(labelKey(label)) as Label)
}

/**
 * For this tenant alone, where the audience has it: the same people as with guidance that is learnt here, so that both are
 * measured on the same traces. Never for more people.
 */
function confineLabel(label: Label, tenant_id: string): Label {
  const { releasable_to } = label
  return releasable_to?.includes(tenant_id) ? normaliseLabel({ ...label, releasable_to: [tenant_id] }) : label
}

/** A set that is older than an accepted one would bring back what its origin has replaced. */
export async function checkFreshness(
  call: Call,
  { manifest: { from, made_at }, digest }: Pick<ReadSet, 'manifest' | 'digest'>,
): Promise<Refusal | undefined> {
  const newest = (await call.store(setOrigins).find(setOriginId(call.site.tenant_id, from)))?.value
  if (!newest || newest.made_at < made_at) return undefined
  if (newest.digest === digest) return refuse('wrong_state', `the set was accepted already, as ${newest.set_id}`)
  return refuse('wrong_state', `a set of ${from} from ${newest.made_at} was accepted; this one is from ${made_at}`)
}
