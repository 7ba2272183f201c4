// Bounds on a peer's records and requests: the agreed number, a share for each peer, under one label.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agree } from '../../../daemon/roles/resolution/exchange/agree.ts'
import type { ExchangeAgreement } from '../../../daemon/roles/resolution/exchange/agreement/agreement.ts'
import { cancelExchange } from '../../../daemon/roles/resolution/exchange/cancel.ts'
import { get } from '../../../daemon/roles/resolution/exchange/get.ts'
import { exchangePieces } from '../../../daemon/roles/resolution/exchange/model.ts'
import { propose } from '../../../daemon/roles/resolution/exchange/propose.ts'
import { clkParameters } from '../../../daemon/roles/resolution/privacy/clk/parameters.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { sharedClassification, sharedLabel } from '../consensus/peer-site.ts'
import {
  buildAgreement,
  buildProposal,
  type ExchangeFixture,
  referToAgreement,
  startExchangeFixture,
  waitForExchangeState,
} from './exchange-fixture.ts'
import { buildPeople } from './resolution-site.ts'

let fixture: ExchangeFixture
beforeAll(async () => {
  fixture = await startExchangeFixture({
    peer_proposals: 12,
    open_exchanges: 2,
    exchange_mb: 1,
    exchange_records: 1_000,
  })
})
afterAll(async () => {
  await fixture?.end()
  expect(fixture?.world.loggedErrors ?? []).toEqual([])
})

const allFields = ['given_name', 'surname', 'date_of_birth']
const plaintextTerms = { privacy: 'none' as const, fields: allFields, max_set_bytes: 700 }

async function beginExchange(more: Partial<ExchangeAgreement>, size = 3): Promise<ExchangeAgreement> {
  const agreement = buildAgreement(more)
  expect(await fixture.say(fixture.bravo, buildProposal(agreement, size))).toBe(200)
  await (await fixture.ann()).ok(agree, { uid: agreement.exchange_id, data: buildPeople(0, 5) })
  return agreement
}

const buildRow = (id: string, length: number) => [id, 'a'.repeat(length), 'b', '']
function sendRecords(agreement: ExchangeAgreement, number: number, rows: readonly string[][], more: object = {}) {
  return { say: 'piece', ...referToAgreement(agreement), round: 'records', number, of: 3, items: 3, rows, ...more }
}

test('records as they are: more bytes or more rows than were agreed are refused as they come, and what was taken stays', async () => {
  const agreement = await beginExchange(plaintextTerms)
  const say = (...piece: [number, readonly string[][], object?]) =>
    fixture.say(fixture.bravo, sendRecords(agreement, ...piece))
  expect(await say(0, [buildRow('1', 300)])).toBe(200)
  expect(await say(1, [buildRow('2', 500)])).toBe('over_budget')
  expect(await say(1, [buildRow('2', 1), buildRow('3', 1), buildRow('4', 1)])).toBe('invalid')
  expect(await say(1, [buildRow('2', 1)], { of: 2 })).toBe('invalid')
  expect(await say(1, [buildRow('2', 1)], { items: 2 })).toBe('invalid')
  expect(await say(4, [buildRow('2', 1)], { of: 100_000 })).toBe('invalid')
  expect(await say(0, [buildRow('1', 300)])).toBe(200)
  expect(await say(0, [buildRow('1', 299)])).toBe('already_exists')
  const { exchange_id: uid } = agreement
  expect(await fixture.stored(uid)).toMatchObject({ state: 'running' })
  expect(await say(1, [buildRow('2', 1)])).toBe(200)
  expect(await say(2, [buildRow('3', 1)])).toBe(200)
  await waitForExchangeState(fixture, uid, 'completed')
})

test('the records of this site are held to the agreement too', async () => {
  const agreement = buildAgreement({ ...plaintextTerms, max_set_bytes: 100 })
  expect(await fixture.say(fixture.bravo, buildProposal(agreement))).toBe(200)
  const { call } = await fixture.ann()
  const { problem } = await call(agree, { uid: agreement.exchange_id, data: buildPeople(0, 5) })
  expect(problem?.detail).toMatch(/have \d+ bytes, and the agreement allows 100/)
})

test('refuses a proposal that allows more than this site ever takes, from either side', async () => {
  const wide = { ...plaintextTerms, max_set_bytes: 1_048_577 }
  expect(await fixture.say(fixture.bravo, buildProposal(buildAgreement(wide)))).toBe('over_budget')
  expect(await fixture.say(fixture.bravo, buildProposal(buildAgreement({ max_set_size: 1_001 })))).toBe('over_budget')
  const { refusal } = await fixture.ann()
  expect(await refusal(propose, { ...ownProposal, ...wide })).toBe('over_budget')
})

test('weights of fields outside the agreement are invalid parameters', async () => {
  const clk = clkParameters.parse({ weights: { nothing: 2 } })
  const more = { privacy: 'clk' as const, linker: 'charlie', clk }
  expect(await fixture.say(fixture.bravo, buildProposal(buildAgreement(more)))).toBe('invalid')
})

