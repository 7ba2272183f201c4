// What a peer may bring, and how often it may ask: as much as was agreed, each peer its own share, under one label.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agree } from '../../../daemon/roles/resolution/exchange/agree.ts'
import type { Agreement } from '../../../daemon/roles/resolution/exchange/agreement.ts'
import { decline } from '../../../daemon/roles/resolution/exchange/decline.ts'
import { get } from '../../../daemon/roles/resolution/exchange/get.ts'
import { exchangePieces } from '../../../daemon/roles/resolution/exchange/model.ts'
import { propose } from '../../../daemon/roles/resolution/exchange/propose.ts'
import { clkParameters } from '../../../daemon/roles/resolution/privacy/clk/parameters.ts'
import { until } from '../../support/site-world.ts'
import { shared, sharedLabel } from '../consensus/peer-messages.ts'
import { about, agreementOf, type ExchangeWorld, exchangeWorld, proposalOf, settled } from './peer-exchange.ts'
import { peopleOf } from './resolution-world.ts'

let given: ExchangeWorld
beforeAll(async () => {
  given = await exchangeWorld({ peer_proposals: 12, open_exchanges: 2, exchange_mb: 1, exchange_records: 1_000 })
})
afterAll(async () => {
  await given?.end()
  expect(given?.world.faults ?? []).toEqual([])
})

const all = ['given_name', 'surname', 'date_of_birth']
const none = { privacy: 'none' as const, fields: all, max_set_bytes: 700 }

async function begun(more: Partial<Agreement>, size = 3): Promise<Agreement> {
  const agreement = agreementOf(more)
  expect(await given.say(given.bravo, proposalOf(agreement, size))).toBe(200)
  await (await given.ann()).ok(agree, { uid: agreement.exchange_id, data: peopleOf(0, 5) })
  return agreement
}

const row = (id: string, length: number) => [id, 'a'.repeat(length), 'b', '']
function records(agreement: Agreement, number: number, rows: readonly string[][], more: object = {}) {
  return { say: 'piece', ...about(agreement), round: 'records', number, of: 3, items: 3, rows, ...more }
}

test('records as they are: more bytes or more rows than were agreed are refused as they come, and what was taken stays', async () => {
  const agreement = await begun(none)
  const say = (...piece: [number, readonly string[][], object?]) => given.say(given.bravo, records(agreement, ...piece))
  expect(await say(0, [row('1', 300)])).toBe(200)
  expect(await say(1, [row('2', 500)])).toBe('over_budget')
  expect(await say(1, [row('2', 1), row('3', 1), row('4', 1)])).toBe('invalid')
  expect(await say(1, [row('2', 1)], { of: 2 })).toBe('invalid')
  expect(await say(1, [row('2', 1)], { items: 2 })).toBe('invalid')
  expect(await say(4, [row('2', 1)], { of: 100_000 })).toBe('invalid')
  expect(await say(0, [row('1', 300)])).toBe(200)
  expect(await say(0, [row('1', 299)])).toBe('already_exists')
  const { exchange_id: uid } = agreement
  expect(await given.stored(uid)).toMatchObject({ state: 'running' })
  expect(await say(1, [row('2', 1)])).toBe(200)
  expect(await say(2, [row('3', 1)])).toBe(200)
  await settled(given, uid, 'completed')
})

test('what this site brings is held to the agreement too', async () => {
  const agreement = agreementOf({ ...none, max_set_bytes: 100 })
  expect(await given.say(given.bravo, proposalOf(agreement))).toBe(200)
  const { ask } = await given.ann()
  const { problem } = await ask(agree, { uid: agreement.exchange_id, data: peopleOf(0, 5) })
  expect(problem?.detail).toMatch(/have \d+ bytes, and the agreement allows 100/)
})

test('an agreement that allows more than this site ever takes is no proposal, from either side', async () => {
  const wide = { ...none, max_set_bytes: 1_048_577 }
  expect(await given.say(given.bravo, proposalOf(agreementOf(wide)))).toBe('over_budget')
  expect(await given.say(given.bravo, proposalOf(agreementOf({ max_set_size: 1_001 })))).toBe('over_budget')
  const { refusal } = await given.ann()
  expect(await refusal(propose, { ...ours, ...wide })).toBe('over_budget')
})

test('weights of fields that are not agreed on are no parameters', async () => {
  const clk = clkParameters.parse({ weights: { nothing: 2 } })
  const more = { privacy: 'clk' as const, linker: 'charlie', clk }
  expect(await given.say(given.bravo, proposalOf(agreementOf(more)))).toBe('invalid')
})

