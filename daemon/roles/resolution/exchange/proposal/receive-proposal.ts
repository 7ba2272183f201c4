// Takes the proposal of a peer, where it is one that this site may be asked for; whether it agrees is another matter.

import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Statement } from '../../../../kernel/messaging/transport.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { settings } from '../../settings.ts'
import { computeAgreementDigest, type ExchangeAgreement, findTermFaults } from '../agreement/agreement.ts'
import { checkSetLimits } from '../agreement/check-set-limits.ts'
import type { ExchangeMessage } from '../message/exchange-message.ts'
import { exchanges, type StoredExchange } from '../model.ts'

type ProposalMessage = Extract<ExchangeMessage, { say: 'proposal' }>

/** The same again is nothing new. Undefined when it is kept. */
export async function receiveProposal(
  call: Call,
  { src, receiver_tenant_id }: Statement,
  message: ProposalMessage,
): Promise<Refusal | undefined> {
  const refused = findProposalFault(call, src, message)
  if (refused) return refused
  const { agreement, classification: label, size } = message
  const id = agreement.exchange_id
  const value = buildReceivedExchange(call, src, receiver_tenant_id, message)
  const before = await call.store(exchanges).find(id)
  if (before)
    return isSameProposal(before.value, value) ? undefined : refuse('already_exists', 'another exchange has this id')
  const flood = await checkProposalLimit(call, src, receiver_tenant_id)
  if (flood) return flood
  const event = call.audited('resolution.exchange.proposed', id, { agreement, size }, label)
  const made = await call.store(exchanges).create(id, value, [{ ...event, tenant_id: receiver_tenant_id }])
  if (made === 'exists') return refuse('unavailable', 'the same proposal is being taken just now')
  call.wake('exchanges')
  return undefined
}

function findProposalFault(call: Call, src: string, { agreement, size, key }: ProposalMessage): Refusal | undefined {
  const self = call.site.name
  const { parties, linker, max_set_size, privacy } = agreement
  if (parties[0] !== src) return refuse('invalid', 'a proposal is made by the first party')
  if (parties[1] !== self && linker !== self) return refuse('invalid', 'this site is no part of the agreement')
  const faults = findTermFaults(agreement)
  if (faults.length > 0) return refuse('invalid', 'the agreement is none', faults)
  if (size < 1 || size > max_set_size)
    return refuse('invalid', `${size} records where the agreement allows ${max_set_size}`)
  if ((key !== undefined) !== (privacy === 'clk' && parties[1] === self))
    return refuse('invalid', 'a public key goes to the other party of clk, and to nobody else')
  return checkSetLimits(call.settings(settings), agreement)
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
    heard: 0,
    // The worker looks whether the profile agrees.
    owes: 1,
    to_tell: [],
    peer: src,
    agreed_ts: 0,
  }
}

function determinePart(call: Call, { parties }: ExchangeAgreement): 'asked' | 'linker' {
  return parties[1] === call.site.name ? 'asked' : 'linker'
}

function isSameProposal(before: StoredExchange, now: StoredExchange): boolean {
  const isOf = before.created_by === now.created_by && before.tenant_id === now.tenant_id
  return isOf && before.agreement_digest === now.agreement_digest
}

const day_ms = 86_400_000

/**
 * What this peer itself has proposed, apart from what was proposed to it and from what others have. One that takes its proposals
 * back at once makes as many documents as one that waits: both are counted.
 */
async function checkProposalLimit(call: Call, src: string, tenant_id: string): Promise<Refusal | undefined> {
  const { peer_proposals: most, exchange_idle_hours } = call.settings(settings)
  const theirs = { tenant_id, peer: src, part: { in: ['asked', 'linker'] } }
  if ((await call.store(exchanges).count({ ...theirs, state: 'proposed' })) >= most)
    return refuse(
      'over_budget',
      `${most} proposals of ${src} wait for an answer: propose again once some are answered, or ended after ${exchange_idle_hours} hours`,
    )
  const since = new Date(call.now() - day_ms).toISOString()
  if ((await call.store(exchanges).count({ ...theirs, created_at: { gt: since } })) < most) return undefined
  return refuse('over_budget', `${src} has made its ${most} proposals of 24 hours: propose again later`)
}
