// Accepts the outcome of a session that a peer hosts, once it follows from all that this site knows.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { joinLabels } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { VerifiedFederationMessage } from '../../../shared/federation-message/federation-message.ts'
import { federationOperation } from '../../../shared/federation-message/federation-operation.ts'
import { emissions } from '../emission/model.ts'
import { emissionId } from '../emission/rules.ts'
import { evidenceBlocks } from '../evidence/model.ts'
import { invalidResultTotal } from '../metrics.ts'
import { announceChange } from '../session/announce-change.ts'
import { type DissentRecord, dissents } from '../session/dissent/model.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import { type StoredSession, session, sessions } from '../session/model.ts'
import { showSession } from '../session/view.ts'
import { checkDissent } from './check-dissent.ts'
import { checkEvidence } from './check-evidence.ts'
import { contradictionEvent, isContradicted, logContradiction } from './contradicting-emission.ts'
import { followOrigin, recordInvalidResult } from './follow-origin.ts'
import { parseOutcome, resultMessage, type SessionOutcome } from './session-outcome.ts'

type ReceivedResult = VerifiedFederationMessage<ReturnType<typeof resultMessage.parse>>

export const result = federationOperation({
  summary: 'Accept the outcome of a session that a peer hosts',
  path: '/api/v2/federation/result',
  kind: 'result',
  data: resultMessage,
  output: session,
  readObjectId: ({ session_id }) => session_id,
  errors: ['not_found', 'signature_invalid', 'not_your_tenant', 'label_denied', 'result_invalid'],

  async run(call, sent) {
    const copy = await readCopy(call, sent)
    if (isRefusal(copy)) return copy
    await call.pause()
    const { faults: formFaults, ...outcome } = parseOutcome(sent.data)
    await call.pause()
    const { faults, detail } = await checkOutcome(call, copy, outcome, sent)
    const all = [...formFaults, ...faults]
    if (all.length > 0) return await refuseResult(call, sent, all)
    return await followResult(call, sent, qualifyDissentId(outcome, sent.statement.src), detail)
  },
})

/** The session as it is now, if the sender hosts it: nobody else can bring it into conflict. */
async function readCopy(call: Call, { statement, data }: ReceivedResult): Promise<Doc<StoredSession> | Refusal> {
  const { doc, answer } = await call
    .store(sessions)
    .update<Refusal | undefined>(data.session_id, ({ value }) => ({ answer: checkHost(value, statement) }))
  return answer ?? doc
}

function checkHost(
  { origin, tenant_id }: StoredSession,
  { src, receiver_tenant_id }: ReceivedResult['statement'],
): Refusal | undefined {
  if (origin?.peer !== src) return refuse('not_your_tenant', 'this peer does not host the session')
  return tenant_id === receiver_tenant_id
    ? undefined
    : refuse('not_your_tenant', 'the session does not belong to the tenant of the receiver')
}

/** `detail`: what the audit log states of the evidence. */
type OutcomeCheck = { readonly faults: readonly string[]; readonly detail: Readonly<Record<string, unknown>> }

async function checkOutcome(
  call: Call,
  copy: Doc<StoredSession>,
  { evidence, dissent }: SessionOutcome,
  { label_map }: ReceivedResult,
): Promise<OutcomeCheck> {
  if (dissent) return { faults: await checkDissent(call, copy, dissent), detail: {} }
  if (!evidence) return { faults: [], detail: {} }
  const { faults, attributions } = await checkEvidence(call, copy, evidence, label_map)
  const proven = attributions.filter(({ vouched_by }) => vouched_by === 'signer').length
  return {
    faults,
    detail: { evidence_v: evidence.content.v, proven, vouched_by_origin: attributions.length - proven },
  }
}

/** A ratification is final: of two different evidence blocks of one session, at least one is false. */
function contradictsEvidence({ evidence_block_id }: StoredSession, { evidence }: SessionOutcome): boolean {
  return evidence !== undefined && evidence_block_id !== undefined && evidence_block_id !== evidence.block_id
}

const contradiction = 'a different evidence block has already ratified the session'

/** Adds the peer's name to the id, since a peer could choose an id that this site uses. */
function qualifyDissentId({ dissent, ...rest }: SessionOutcome, src: string): SessionOutcome {
  return dissent ? { ...rest, dissent: { ...dissent, id: `${dissent.id}@${src}` } } : rest
}

/**
 * Stores the records of the outcome and then the session, so that everybody who sees the new state finds its records. After
 * a crash between the two, the repeated message finishes the work.
 */
