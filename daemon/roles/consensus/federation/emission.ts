// Stores a peer's decision on a lens under the peer's name; a retraction marks it withdrawn.

import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import {
  checkAddressee,
  type VerifiedFederationMessage,
} from '../../../shared/federation-message/federation-message.ts'
import { federationOperation } from '../../../shared/federation-message/federation-operation.ts'
import { emissions, lensEmission, type SentEmission, type StoredEmission, sentEmission } from '../emission/model.ts'
import { emissionId, mergeEmission } from '../emission/rules.ts'
import { showEmission } from '../emission/view.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import { sessions } from '../session/model.ts'
import { contradictionEvent, isContradicted, logContradiction } from './contradicting-emission.ts'
import { provenanceOf } from './provenance.ts'

export const emission = federationOperation({
  summary: 'Accept a peer’s decision on a lens, or its retraction',
  path: '/api/v2/federation/lens_emission',
  kind: 'lens_emission',
  data: sentEmission,
  output: lensEmission,
  readObjectId: ({ session_id }) => session_id,
  errors: [
    'not_found',
    'signature_invalid',
    'not_your_tenant',
    'session_closed',
    'label_denied',
    'idempotency_mismatch',
  ],

  async run(call, sent) {
    const refusal = checkAddressee(call, sent.statement) ?? (await checkAgainstEvidence(call, sent))
    if (refusal) return refusal
    const received = buildStoredEmission(sent, call.nowIso())
    const id = emissionId(received.origin, received.session_id)
    const audit = [emissionAuditEvent(call, id, received)]
    const outcome = await call.store(emissions).create(id, received, audit)
    if (outcome !== 'exists') return showEmission(outcome)
    const { doc, answer } = await call.store(emissions).update<Refusal | undefined>(id, ({ value }) => {
      const next = mergeEmission(value, received)
      if (isRefusal(next)) return { answer: next }
      return next === value ? { answer: undefined } : { next, answer: undefined, audit }
    })
    return answer ?? showEmission(doc)
  },
})

async function checkAgainstEvidence(
  call: Call,
  { statement: { src: peer, msg_id }, data }: VerifiedFederationMessage<SentEmission>,
): Promise<Refusal | undefined> {
  const copy = await call.store(sessions).find(data.session_id)
  if (copy?.value.origin?.peer !== peer || copy.value.state !== 'RATIFIED') return undefined
  if (!isContradicted(data, copy.value)) return undefined
  await call.record([contradictionEvent(call, copy.value, { ...data, peer, msg_id })])
  logContradiction(call, copy.id, { peer, msg_id })
  return refuse('session_closed', `the evidence of ${peer} ratified the session ${copy.id} as ${copy.value.decision}`)
}

function buildStoredEmission(sent: VerifiedFederationMessage<SentEmission>, at: string): StoredEmission {
  const { src, sender_tenant_id, receiver_tenant_id } = sent.statement
  const { event, ...fields } = sent.data
  const correlation_id = fields.subject?.correlation_id
  return {
    ...fields,
    tenant_id: receiver_tenant_id,
    label: sent.label,
    origin: src,
    origin_tenant_id: sender_tenant_id,
    status: event === 'ratified' ? 'standing' : 'withdrawn',
    ...(correlation_id === undefined ? {} : { correlation_id }),
    signer_key_id: sent.signer_key_id,
    federation: provenanceOf(sent),
    received_at: at,
    updated_at: at,
    digest: canonicalDigest(sent.data),
  }
}

function emissionAuditEvent(
  call: Call,
  id: string,
  { tenant_id, label, origin, session_id, status, decision }: StoredEmission,
) {
  const detail = { peer: origin, session_id, status, decision }
  return lifecycleEvent(call, 'consensus.federation.emission', { id, tenant_id, label }, detail)
}
