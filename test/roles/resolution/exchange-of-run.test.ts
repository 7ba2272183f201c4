// A run that is started with `privacy`: it proposes an exchange, and follows it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { list as exchangeList } from '../../../daemon/roles/resolution/exchange/list.ts'
import { extract } from '../../../daemon/roles/resolution/fusion/extract.ts'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { sharedClassification } from '../consensus/peer-site.ts'
import {
  type ExchangeFixture,
  referToAgreement,
  startExchangeFixture,
  waitForExchangeState,
} from './exchange-fixture.ts'
import { buildPeople } from './resolution-site.ts'

let fixture: ExchangeFixture
beforeAll(async () => {
  fixture = await startExchangeFixture()
})
afterAll(async () => {
  await fixture?.end()
  expect(fixture?.world.loggedErrors ?? []).toEqual([])
})

const exchange = { peer: 'bravo', fields: ['given_name', 'surname'], learns: ['alpha'], max_set_size: 100 }
const run = {
  lens_id: 'people',
  node_data: { own: buildPeople(0, 5) },
  privacy: 'psi' as const,
  exchange,
  classification: sharedClassification,
}
const exchangeOf = (run_id: string) => run_id.replace('run_', 'xchg_')

/** The exchange of the run, once bravo has been notified. */
async function waitForOffer(run_id: string) {
  return waitUntil(async () => {
    const value = await fixture.stored(exchangeOf(run_id))
    return value.told?.includes('bravo') && value.job_due_ts === undefined && value
  })
}

test('waits for the peer under its own id, and begins once the peer has agreed', async () => {
  const ann = await fixture.ann()
  const key = { 'idempotency-key': 'twice' }
  const begun = await ann.ok(start, run, key)
  expect(begun).toMatchObject({ state: 'pending', privacy: 'psi', goal: 'completed', created_by: 'ann' })
  expect((await ann.ok(start, run, key)).run_id).toBe(begun.run_id)
  const { run_id } = begun
  const { agreement } = await waitForOffer(run_id)
  const { peer, ...terms } = exchange
  expect(agreement).toMatchObject({ ...terms, privacy: 'psi', parties: ['alpha', peer] })
  expect(await fixture.say(fixture.bravo, { say: 'agreed', ...referToAgreement(agreement), size: 7 })).toBe(200)
  const running = await waitUntil(async () => {
    const found = await ann.ok(status, { run_id })
    return found.state !== 'pending' && found
  })
  expect(running).toMatchObject({
    sources: [
      { node_id: 'alpha', records: 5 },
      { node_id: 'bravo', records: 7 },
    ],
  })
  expect(running.started_at).toBeDefined()
  await ann.ok(cancel, { run_id })
  await waitForExchangeState(fixture, exchangeOf(run_id), 'cancelled')
})

test('cancelled before the peer has agreed, it ends the exchange with its records', async () => {
  const ann = await fixture.ann()
  const { run_id } = await ann.ok(start, run)
  await waitForOffer(run_id)
  expect(await fixture.pieces(exchangeOf(run_id))).toBe(1)
  await ann.ok(cancel, { run_id })
  await waitForExchangeState(fixture, exchangeOf(run_id), 'cancelled')
  expect(await fixture.pieces(exchangeOf(run_id))).toBe(0)
})

test('declined by the peer, it fails with the reason', async () => {
  const ann = await fixture.ann()
  const { run_id } = await ann.ok(start, run)
  const { agreement } = await waitForOffer(run_id)
  const end = { say: 'ended', ...referToAgreement(agreement), code: 'declined', reason: 'not with these fields' }
  expect(await fixture.say(fixture.bravo, end)).toBe(200)
  const over = await waitUntil(async () => {
    const found = await ann.ok(status, { run_id })
    return found.state !== 'pending' && found
  })
  expect(over).toMatchObject({ state: 'failed', failure: { reason: expect.stringContaining('not with these fields') } })
})

test('what an exchange cannot do is refused, field by field, and nothing is proposed', async () => {
  const ann = await fixture.ann()
  const before = (await ann.ok(exchangeList, {})).items.length
  const { exchange: _terms, ...bare } = run
  const faults = async (input: Parameters<typeof start.run>[1] | object) => {
    const { problem } = await ann.call(start, input as typeof run)
    return [problem?.status, problem?.errors?.map(({ path }) => path)]
  }
  expect(await faults(bare)).toEqual([422, ['exchange']])
  const two = { own: buildPeople(0, 5), other: buildPeople(0, 5) }
  expect(await faults({ ...run, node_data: two, null_penalty: 1, id_field: 'id' })).toEqual([
    422,
    ['node_data', 'null_penalty', 'id_field'],
  ])
  const phases = await ann.call(extract, run)
  expect([phases.problem?.status, phases.problem?.errors?.[0]?.path]).toEqual([422, 'privacy'])
  expect((await ann.ok(exchangeList, {})).items).toHaveLength(before)
})