test('a public key of low order ends the exchange: everybody would know the key', async () => {
  const agreement = buildAgreement({ privacy: 'clk', linker: 'charlie' })
  const proposal = { ...buildProposal(agreement), key: 'A'.repeat(43) }
  expect(await fixture.say(fixture.bravo, proposal)).toBe(200)
  await (await fixture.ann()).ok(agree, { uid: agreement.exchange_id, data: buildPeople(0, 5) })
  const over = await waitForExchangeState(fixture, agreement.exchange_id, 'failed')
  expect(over.failure?.reason).toContain('no valid public key')
})

test.each(['agreed', 'piece', 'ended'])(
  'a message %s under another label than the exchange is refused',
  async (say) => {
    const agreement = await beginExchange(plaintextTerms)
    const label = { ...sharedLabel, level: 'RESTRICTED' }
    const messages = {
      agreed: { say, ...referToAgreement(agreement), size: 3 },
      piece: sendRecords(agreement, 0, [buildRow('1', 1)]),
      ended: { say, ...referToAgreement(agreement), code: 'cancelled', reason: 'by me' },
    }
    expect(await fixture.say(fixture.bravo, messages[say as keyof typeof messages], { label })).toBe('label_denied')
    const { ok } = await fixture.ann()
    const { uid, state } = await ok(get, { uid: agreement.exchange_id })
    expect(state).toBe('running')
    await ok(cancelExchange, { uid })
  },
)

const ownProposal = {
  peer: 'charlie',
  lens_id: 'people',
  fields: allFields,
  privacy: 'psi' as const,
  learns: ['alpha'],
  max_set_size: 100,
  classification: sharedClassification,
  data: buildPeople(0, 5),
}

test('bounds the open proposals of a tenant with a peer, and names the remedy', async () => {
  const { call, ok } = await fixture.ann()
  const first = await ok(propose, ownProposal)
  await ok(propose, ownProposal)
  const { status, problem } = await call(propose, ownProposal)
  expect([status, problem?.code]).toEqual([429, 'rate_limited'])
  expect(problem?.detail).toBe(
    '2 exchanges with charlie are open, and 2 are allowed: cancel some, or wait until they end',
  )
  await ok(propose, { ...ownProposal, peer: 'bravo' })
  await ok(cancelExchange, { uid: first.uid })
  await ok(propose, ownProposal)
})

test('a caller who sees fewer open proposals gets no more of them: the worker counts all', async () => {
  const low = await fixture.world.as({ subject: 'ben', clearance: { level: 'UNCLASSIFIED' } })
  const high = { ...sharedClassification, level: 'SECRET' }
  const { ok } = await fixture.ann()
  const before = await ok(propose, { ...ownProposal, peer: 'bravo', classification: high })
  const { uid } = await low.ok(propose, { ...ownProposal, peer: 'bravo' })
  const over = await waitForExchangeState(fixture, uid, 'failed')
  expect(over.failure).toMatchObject({
    code: 'rate_limited',
    reason: expect.stringContaining('2 exchanges with bravo'),
  })
  expect(await fixture.stored(before.uid)).toMatchObject({ state: 'proposed' })
})

test('a peer that floods, and takes its proposals back, uses up its own share and nobody else’s', async () => {
  const answers: (string | number)[] = []
  for (let at = 0; at < 13; at++) {
    const agreement = buildAgreement({ parties: ['charlie', 'alpha'], learns: ['alpha'] })
    answers.push(await fixture.say(fixture.charlie, buildProposal(agreement)))
    const taken = { say: 'ended', ...referToAgreement(agreement), code: 'cancelled', reason: 'no' }
    if (answers.at(-1) === 200) expect(await fixture.say(fixture.charlie, taken)).toBe(200)
  }
  expect(answers).toEqual([...Array.from({ length: 12 }, () => 200), 'over_budget'])
  expect(await fixture.say(fixture.bravo, buildProposal(buildAgreement()))).toBe(200)
  const waits = await (await fixture.ann()).call(propose, { ...ownProposal, peer: 'charlie' })
  expect(waits.problem?.code).toBe('rate_limited')
})

test('the same records go into two exchanges under two secrets, and no point of one is in the other', async () => {
  const uids = [(await beginExchange({})).exchange_id, (await beginExchange({})).exchange_id]
  const [one = [], other = []] = await Promise.all(uids.map(waitForPoints))
  expect(one).toHaveLength(5)
  expect(new Set([...one, ...other]).size).toBe(10)
  const secrets = await Promise.all(uids.map(async (uid) => (await fixture.stored(uid)).secret))
  expect(new Set(secrets).size).toBe(2)
  const { ok } = await fixture.ann()
  for (const uid of uids) await ok(cancelExchange, { uid })
})

/** Once they are made. */
async function waitForPoints(uid: string): Promise<readonly string[]> {
  const store = fixture.world.store('resolution')
  const { value } = await waitUntil(() => store.get(exchangePieces, `${uid}.alpha.points.0`))
  const bytes = Buffer.from(value.data, 'base64url')
  return Array.from({ length: bytes.length / 32 }, (_, at) => bytes.toString('hex', at * 32, at * 32 + 32))
}
