// Takes the outcome of a session that lives at a peer: evidence of a ratification, a dissent, or a retraction.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { join } from '../../../kernel/label.ts'
import { operation } from '../../../kernel/operation.ts'
import { federationMessage, max_message_bytes, opened } from '../../../shared/federation-message.ts'
import { type DissentRecord, dissentRecord, dissents } from '../dissent/model.ts'
import { type EvidenceBlock, evidenceBlock, evidenceBlocks } from '../evidence/model.ts'
import { isWhole } from '../evidence/rules.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import { type StoredSession, session, sessionState, sessions } from '../session/model.ts'
import { tell } from '../session/tell.ts'
import { closeDissent, enter } from '../session/transition/rules.ts'
import { shown } from '../session/view.ts'

const outcome = {
  evidence: evidenceBlock.optional(),
  dissent: dissentRecord
    .omit({ tenant_id: true, label: true })
    .extend({ id: z.string().min(1).max(128) })
    .optional(),
  retraction: z.strictObject({ at: z.iso.datetime(), was: sessionState }).optional(),
}
/** The data of a `result` message. */
const sentResult = z.strictObject({ session_id: z.string().min(1).max(128), ...outcome })
type Fields = z.infer<typeof sentResult>

export const result = operation({
  summary: 'Accept the outcome of a session that lives at a peer',
  method: 'POST',
  path: '/api/v2/federation/result',
  input: federationMessage,
  output: session,
  errors: ['not_found', 'signature_invalid', 'not_your_tenant', 'label_denied'],
  allow: 'federation:deliver',
  max_body_bytes: max_message_bytes,

  async run(call, message) {
    const sent = await opened(call, message, 'result', sentResult)
    if (isRefused(sent)) return sent
    const { src, receiver_tenant_id } = sent.statement
    const { label } = sent
    const fields = await unseen(call, underItsOrigin(sent.data, src))
    const unproven = fields.evidence && (await doubt(call, fields.evidence, src, fields.session_id))
    if (unproven) return unproven
    const at = call.nowIso()
    const { doc, answer } = await call
      .store(sessions)
      .update<Refused | 'entered' | 'changed' | 'same'>(fields.session_id, ({ value }) => {
        if (value.origin?.peer !== src)
          return { answer: refuse('not_your_tenant', 'the session does not live at this peer') }
        if (value.tenant_id !== receiver_tenant_id)
          return { answer: refuse('not_your_tenant', 'the session belongs to another tenant than the receiver') }
        if (isOther(fields.evidence, value))
          return { answer: refuse('signature_invalid', 'another evidence block has ratified the session already') }
        // What the origin has labelled more narrowly since its invitation must not be shown here under the old label.
        const joined = join(value.label, label, call.site.labels)
        if (!joined) return { answer: refuse('label_denied', 'the label does not go with that of the session') }
        const followed = follow(value, fields, src, at)
        const next = joined === value.label ? followed : { ...followed, label: joined }
        if (next === value) return { answer: 'same' }
        return {
          next,
          answer: next.history.length > value.history.length ? 'entered' : 'changed',
          audit: [lifecycleEvent(call, 'consensus.federation.result', next, { peer: src, to: next.state })],
        }
      })
    if (isRefused(answer)) return answer
    await keep(call, doc.value, fields)
    if (answer !== 'same') tell(call, doc, answer === 'entered')
    return shown(doc)
  },
})

/** Why the block proves nothing here; undefined when it holds together and the origin's own key has signed it. */
async function doubt(call: Call, block: EvidenceBlock, src: string, session_id: string): Promise<Refused | undefined> {
  const { content, signature } = block
  if (!isWhole(block) || content.session_id !== session_id || content.site !== src)
    return refuse('signature_invalid', 'the evidence block does not hold together')
  const verified = await call.others.verifyFromPeer(src, 'evidence', signature)
  return isRefused(verified) ? verified : undefined
}

/** A ratification is final: an origin that proves two has told one of them falsely. */
function isOther(evidence: EvidenceBlock | undefined, { evidence_block_id }: StoredSession): boolean {
  return evidence !== undefined && evidence_block_id !== undefined && evidence_block_id !== evidence.block_id
}

/** A peer chooses the ids of its records, so they are kept apart from those made here. */
function underItsOrigin({ dissent, ...rest }: Fields, src: string): Fields {
  return dissent ? { ...rest, dissent: { ...dissent, id: `${dissent.id}@${src}` } } : rest
}

/** Without a dissent that is kept already: one that comes again must not take the place of what followed it. */
async function unseen(call: Call, fields: Fields): Promise<Fields> {
  const { dissent, ...rest } = fields
  return dissent && (await call.store(dissents).find(dissent.id)) ? rest : fields
}

/** What the copy becomes; the same value when it has seen this outcome before. A withdrawn copy follows nothing more. */
function follow(
  current: StoredSession,
  { evidence, dissent, retraction }: Fields,
  peer: string,
  at: string,
): StoredSession {
  const by = `peer:${peer}`
  if (current.state === 'WITHDRAWN') return current
  if (retraction) return enter(closeDissent(current, 'withdrawn', at), 'WITHDRAWN', 'result', by, at)
  if (evidence) {
    if (current.evidence_block_id === evidence.block_id) return current
    const { result: combined, decision, attestation } = evidence.content
    const { reason: _settled, ...rest } = closeDissent(current, attestation ? 'attested' : 'ratified', at)
    return enter(
      { ...rest, result: combined, decision, evidence_block_id: evidence.block_id },
      'RATIFIED',
      'result',
      by,
      at,
    )
  }
  if (!dissent || current.open_dissent_id === dissent.id || current.state === 'RATIFIED') return current
  const told = {
    ...closeDissent(current, 'superseded', at),
    reason: dissent.body.reason,
    open_dissent_id: dissent.id,
    updated_at: at,
  }
  return current.state === 'IN_CONFLICT' ? told : enter(told, 'IN_CONFLICT', 'result', by, at)
}

/** Keeps what came with the outcome; ids are the origin's, so a repeat finds it kept. */
async function keep(call: Call, current: StoredSession, { session_id, evidence, dissent }: Fields): Promise<void> {
  const { tenant_id, label } = current
  if (evidence) {
    await call
      .store(evidenceBlocks)
      .create(evidence.block_id, { tenant_id, label, session_id, created_at: call.nowIso(), block: evidence })
  }
  if (dissent) {
    const { id, ...record } = dissent
    await call.store(dissents).create(id, { ...record, ...lateness(current, id), session_id, tenant_id, label })
  }
}

/** A dissent that arrives after what settled it is kept, but not as an open one. */
function lateness(current: StoredSession, id: string): Pick<DissentRecord, 'status' | 'resolution' | 'resolved_at'> {
  if (current.open_dissent_id === id) return { status: 'open' }
  const resolution =
    current.state === 'WITHDRAWN' ? 'withdrawn' : current.state === 'RATIFIED' ? 'ratified' : 'superseded'
  return { status: 'resolved', resolution, resolved_at: current.updated_at }
}
