// Receives a proposal of a peer and stores it if it is valid and within limits; agreeing is a separate step.

import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { announceJob } from '../../../../kernel/job/job.ts'
import { newJob } from '../../../../kernel/job/rules.ts'
import type { Statement } from '../../../../kernel/messaging/statement.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { cryptographySettings } from '../../../../kernel/settings/cryptography-settings.ts'
import { checkOriginId } from '../../../../shared/origin-id/check-origin-id.ts'
import { settings } from '../../settings.ts'
import { computeAgreementDigest, type ExchangeAgreement, findTermFaults } from '../agreement/agreement.ts'
import { checkCryptographyPolicy } from '../agreement/check-cryptography-policy.ts'
import { checkSetLimits } from '../agreement/check-set-limits.ts'
import type { ExchangeMessage } from '../message/exchange-message.ts'
import { exchanges, type StoredExchange } from '../model.ts'

type ProposalMessage = Extract<ExchangeMessage, { say: 'proposal' }>

/** Returns undefined once the proposal is stored, now or by an earlier delivery. */
export async function receiveProposal(
  call: Call,
  { src, receiver_tenant_id }: Statement,
  message: ProposalMessage,
): Promise<Refusal | undefined> {
  const refused =
    findProposalFault(call, src, message) ?? (await checkOriginId(call, src, message.agreement.exchange_id))
  if (refused) return refused
  const { agreement, classification: label, size } = message
  const id = agreement.exchange_id
  const value = buildReceivedExchange(call, src, receiver_tenant_id, message)
  const before = await call.store(exchanges).find(id)
  if (before) return checkRepeat(before.value, value)
  const overLimit = await checkProposalLimit(call, src, receiver_tenant_id)
  if (overLimit) return overLimit
  const event = call.audited('resolution.exchange.proposed', id, { agreement, size }, label)
  const created = await call.store(exchanges).create(id, value, [{ ...event, tenant_id: receiver_tenant_id }])
  if (created === 'exists') return checkRepeat((await call.store(exchanges).get(id)).value, value)
  announceJob(call, exchanges, created)
  return undefined
}

function findProposalFault(call: Call, src: string, { agreement, size, key }: ProposalMessage): Refusal | undefined {
  const self = call.site.name
  const { parties, linker, max_set_size, privacy } = agreement
  if (parties[0] !== src)
    return refuse('invalid', `the first party is ${parties[0]}, and only the first party may propose`)
  if (parties[1] !== self && linker !== self) return refuse('invalid', 'this site is not part of the agreement')
  const faults = findTermFaults(agreement)
  if (faults.length > 0) return refuse('invalid', 'the agreement is not valid', faults)
  if (size < 1 || size > max_set_size)
    return refuse('invalid', `the proposal has ${size} records, and the agreement allows 1 to ${max_set_size}`)
  if ((key !== undefined) !== (privacy === 'clk' && parties[1] === self))
    return refuse('invalid', 'a public key must go to the other party with clk, and to no other site')
  return (
    checkCryptographyPolicy(call.settings(cryptographySettings), agreement) ??
    checkSetLimits(call.settings(settings), agreement)
  )
}

function buildReceivedExchange(call: Call, src: string, tenant_id: string, message: ProposalMessage): StoredExchange {
  const { agreement, classification: label, size, key } = message
  return {
    tenant_id,
    label,
    created_by: `peer:${src}`,
    created_at: call.nowIso(),
    updated_at: call.nowIso(),
    agreement,
    agreement_digest: computeAgreementDigest(agreement),
    part: determinePart(call, agreement),
    state: 'proposed',
    sizes: { [src]: size },
    agreed: [],
    request_digest: '',
    keys: key === undefined ? {} : { [src]: key },
    step: 0,
    // The job checks for a standing agreement. It has no principal before a person agrees.
    ...newJob(undefined, call.now()),
    to_tell: [],
    peer: src,
    agreed_ts: 0,
  }
}

function determinePart(call: Call, { parties }: ExchangeAgreement): 'asked' | 'linker' {
  return parties[1] === call.site.name ? 'asked' : 'linker'
}

/** Undefined for a repeat of the stored proposal. */
function checkRepeat(before: StoredExchange, now: StoredExchange): Refusal | undefined {
  const hasSameOrigin = before.created_by === now.created_by && before.tenant_id === now.tenant_id
  const isRepeat = hasSameOrigin && before.agreement_digest === now.agreement_digest
  return isRepeat ? undefined : refuse('already_exists', 'another exchange has this id')
}

const day_ms = 86_400_000

/**
 * Limits the open proposals of this peer, and its proposals within 24 hours. The second limit includes cancelled
 * proposals, since each leaves a document.
 */
async function checkProposalLimit(call: Call, src: string, tenant_id: string): Promise<Refusal | undefined> {
  const { peer_proposals: max_proposals, exchange_idle_hours } = call.settings(settings)
  const filter = { tenant_id, peer: src, part: { in: ['asked', 'linker'] } }
  if ((await call.store(exchanges).count({ ...filter, state: 'proposed' })) >= max_proposals)
    return refuse(
      'over_budget',
      `${max_proposals} proposals of ${src} wait for an answer: propose again once some are answered, or have expired after ${exchange_idle_hours} hours`,
    )
  const since = new Date(call.now() - day_ms).toISOString()
  if ((await call.store(exchanges).count({ ...filter, created_at: { gt: since } })) < max_proposals) return undefined
  return refuse('over_budget', `${src} has made its ${max_proposals} proposals within 24 hours: propose again later`)
}
