// Receives a message of a peer in an exchange. Refuses a message that the agreement does not expect from that peer
// then.
import * as z from 'zod'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { wakeJob } from '../../../kernel/job/rules.ts'
import { normaliseLabel } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import {
  checkAddressee,
  type VerifiedFederationMessage as Opened,
} from '../../../shared/federation-message/federation-message.ts'
import { federationOperation } from '../../../shared/federation-message/federation-operation.ts'
import { matchingOperation } from '../matching.ts'
import { listSites } from './agreement/agreement.ts'
import { changeExchange } from './change-exchange.ts'
import { type ExchangeMessage, exchangeMessage } from './message/exchange-message.ts'
import { exchanges, isOver, type StoredExchange } from './model.ts'
import { receivePiece } from './piece/receive-piece.ts'
import { endEarly } from './progress/end-early.ts'
import { receiveProposal } from './proposal/receive-proposal.ts'

type PeerExchangeMessage<S extends ExchangeMessage['say']> = {
  readonly src: string
  readonly message: Extract<ExchangeMessage, { say: S }>
}

const receiveFromPeer = federationOperation({
  summary: 'Accept a message of a peer in an exchange',
  path: '/api/v2/federation/resolution',
  kind: 'resolution',
  data: exchangeMessage,
  output: z.strictObject({ exchange_id: z.string() }).meta({ id: 'ExchangeHeard' }),
  errors: ['not_found', 'signature_invalid', 'not_your_tenant', 'label_denied', 'already_exists', 'over_budget'],

  readObjectId: readExchangeId,

  async run(call, opened) {
    const refused = checkAddressee(call, opened.statement) ?? (await receiveMessage(call, opened))
    return refused ?? { exchange_id: readExchangeId(opened.data) }
  },
})

export const receive = matchingOperation(receiveFromPeer)

function readExchangeId(message: ExchangeMessage): string {
  return message.say === 'proposal' ? message.agreement.exchange_id : message.exchange_id
}

async function receiveMessage(call: Call, delivery: Opened<ExchangeMessage>): Promise<Refusal | undefined> {
  const { data: message } = delivery
  if (message.say === 'proposal') return await receiveProposal(call, delivery.statement, message)
  const { src, receiver_tenant_id } = delivery.statement
  const doc = await call.store(exchanges).find(message.exchange_id)
  // One refusal for an unknown exchange, another peer and another agreement, so that nobody can probe for exchanges.
  const isOfPeer =
    doc?.value.tenant_id === receiver_tenant_id &&
    doc.value.agreement_digest === message.agreement_digest &&
    listSites(doc.value.agreement).includes(src)
  if (!doc || !isOfPeer) return refuse('not_found', 'there is no such exchange with this peer')
  // The agreement fixes the label of all messages.
  if (canonicalJson(normaliseLabel(delivery.label)) !== canonicalJson(normaliseLabel(doc.value.label)))
    return refuse('label_denied', 'the label of the message is not the label of the exchange')
  if (isOver(doc.value)) return undefined
  if (message.say === 'agreed') return await receiveAcceptance(call, { src, message })
  if (message.say === 'piece') return await receivePiece(call, doc.value, src, message)
  return await receiveEnd(call, { src, message })
}

/**
 * Receives the acceptance of a site as the proposer: the size of its set and its public key. A set above the agreed
 * size fails the exchange.
 */
async function receiveAcceptance(
  call: Call,
  { src, message }: PeerExchangeMessage<'agreed'>,
): Promise<Refusal | undefined> {
  const { exchange_id, size, key } = message
  const changed = await changeExchange(call, exchange_id, 'resolution.exchange.agreed', (current) => {
    const { agreement, part, sizes, keys, peer } = current
    if (part !== 'proposer')
      return refuse('invalid', 'only the proposer accepts this message: this site did not propose the exchange')
    if (current.agreed.includes(src)) return current
    const isParty = src === peer
    if (isParty !== size > 0 || (key !== undefined) !== (isParty && agreement.privacy === 'clk'))
      return refuse('invalid', 'a party must announce records and, with clk, a public key; a linker neither')
    const at = call.nowIso()
    if (size > agreement.max_set_size) {
      const failure = {
        code: 'over_budget',
        reason: `${src} has ${size} records, and the agreement allows ${agreement.max_set_size}`,
      }
      return endEarly(current, 'failed', failure, { at })
    }
    const accepted: StoredExchange = {
      ...current,
      agreed: [...current.agreed, src],
      sizes: isParty ? { ...sizes, [src]: size } : sizes,
      keys: key === undefined ? keys : { ...keys, [src]: key },
      agreed_ts: isParty ? call.now() : current.agreed_ts,
      updated_at: at,
    }
    return wakeJob(accepted, call.now())
  })
  return isRefusal(changed) ? changed : undefined
}

async function receiveEnd(call: Call, { src, message }: PeerExchangeMessage<'ended'>): Promise<Refusal | undefined> {
  const { exchange_id, code, reason } = message
  const state = code === 'declined' || code === 'cancelled' ? code : 'failed'
  const at = call.nowIso()
  const changed = await changeExchange(call, exchange_id, 'resolution.exchange.ended', (current) =>
    endEarly(current, state, { code, reason: `${src}: ${reason}` }, { by: src, at }),
  )
  return isRefusal(changed) ? changed : undefined
}
