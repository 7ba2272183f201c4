// Accepts the outcome of a session that a peer hosts: evidence of a ratification, a dissent, or a retraction.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { joinLabels } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { federationOperation } from '../../../shared/federation-message/federation-operation.ts'
import { verifyFromPeer } from '../../../shared/site-message/site-message.ts'
import { type EvidenceBlock, evidenceBlock, evidenceBlocks } from '../evidence/model.ts'
import { isConsistent } from '../evidence/rules.ts'
import { announceChange } from '../session/announce-change.ts'
import { type DissentRecord, dissentRecord, dissents } from '../session/dissent/model.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import { type StoredSession, session, sessionState, sessions } from '../session/model.ts'
import { closeDissent, enterState } from '../session/transition/rules.ts'
import { showSession } from '../session/view.ts'

const outcomeFields = {
  evidence: evidenceBlock.optional(),
  dissent: dissentRecord
    .omit({ tenant_id: true, label: true })
    .extend({ id: z.string().min(1).max(128) })
    .optional(),
  retraction: z.strictObject({ at: z.iso.datetime(), was: sessionState }).optional(),
}
/** The data of a `result` message. */
const resultMessage = z.strictObject({ session_id: z.string().min(1).max(128), ...outcomeFields })
type SessionResultFields = z.infer<typeof resultMessage>

export const result = federationOperation({
  summary: 'Accept the outcome of a session that a peer hosts',
  path: '/api/v2/federation/result',
  kind: 'result',
  data: resultMessage,
  output: session,
  errors: ['not_found', 'signature_invalid', 'not_your_tenant', 'label_denied'],

  async run(call, sent) {
    const { src, receiver_tenant_id } = sent.statement
    const { label } = sent
    const fields = await omitStoredDissent(call, qualifyDissentId(sent.data, src))
    const unproven = fields.evidence && (await verifyEvidence(call, fields.evidence, src, fields.session_id))
    if (unproven) return unproven
    const at = call.nowIso()
    const { doc, answer } = await call
      .store(sessions)
      .update<Refusal | 'entered' | 'changed' | 'same'>(fields.session_id, ({ value }) => {
        if (value.origin?.peer !== src)
          return { answer: refuse('not_your_tenant', 'this peer does not host the session') }
        if (value.tenant_id !== receiver_tenant_id)
          return { answer: refuse('not_your_tenant', 'the session does not belong to the tenant of the receiver') }
        if (contradictsEvidence(fields.evidence, value))
          return { answer: refuse('signature_invalid', 'a different evidence block has already ratified the session') }
        // The origin may have narrowed the label since its invitation: the copy must not keep the wider one.
        const joined = joinLabels(value.label, label, call.site.labels)
        if (!joined)
          return {
            answer: refuse('label_denied', 'the label of the message cannot be joined with the label of the session'),
          }
        const followed = followOrigin(value, fields, src, at)
        const next = joined === value.label ? followed : { ...followed, label: joined }
        if (next === value) return { answer: 'same' }
        return {
          next,
          answer: next.history.length > value.history.length ? 'entered' : 'changed',
          audit: [lifecycleEvent(call, 'consensus.federation.result', next, { peer: src, to: next.state })],
        }
      })
    if (isRefusal(answer)) return answer
    await storeOutcome(call, doc.value, fields)
    if (answer !== 'same') announceChange(call, doc, answer === 'entered')
    return showSession(doc)
  },
})

/** Undefined when the block is consistent and signed by the origin's key. Refuses `signature_invalid`. */
async function verifyEvidence(
  call: Call,
  block: EvidenceBlock,
  src: string,
  session_id: string,
): Promise<Refusal | undefined> {
  const { content, signature } = block
  if (!isConsistent(block) || content.session_id !== session_id || content.site !== src)
    return refuse('signature_invalid', 'the evidence block is inconsistent, or belongs to another session or site')
  const verified = await verifyFromPeer(call, src, 'evidence', signature)
  return isRefusal(verified) ? verified : undefined
}

/** A ratification is final: of two different evidence blocks of one session, at least one is false. */
function contradictsEvidence(evidence: EvidenceBlock | undefined, { evidence_block_id }: StoredSession): boolean {
  return evidence !== undefined && evidence_block_id !== undefined && evidence_block_id !== evidence.block_id
}

/** Adds the peer's name to the id, since a peer could choose an id that this site uses. */
function qualifyDissentId({ dissent, ...rest }: SessionResultFields, src: string): SessionResultFields {
  return dissent ? { ...rest, dissent: { ...dissent, id: `${dissent.id}@${src}` } } : rest
}

/** Omits a dissent that is stored already: a repeat must not replace the record's later state. */
async function omitStoredDissent(call: Call, fields: SessionResultFields): Promise<SessionResultFields> {
  const { dissent, ...rest } = fields
  return dissent && (await call.store(dissents).find(dissent.id)) ? rest : fields
}

/** The copy after the outcome; `current` itself when it has this outcome already, or is withdrawn. */
function followOrigin(
  current: StoredSession,
  { evidence, dissent, retraction }: SessionResultFields,
  peer: string,
  at: string,
): StoredSession {
  const by = `peer:${peer}`
  if (current.state === 'WITHDRAWN') return current
  if (retraction) return enterState(closeDissent(current, 'withdrawn', at), 'WITHDRAWN', 'result', by, at)
  if (evidence) {
    if (current.evidence_block_id === evidence.block_id) return current
    const { result: combined, decision, attestation } = evidence.content
    const { reason: _settled, ...rest } = closeDissent(current, attestation ? 'attested' : 'ratified', at)
    return enterState(
      { ...rest, result: combined, decision, evidence_block_id: evidence.block_id },
      'RATIFIED',
      'result',
      by,
      at,
    )
  }
  if (!dissent || current.open_dissent_id === dissent.id || current.state === 'RATIFIED') return current
  const contested = {
    ...closeDissent(current, 'superseded', at),
    reason: dissent.body.reason,
    open_dissent_id: dissent.id,
    updated_at: at,
  }
  return current.state === 'IN_CONFLICT' ? contested : enterState(contested, 'IN_CONFLICT', 'result', by, at)
}

/** Stores the records of the outcome under the origin's ids, so that a repeat finds them stored. */
async function storeOutcome(
  call: Call,
  current: StoredSession,
  { session_id, evidence, dissent }: SessionResultFields,
): Promise<void> {
  const { tenant_id, label } = current
  if (evidence) {
    await call
      .store(evidenceBlocks)
      .create(evidence.block_id, { tenant_id, label, session_id, created_at: call.nowIso(), block: evidence })
  }
  if (dissent) {
    const { id, ...record } = dissent
    await call
      .store(dissents)
      .create(id, { ...record, ...statusOfLateDissent(current, id), session_id, tenant_id, label })
  }
}

/** A dissent that arrives after its resolution is stored as resolved. */
function statusOfLateDissent(
  current: StoredSession,
  id: string,
): Pick<DissentRecord, 'status' | 'resolution' | 'resolved_at'> {
  if (current.open_dissent_id === id) return { status: 'open' }
  const resolution =
    current.state === 'WITHDRAWN' ? 'withdrawn' : current.state === 'RATIFIED' ? 'ratified' : 'superseded'
  return { status: 'resolved', resolution, resolved_at: current.updated_at }
}
