// Takes what a peer says in an exchange. Nothing is believed that the agreement does not expect of that peer at that point.
import * as z from 'zod'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { normaliseLabel } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import {
  checkAddressee,
  federationMessage,
  max_message_bytes,
  type VerifiedFederationMessage as Opened,
  openFederationMessage,
} from '../../../shared/federation-message/federation-message.ts'
import { matchingOperation } from '../matching.ts'
import { listSites } from './agreement/agreement.ts'
import { changeExchange } from './change-exchange.ts'
import { type ExchangeMessage, exchangeMessage } from './message/exchange-message.ts'
import { exchanges, isOver } from './model.ts'
import { receivePiece } from './piece/receive-piece.ts'
import { endEarly } from './progress/end-early.ts'
import { receiveProposal } from './proposal/receive-proposal.ts'

type PeerExchangeMessage<S extends ExchangeMessage['say']> = {
  readonly src: string
  readonly message: Extract<ExchangeMessage, { say: S }>
}

export const receive = matchingOperation({
  summary: 'Accept what a peer says in an exchange',
  method: 'POST',
  path: '/api/v2/federation/resolution',
  input: federationMessage,
  output: z.strictObject({ exchange_id: z.string() }).meta({ id: 'ExchangeHeard' }),
  errors: [
    'not_found',
    'signature_invalid',
    'not_your_tenant',
    'label_denied',
    'already_exists',
    'over_budget',
    'unavailable',
  ],
  allow: 'federation:deliver',
  max_body_bytes: max_message_bytes,

  async run(call, message) {
    const came = await openFederationMessage(call, message, 'resolution', exchangeMessage)
    if (isRefusal(came)) return came
    const refused = checkAddressee(call, came.statement) ?? (await receiveMessage(call, came))
    if (refused) return refused
    const { data } = came
    return { exchange_id: data.say === 'proposal' ? data.agreement.exchange_id : data.exchange_id }
  },
})

async function receiveMessage(call: Call, delivery: Opened<ExchangeMessage>): Promise<Refusal | undefined> {
  const { data: said } = delivery
  if (said.say === 'proposal') return await receiveProposal(call, delivery.statement, said)
  const { src, receiver_tenant_id } = delivery.statement
  const doc = await call.store(exchanges).find(said.exchange_id)
  // One word for what is not there, not the peer's, and not the agreement: nobody is to ask which runs there are.
  const isTheirs =
    doc?.value.tenant_id === receiver_tenant_id &&
    doc.value.agreement_digest === said.agreement_digest &&
    listSites(doc.value.agreement).includes(src)
  if (!doc || !isTheirs) return refuse('not_found', 'there is no such exchange with this peer')
  // The agreement says under which label all of it goes: another would be another channel's, or nobody's word.
  if (canonicalJson(normaliseLabel(delivery.label)) !== canonicalJson(normaliseLabel(doc.value.label)))
    return refuse('label_denied', 'the message is not labelled as the exchange is')
  if (isOver(doc.value)) return undefined
  if (said.say === 'agreed') return await receiveAcceptance(call, { src, message: said })
  if (said.say === 'piece') return await receivePiece(call, doc.value, src, said)
  return await receiveEnd(call, { src, message: said })
}

/** To the proposer alone: how many the other brings, and its public key. Too many, and the exchange is over. */
async function receiveAcceptance(
  call: Call,
  { src, message: said }: PeerExchangeMessage<'agreed'>,
): Promise<Refusal | undefined> {
  const { exchange_id, size, key } = said
  const done = await changeExchange(call, exchange_id, 'resolution.exchange.agreed', (current) => {
    const { agreement, part, sizes, keys, peer } = current
    if (part !== 'proposer') return refuse('invalid', 'who agrees tells the proposer')
    if (current.agreed.includes(src)) return current
    const isParty = src === peer
    if (isParty !== size > 0 || (key !== undefined) !== (isParty && agreement.privacy === 'clk'))
      return refuse('invalid', 'a party brings records, and with clk a public key')
    const at = call.nowIso()
    if (size > agreement.max_set_size) {
      const failure = { code: 'over_budget', reason: `${src} brings ${size} records` }
      return endEarly(current, 'failed', failure, { self: call.site.name, by: '', at })
    }
    return {
      ...current,
      agreed: [...current.agreed, src],
      sizes: isParty ? { ...sizes, [src]: size } : sizes,
      keys: key === undefined ? keys : { ...keys, [src]: key },
      agreed_ts: isParty ? call.now() : current.agreed_ts,
      heard: current.heard + 1,
      owes: 1,
      updated_at: at,
    }
  })
  return isRefusal(done) ? done : undefined
}

async function receiveEnd(
  call: Call,
  { src, message: said }: PeerExchangeMessage<'ended'>,
): Promise<Refusal | undefined> {
  const { exchange_id, code, reason } = said
  const state = code === 'declined' || code === 'cancelled' ? code : 'failed'
  const at = call.nowIso()
  const done = await changeExchange(call, exchange_id, 'resolution.exchange.ended', (current) =>
    endEarly(current, state, { code, reason: `${src}: ${reason}` }, { self: call.site.name, by: src, at }),
  )
  return isRefusal(done) ? done : undefined
}