async function followResult(
  call: Call,
  sent: ReceivedResult,
  outcome: SessionOutcome,
  detail: Readonly<Record<string, unknown>>,
): Promise<Refusal | ReturnType<typeof showSession>> {
  const { src } = sent.statement
  for (;;) {
    const read = await readCopy(call, sent)
    if (isRefusal(read)) return read
    const { value } = read
    if (contradictsEvidence(value, outcome)) return await refuseResult(call, sent, [contradiction])
    const at = call.nowIso()
    // The origin may have narrowed the label since its invitation: the copy must not keep the wider one.
    const joined = joinLabels(value.label, sent.label, call.site.labels)
    if (!joined)
      return refuse('label_denied', 'the label of the message cannot be joined with the label of the session')
    const fresh = await omitSettledDissent(call, value, outcome)
    const followed = followOrigin(value, fresh, src, at)
    const next = joined === value.label ? followed : { ...followed, label: joined }
    await storeOutcome(call, next, fresh)
    if (next === value) return showSession(read)
    const has_entered = next.history.length > value.history.length
    const contradicting = await findContradictingEmission(call, value, next, src)
    const audit = [
      lifecycleEvent(call, 'consensus.federation.result', next, { peer: src, to: next.state, ...detail }),
      ...(contradicting ? [contradictionEvent(call, next, contradicting)] : []),
    ]
    const { doc, answer } = await call
      .store(sessions)
      .update(read.id, ({ version }) =>
        version === read.version ? { next, answer: 'stored', audit } : { answer: 'changed' },
      )
    if (answer === 'changed') continue
    announceChange(call, doc, has_entered)
    if (contradicting) logContradiction(call, doc.id, contradicting)
    return showSession(doc)
  }
}

/** An earlier emission of the peer that the evidence which ratifies the session now contradicts. */
async function findContradictingEmission(call: Call, before: StoredSession, next: StoredSession, src: string) {
  if (before.state === 'RATIFIED' || next.state !== 'RATIFIED') return undefined
  const emitted = (await call.store(emissions).find(emissionId(src, next.id)))?.value
  return emitted && isContradicted(emitted, next) ? { ...emitted, ...emitted.federation } : undefined
}

/** Omits a dissent that was settled: a repeat must not replace the later state. `current` was read before the record. */
async function omitSettledDissent(
  call: Call,
  { pending }: StoredSession,
  outcome: SessionOutcome,
): Promise<SessionOutcome> {
  const { dissent, ...rest } = outcome
  if (!dissent) return outcome
  const isClosing = pending.some((entry) => entry.type === 'dissent_closed' && entry.dissent_id === dissent.id)
  const stored = await call.store(dissents).find(dissent.id)
  return isClosing || stored?.value.status === 'resolved' ? rest : outcome
}

/** Stores the records of the outcome under the origin's ids, so that a repeat finds them stored. */
async function storeOutcome(call: Call, next: StoredSession, { evidence, dissent }: SessionOutcome): Promise<void> {
  const { id: session_id, tenant_id, label } = next
  if (evidence) {
    const created_at = call.nowIso()
    await call
      .store(evidenceBlocks)
      .create(evidence.block_id, { tenant_id, label, session_id, created_at, block: evidence })
  }
  if (dissent) {
    const { id, lens_id, created_at, body } = dissent
    const status = statusOfDissent(next, id)
    await call.store(dissents).create(id, { tenant_id, label, session_id, lens_id, created_at, body, ...status })
  }
}

/** A dissent that arrives after its resolution is stored as resolved. */
function statusOfDissent(
  next: StoredSession,
  id: string,
): Pick<DissentRecord, 'status' | 'resolution' | 'resolved_at'> {
  if (next.open_dissent_id === id) return { status: 'open' }
  const resolution = next.state === 'WITHDRAWN' ? 'withdrawn' : next.state === 'RATIFIED' ? 'ratified' : 'superseded'
  return { status: 'resolved', resolution, resolved_at: next.updated_at }
}

/** Most faults of one result that are listed, and the length of each. */
const max_faults = 16
const max_fault_characters = 1_024

/** Raises the alarm: the session lists the faults, and audit log, log and counter name the peer. The message is refused. */
async function refuseResult(call: Call, sent: ReceivedResult, found: readonly string[]): Promise<Refusal> {
  const { src: peer, msg_id } = sent.statement
  const faults = found.slice(0, max_faults).map((fault) => fault.slice(0, max_fault_characters))
  const invalid = { at: call.nowIso(), msg_id, faults }
  const { doc, answer } = await call.store(sessions).update(sent.data.session_id, ({ value }) => {
    const next = recordInvalidResult(value, invalid, peer)
    if (next === value) return { answer: 'known' as const }
    const detail = { peer, msg_id, faults, from: value.state, to: next.state }
    const event = lifecycleEvent(call, 'consensus.federation.invalid_result', next, detail)
    const answer = next.history.length > value.history.length ? ('entered' as const) : ('recorded' as const)
    return { next, answer, audit: [{ ...event, outcome: 'refused' as const }] }
  })
  if (answer !== 'known') {
    announceChange(call, doc, answer === 'entered')
    call.count(invalidResultTotal, { peer })
    const { trace_id } = call.trace
    call.log.error('consensus.federation.invalid_result', { trace_id, session: doc.id, peer, msg_id, faults })
  }
  return refuse(
    'result_invalid',
    `the result fails ${found.length} checks of this site; platform consensus get ${doc.id} lists them`,
  )
}