test('a public key of low order ends the exchange: everybody would know the key', async () => {
  const agreement = agreementOf({ privacy: 'clk', linker: 'charlie' })
  const proposal = { ...proposalOf(agreement), key: 'A'.repeat(43) }
  expect(await given.say(given.bravo, proposal)).toBe(200)
  await (await given.ann()).ok(agree, { uid: agreement.exchange_id, data: peopleOf(0, 5) })
  const over = await settled(given, agreement.exchange_id, 'failed')
  expect(over.failure?.reason).toContain('no public key that a key can be agreed with')
})

test.each(['agreed', 'piece', 'ended'])(
  'a message %s under another label than the exchange is refused',
  async (say) => {
    const agreement = await begun(none)
    const label = { ...sharedLabel, level: 'RESTRICTED' }
    const messages = {
      agreed: { say, ...about(agreement), size: 3 },
      piece: records(agreement, 0, [row('1', 1)]),
      ended: { say, ...about(agreement), code: 'cancelled', reason: 'by me' },
    }
    expect(await given.say(given.bravo, messages[say as keyof typeof messages], { label })).toBe('label_denied')
    const { ok } = await given.ann()
    const { uid, state } = await ok(get, { uid: agreement.exchange_id })
    expect(state).toBe('running')
    await ok(decline, { uid })
  },
)

const ours = {
  peer: 'charlie',
  lens_id: 'people',
  fields: all,
  privacy: 'psi' as const,
  learns: ['alpha'],
  max_set_size: 100,
  classification: shared,
  data: peopleOf(0, 5),
}

test('of its own proposals a tenant has so many open with a peer, and is told what to do', async () => {
  const { ask, ok } = await given.ann()
  const first = await ok(propose, ours)
  await ok(propose, ours)
  const { status, problem } = await ask(propose, ours)
  expect([status, problem?.code]).toEqual([429, 'rate_limited'])
  expect(problem?.detail).toBe('2 exchanges with charlie are open: cancel some, or wait until they have ended')
  await ok(propose, { ...ours, peer: 'bravo' })
  await ok(decline, { uid: first.uid })
  await ok(propose, ours)
})

test('who sees less of what is open has no more of it: the worker counts all', async () => {
  const low = await given.world.as({ subject: 'ben', clearance: { level: 'UNCLASSIFIED' } })
  const high = { ...shared, level: 'SECRET' }
  const { ok } = await given.ann()
  const before = await ok(propose, { ...ours, peer: 'bravo', classification: high })
  const { uid } = await low.ok(propose, { ...ours, peer: 'bravo' })
  const over = await settled(given, uid, 'failed')
  expect(over.failure).toMatchObject({
    code: 'rate_limited',
    reason: expect.stringContaining('2 exchanges with bravo'),
  })
  expect(await given.stored(before.uid)).toMatchObject({ state: 'proposed' })
})

test('a peer that floods, and takes its proposals back, uses up its own share and nobody else’s', async () => {
  const answers: (string | number)[] = []
  for (let at = 0; at < 13; at++) {
    const agreement = agreementOf({ parties: ['charlie', 'alpha'], learns: ['alpha'] })
    answers.push(await given.say(given.charlie, proposalOf(agreement)))
    const taken = { say: 'ended', ...about(agreement), code: 'cancelled', reason: 'no' }
    if (answers.at(-1) === 200) expect(await given.say(given.charlie, taken)).toBe(200)
  }
  expect(answers).toEqual([...Array.from({ length: 12 }, () => 200), 'over_budget'])
  expect(await given.say(given.bravo, proposalOf(agreementOf()))).toBe(200)
  const waits = await (await given.ann()).ask(propose, { ...ours, peer: 'charlie' })
  expect(waits.problem?.code).toBe('rate_limited')
})

test('the same records go into two exchanges under two secrets, and no point of one is in the other', async () => {
  const uids = [(await begun({})).exchange_id, (await begun({})).exchange_id]
  const [one = [], other = []] = await Promise.all(uids.map(pointsOf))
  expect(one).toHaveLength(5)
  expect(new Set([...one, ...other]).size).toBe(10)
  const secrets = await Promise.all(uids.map(async (uid) => (await given.stored(uid)).secret))
  expect(new Set(secrets).size).toBe(2)
  const { ok } = await given.ann()
  for (const uid of uids) await ok(decline, { uid })
})

/** Once they are made. */
async function pointsOf(uid: string): Promise<readonly string[]> {
  const store = given.world.store('resolution')
  const { value } = await until(() => store.get(exchangePieces, `${uid}.alpha.points.0`))
  const bytes = Buffer.from(value.data, 'base64url')
  return Array.from({ length: bytes.length / 32 }, (_, at) => bytes.toString('hex', at * 32, at * 32 + 32))
}
