// Takes what a peer says in an exchange. Nothing is believed that the agreement does not expect of that peer at that point.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import {
  federationMessage,
  max_message_bytes,
  misaddressed,
  type Sent as Opened,
  opened,
} from '../../../shared/federation-message.ts'
import { matchingOperation } from '../matching.ts'
import { agreementDigest, faultsOf, sitesOf } from './agreement.ts'
import { changeExchange } from './change.ts'
import { endedEarly } from './ending.ts'
import { type Sent, sent } from './messages.ts'
import { exchangePieces, exchanges, isOver, type StoredExchange } from './model.ts'
import { dropPieces, objectionTo, pieceId } from './pieces.ts'

type From<S extends Sent['say']> = { readonly src: string; readonly said: Extract<Sent, { say: S }> }

/** Proposals of a peer that nobody has looked at: more than these are a flood. */
const most_open = 100

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
    'rate_limited',
    'unavailable',
  ],
  allow: 'federation:deliver',
  max_body_bytes: max_message_bytes,

  async run(call, message) {
    const came = await opened(call, message, 'resolution', sent)
    if (isRefused(came)) return came
    const refused = misaddressed(call, came.statement) ?? (await heard(call, came))
    if (refused) return refused
    const { data } = came
    return { exchange_id: data.say === 'proposal' ? data.agreement.exchange_id : data.exchange_id }
  },
})

async function heard(call: Call, came: Opened<Sent>): Promise<Refused | undefined> {
  const { data: said } = came
  if (said.say === 'proposal') return await proposed(call, came, said)
  const { src, receiver_tenant_id } = came.statement
  const doc = await call.store(exchanges).find(said.exchange_id)
  // One word for what is not there, not the peer's, and not the agreement: nobody is to ask which runs there are.
  const isTheirs =
    doc?.value.tenant_id === receiver_tenant_id &&
    doc.value.agreement_digest === said.agreement_digest &&
    sitesOf(doc.value.agreement).includes(src)
  if (!doc || !isTheirs) return refuse('not_found', 'there is no such exchange with this peer')
  if (isOver(doc.value)) return undefined
  if (said.say === 'agreed') return await agreed(call, { src, said })
  if (said.say === 'piece') return await piece(call, doc.value, { src, said })
  return await ended(call, { src, said })
}

async function proposed(call: Call, came: Opened<Sent>, said: From<'proposal'>['said']): Promise<Refused | undefined> {
  const { agreement, classification: label, size, key } = said
  const { src, receiver_tenant_id: tenant_id } = came.statement
  const self = call.site.name
  const { exchange_id, parties, linker, max_set_size, privacy } = agreement
  if (parties[0] !== src) return refuse('invalid', 'a proposal is made by the first party')
  if (parties[1] !== self && linker !== self) return refuse('invalid', 'this site is no part of the agreement')
  const faults = faultsOf(agreement)
  if (faults.length > 0) return refuse('invalid', 'the agreement is none', faults)
  if (size < 1 || size > max_set_size)
    return refuse('invalid', `${size} records where the agreement allows ${max_set_size}`)
  if ((key !== undefined) !== (privacy === 'clk' && parties[1] === self))
    return refuse('invalid', 'a public key goes to the other party of clk, and to nobody else')
  const open = await call.store(exchanges).count({ state: 'proposed', peer: src })
  const value: StoredExchange = {
    tenant_id,
    label,
    created_by: `peer:${src}`,
    created_at: call.nowIso(),
    updated_at: call.nowIso(),
    agreement,
    agreement_digest: agreementDigest(agreement),
    part: parties[1] === self ? 'asked' : 'linker',
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
  const before = await call.store(exchanges).find(exchange_id)
  if (before) return isSame(before.value, value) ? undefined : refuse('already_exists', 'another exchange has this id')
  if (open >= most_open) return refuse('rate_limited', `${open} proposals of ${src} wait for an answer`)
  const audit = [
    { ...call.audited('resolution.exchange.proposed', exchange_id, { agreement, size }, label), tenant_id },
  ]
  const made = await call.store(exchanges).create(exchange_id, value, audit)
  if (made === 'exists') return refuse('unavailable', 'the same proposal is being taken just now')
  call.wake('exchanges')
  return undefined
}

function isSame(before: StoredExchange, now: StoredExchange): boolean {
  const isOf = before.created_by === now.created_by && before.tenant_id === now.tenant_id
  return isOf && before.agreement_digest === now.agreement_digest
}

/** To the proposer alone: how many the other brings, and its public key. Too many, and the exchange is over. */
async function agreed(call: Call, { src, said }: From<'agreed'>): Promise<Refused | undefined> {
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
      return endedEarly(current, 'failed', failure, { self: call.site.name, by: '', at })
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
  return isRefused(done) ? done : undefined
}

async function piece(call: Call, current: StoredExchange, { src, said }: From<'piece'>): Promise<Refused | undefined> {
  const { exchange_id, round, number, of, items, data, rows } = said
  if (current.state === 'proposed') {
    // What overtook the agreement comes again; who has not been agreed with has nothing to send.
    const isEarly = current.part === 'proposer'
    return isEarly
      ? refuse('unavailable', 'the peer has not said yet that it agrees')
      : refuse('invalid', 'nothing is agreed')
  }
  const objection = objectionTo(said, current, src, call.site.name)
  if (objection) return refuse('invalid', objection)
  const { tenant_id } = current
  const kept = { tenant_id, exchange_id, from: src, what: round, number, of, items, data: data ?? JSON.stringify(rows) }
  const id = pieceId(exchange_id, src, round, number)
  const made = await call.store(exchangePieces).create(id, kept)
  if (made === 'exists') {
    const { value } = await call.store(exchangePieces).get(id)
    const isRepeat = value.data === kept.data && value.of === of && value.items === items
    return isRepeat
      ? undefined
      : refuse('already_exists', `piece ${number} of the ${round} came before, and was another`)
  }
  const told = await changeExchange(call, exchange_id, 'resolution.exchange.piece', (now) =>
    isOver(now) ? now : { ...now, heard: now.heard + 1, owes: 1 },
  )
  if (isRefused(told)) return told
  // It ended meanwhile: what was dropped with it may not have had this piece yet.
  if (isOver(told.value)) await dropPieces(call, exchange_id)
  return undefined
}

async function ended(call: Call, { src, said }: From<'ended'>): Promise<Refused | undefined> {
  const { exchange_id, code, reason } = said
  const state = code === 'declined' || code === 'cancelled' ? code : 'failed'
  const at = call.nowIso()
  const done = await changeExchange(call, exchange_id, 'resolution.exchange.ended', (current) =>
    endedEarly(current, state, { code, reason: `${src}: ${reason}` }, { self: call.site.name, by: src, at }),
  )
  return isRefused(done) ? done : undefined
}
