// Makes one accepted artifact of another site active: by the same functions as every change, and with less confidence than local ones.
import { isRefusal, type Refusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { labelKeyOf } from '../../../../kernel/store/store.ts'
import { activateArtifact, demoteArtifact } from '../artifact/change-artifacts.ts'
import { artifacts } from '../artifact/model.ts'
import { type ArtifactDraft, proposeArtifact } from '../artifact/propose-artifact.ts'
import type { ChangeGround } from '../audit/entry.ts'
import { compareArtifact, findPredecessor, type KnownArtifacts } from './compare.ts'
import { importedId, importKey, type LoadedArtifact } from './load-set.ts'

export type SetAcceptance = {
  readonly set_id: string
  readonly peer: string
  readonly origin_tenant_id: string
  readonly made_at: string
  readonly accepted_ts: number
  readonly artifacts: readonly number[]
  readonly reason: string
  readonly requester: string
  readonly approver: string
}

export type AcceptanceOutcome = {
  readonly outcome: 'active' | 'refused'
  readonly detail?: string
  readonly artifact_id?: string
}

/** Of local artifacts without a statement of their own: what holds elsewhere has to prove itself here. */
const local_confidence = 0.5

/** Half of what its origin states, and at most half of what local ones begin with. */
export function startingConfidence(stated: number | undefined): number {
  return Math.min(stated ?? local_confidence, local_confidence) / 2
}

/** Repeats harmlessly: the id follows from what was carried, and only one that is not active yet is promoted. */
export async function acceptArtifact(
  call: Call,
  acceptance: SetAcceptance,
  loaded: LoadedArtifact,
  known: KnownArtifacts,
): Promise<AcceptanceOutcome> {
  const { peer, made_at, accepted_ts } = acceptance
  const { carried, doc } = loaded
  const id = importedId(loaded, peer)
  const status = (await call.store(artifacts).find(id))?.value.status
  if (status === 'active') return { outcome: 'active', artifact_id: id }
  const compared = compareArtifact(carried, peer, known, status)
  if (compared.state === 'same') return { outcome: 'refused', detail: compared.detail }
  const before = findPredecessor(known, peer, carried.artifact_id)
  if (before?.origin && before.origin.made_at > made_at)
    return { outcome: 'refused', detail: 'a newer set has brought a later version of it' }
  const ground = groundOf(acceptance)
  const proposed = await proposeArtifact(call, draftOf(acceptance, loaded), ground)
  if (isRefusal(proposed)) return { outcome: 'refused', detail: proposed.message.slice(0, max_detail) }
  const former = before && (await call.store(artifacts).find(before.id))
  const isReplaceable = former !== undefined && labelKeyOf(former.value) === labelKeyOf(doc.value)
  const supersedes = isReplaceable ? [former.id] : []
  const changed = await activateArtifact(call, id, ground, { supersedes, since: accepted_ts })
  if (isRefusal(changed)) return await describeRefused(call, id, changed)
  // One with another label cannot be listed: it is demoted by itself.
  if (former && !isReplaceable) await demoteArtifact(call, former.id, ground)
  return { outcome: 'active', artifact_id: id }
}

const max_detail = 1_024

/** Another process that works on the same set may have been faster. */
async function describeRefused(call: Call, id: string, { message }: Refusal): Promise<AcceptanceOutcome> {
  const now = await call.store(artifacts).find(id)
  if (now?.value.status === 'active') return { outcome: 'active', artifact_id: id }
  return { outcome: 'refused', detail: message.slice(0, max_detail) }
}

function groundOf({ requester, approver, set_id, peer, reason }: SetAcceptance): ChangeGround {
  return {
    ...{ actor: `admin:${approver}`, second_actor: `admin:${requester}`, trigger: 'admin_manual' },
    rationale: `The administrators ${requester} and ${approver} accepted it from ${set_id} of the site ${peer}: ${reason}`,
  }
}

function draftOf(acceptance: SetAcceptance, loaded: LoadedArtifact): ArtifactDraft {
  const { carried, doc, digest } = loaded
  const { type, content, service_name, tool_name, applicability, rationale, embedded_by } = carried
  const { peer: site, origin_tenant_id, set_id, made_at, requester, approver } = acceptance
  return {
    ...{ tenant_id: doc.value.tenant_id, label: doc.value.label, type, content, service_name, tool_name },
    ...{ applicability, rationale, confidence: startingConfidence(content.confidence) },
    key: importKey(loaded, site),
    origin: {
      ...{ site, tenant_id: origin_tenant_id, artifact_id: carried.artifact_id, version: carried.version },
      ...{ set_id, made_at, digest, ...(embedded_by === undefined ? {} : { embedded_by }) },
      ...{ accepted_by: [requester, approver], accepted_version: 2 },
    },
  }
}
