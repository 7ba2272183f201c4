// Collects the artifacts that may leave for a peer, each without personal data, and the reasons of those that stay.
import { canonicalJson } from '../../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { type Label, labelKey, lowestLabel, normaliseLabel } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { checkCrossing } from '../../../../shared/label-crossing/label-crossing.ts'
import { listPinnedPeers, type PinnedPeer } from '../../../../shared/pinned-peers/pinned-peers.ts'
import { type Artifact, artifactHistory, artifacts } from '../artifact/model.ts'
import { observations } from '../observation/model.ts'
import { carryArtifact, collectNames, type StayReason } from './carry-artifact.ts'
import { type CarriedArtifact, max_set_artifacts, max_set_bytes } from './format.ts'

export type ExportTerms = {
  readonly to: string
  readonly types?: readonly string[] | undefined
  readonly ids?: readonly string[] | undefined
  readonly label_ceiling?: string | undefined
  readonly release: boolean
}

/** `isReleased`: an administrator has released it to the peer with this export. */
export type LeavingArtifact = { readonly carried: CarriedArtifact; readonly text: string; readonly isReleased: boolean }
export type CollectedSet = {
  readonly leaving: readonly LeavingArtifact[]
  /** The first ones. */
  readonly left_out: readonly { readonly id: string; readonly reason: StayReason }[]
  readonly left_out_count: number
}

/** Room for manifest and signatures. */
const max_content_bytes = max_set_bytes - 131_072

export async function collectSet(call: Call, terms: ExportTerms): Promise<CollectedSet | Refusal> {
  const peer = (await listPinnedPeers(call)).find(({ name }) => name === terms.to)
  if (!peer) return refuse('not_found', `${terms.to} is not a pinned peer`)
  const crossing = new Map<string, Promise<Refusal | undefined>>()
  const mayCross = async (label: Label) => {
    const key = labelKey(label)
    const known = crossing.get(key) ?? checkCrossing(call, peer.name, label)
    crossing.set(key, known)
    return (await known) === undefined
  }
  const leaving: LeavingArtifact[] = []
  const left_out: { id: string; reason: StayReason }[] = []
  let [bytes, left_out_count] = [0, 0]
  const leaveOut = (id: string, reason: StayReason) => {
    left_out_count += 1
    if (left_out.length < max_left_out) left_out.push({ id, reason })
  }
  for await (const doc of listActive(call, terms)) {
    await call.pause()
    if (leaving.length === max_set_artifacts) {
      leaveOut(doc.id, 'too_many')
      continue
    }
    const labelled = chooseLabel(call, doc.value.label, peer, terms)
    const mayLeave = isWithinLevel(call, labelled.label, terms) && (await mayCross(labelled.label))
    const carried = mayLeave ? carryArtifact(doc, labelled.label, await listNames(call, doc)) : 'label'
    if (typeof carried === 'string') {
      leaveOut(doc.id, carried)
      continue
    }
    const text = canonicalJson(carried)
    const size = Buffer.byteLength(text) + 1
    if (bytes + size > max_content_bytes) {
      leaveOut(doc.id, 'too_many')
      continue
    }
    bytes += size
    leaving.push({ carried, text, isReleased: labelled.isReleased })
  }
  return { leaving, left_out, left_out_count }
}

/** Of one answer; the others are counted. */
const max_left_out = 500

async function* listActive(call: Call, { types, ids }: ExportTerms): AsyncGenerator<Doc<Artifact>> {
  const store = call.store(artifacts)
  const isWanted = ({ value }: Doc<Artifact>) => value.status === 'active' && (types?.includes(value.type) ?? true)
  if (ids) {
    for (const id of new Set(ids)) {
      const doc = await store.find(id)
      if (doc && isWanted(doc)) yield doc
    }
    return
  }
  const { tenant_id } = call.caller
  const query = { filter: { tenant_id, status: 'active' }, page_size: 100, fresh: true }
  for await (const doc of iterateDocuments(store, query)) if (isWanted(doc)) yield doc
}

/**
 * The label under which it leaves. Only with `release`, and only where this tenant is the originator, the peer is added to the
 * audience; one without a label is visible to the whole tenant, and so of the lowest level.
 */
function chooseLabel(
  call: Call,
  label: Label | undefined,
  peer: PinnedPeer,
  { release }: ExportTerms,
): { readonly label: Label; readonly isReleased: boolean } {
  const { tenant_id, labels } = call.site
  const own = label ?? lowestLabel(tenant_id, labels, tenant_id)
  const audience = own.releasable_to ?? [own.originator]
  if (!release || own.originator !== tenant_id || audience.includes(peer.tenant_id))
    return { label: own, isReleased: false }
  return { label: normaliseLabel({ ...own, releasable_to: [...audience, peer.tenant_id] }), isReleased: true }
}

function isWithinLevel({ site }: Call, { level }: Label, { label_ceiling }: ExportTerms): boolean {
  const { levels } = site.labels
  return label_ceiling === undefined || levels.indexOf(level) <= levels.indexOf(label_ceiling)
}

const max_versions = 100
const max_observations = 500

/** Names of those who have changed it, and of the callers in whose traces it was learnt, as far as these are still stored. */
async function listNames(call: Call, { id, value }: Doc<Artifact>): Promise<ReadonlySet<string>> {
  const versions = await call.store(artifactHistory).list({ filter: { artifact_id: id }, limit: max_versions })
  const actors = [value, ...versions.docs.map((doc) => doc.value)].flatMap(({ actor, uds }) => [actor, uds.username])
  const { trace_ids } = value
  const seen =
    trace_ids.length === 0
      ? []
      : (await call.store(observations).list({ filter: { trace_id: { in: trace_ids } }, limit: max_observations })).docs
  const callers = seen.flatMap(({ value: { caller_identity, emitted_by, uds } }) => [
    caller_identity.username,
    emitted_by.token_subject,
    uds.username,
  ])
  const subjects = [...actors, ...callers, call.caller.subject].map((name) => name.replace(/^admin:/, ''))
  return collectNames(subjects)
}
