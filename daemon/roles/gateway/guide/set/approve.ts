// Approves what another administrator has requested: the second signature, after which the chosen artifacts become active.
import * as z from 'zod'
import type { Jws } from '../../../../kernel/cryptography/signatures.ts'
import { sha384 } from '../../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { labelKey } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { type Doc, labelKeyOf } from '../../../../kernel/store/store.ts'
import { isPaused } from '../curator/check-paused.ts'
import { accept_worker } from './accept-sets.ts'
import { admitDecision, loadChosen, verifyDecision } from './check-decision.ts'
import {
  type AcceptanceApproval,
  acceptanceApproval,
  acceptanceRequest,
  checkDecisionPair,
  type DecisionSigner,
  decisionPayload,
  decisionSignature,
  parseDecision,
} from './decision.ts'
import { loadArtifacts, loadSetForChange } from './load-set.ts'
import { guidanceSets, type StoredSet } from './model.ts'
import { readManifest } from './read-set.ts'
import { admitLabels, checkFreshness, verifySet } from './verify-set.ts'
import { setId, setView, showSet } from './view.ts'

export const approve = operation({
  summary: 'Approve the acceptance of artifacts that another administrator has requested, so that they become active',
  method: 'POST',
  path: '/api/v1/guide/sets/{id}/approve',
  input: z.strictObject({ id: setId, signature: decisionSignature }),
  output: setView,
  status: 202,
  errors: ['not_found', 'not_your_tenant', 'signature_invalid', 'conflict', 'wrong_state', 'label_denied'],
  allow: 'guide:admin',

  async run(call, { id, signature }) {
    const set = await loadSetForChange(call, id)
    const admitted = await admitDecision(call, set, acceptanceApproval, signature)
    if (isRefusal(admitted)) return admitted
    const { decision: approval, signer: approver } = admitted
    const requester = await verifyRequest(call, set, approval, approver)
    if (isRefusal(requester)) return requester
    const refused = (await checkSet(call, set, approval)) ?? (await checkCurator(call, set))
    if (refused) return refused
    const accepted = await accept(call, set, { approval, signature, approver, requester })
    return isRefusal(accepted) ? accepted : showSet(accepted, call.site.name)
  },
})

/** Verified again in full: the requester's enrolment may have changed since. */
async function verifyRequest(
  call: Call,
  set: Doc<StoredSet>,
  approval: AcceptanceApproval,
  approver: DecisionSigner,
): Promise<DecisionSigner | Refusal> {
  const { request: pending } = set.value
  const request = pending && parseDecision(acceptanceRequest, pending.signature)
  if (!pending || !request)
    return refuse('conflict', 'nobody has requested the acceptance of this set; request it first')
  const requester = await verifyDecision(call, request, pending.signature, set)
  if (isRefusal(requester))
    return refuse('conflict', `the request does not hold any more: ${requester.message}; request the acceptance again`)
  return checkDecisionPair([request, requester], [approval, approver]) ?? requester
}

/** As at its import: keys of the peer may have been revoked, its label map changed, or the store altered. */
async function checkSet(call: Call, set: Doc<StoredSet>, approval: AcceptanceApproval): Promise<Refusal | undefined> {
  const { signed, digest } = set.value
  const manifest = readManifest(signed)
  const loaded = await loadArtifacts(call, set)
  if (isRefusal(loaded)) return loaded
  if (!manifest)
    return refuse('conflict', 'the stored set is not the one that its peer has signed: import its file again')
  const read = { signed, manifest, digest, artifacts: loaded.map(({ carried }) => carried) }
  const refused = (await verifySet(call, read)) ?? (await checkFreshness(call, read))
  if (refused) return refused
  const labels = await admitLabels(call, read)
  if (isRefusal(labels)) return labels
  if (loaded.some(({ doc }, at) => labelKeyOf(doc.value) !== labelKey(labels[at] as (typeof labels)[number])))
    return refuse(
      'conflict',
      'the labels of the set have another translation now: reject it, and import its file again',
    )
  const chosen = await loadChosen(call, set, approval.artifacts)
  return isRefusal(chosen) ? chosen : undefined
}

async function checkCurator(call: Call, { value }: Doc<StoredSet>): Promise<Refusal | undefined> {
  if (!(await isPaused(call, value.tenant_id))) return undefined
  return refuse('wrong_state', 'the curator is paused: resume it before sets of other sites are accepted')
}

type CompleteDecision = {
  readonly approval: AcceptanceApproval
  readonly signature: Jws
  readonly approver: DecisionSigner
  readonly requester: DecisionSigner
}

/** One of several approvals at the same time is the one. */
async function accept(call: Call, set: Doc<StoredSet>, decision: CompleteDecision): Promise<Doc<StoredSet> | Refusal> {
  const { approval, signature, approver, requester } = decision
  const { id, value: seen } = set
  const { doc, answer } = await call.store(guidanceSets).update(id, ({ value }) => {
    if (value.status !== 'held') return { answer: refuse('wrong_state', `the set is ${value.status}`) }
    if (value.request?.digest !== seen.request?.digest || value.digest !== seen.digest)
      return { answer: refuse('conflict', 'the set has changed since: look at it again') }
    const { expires_ts: _, ...kept } = value
    const detail = {
      ...{ peer: value.peer, digest: value.digest, artifacts: approval.artifacts, reason: approval.reason },
      ...{ accepted_by: [requester.subject, approver.subject], request: value.request?.signature, approval: signature },
    }
    const audit = [call.audited('gateway.guide.set.accepted', id, detail, value.label)]
    const stored = { signature, digest: sha384(decisionPayload(approval)), fingerprint: approver.fingerprint }
    const now = call.now()
    const next = { ...kept, status: 'accepting' as const, approval: stored, accepted_ts: now, update_ts: now }
    return { next, answer: undefined, audit }
  })
  if (isRefusal(answer)) return answer
  call.wake(accept_worker)
  return doc
}
