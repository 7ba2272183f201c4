// An exchange acts for the person of this site who proposed it or agreed to it; its end needs nobody's rights.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { fillPath } from '../../../daemon/kernel/operation/operation.ts'
import { collection } from '../../../daemon/kernel/store/store.ts'
import { agree } from '../../../daemon/roles/resolution/exchange/agree.ts'
import { exchanges, type StoredExchange } from '../../../daemon/roles/resolution/exchange/model.ts'
import { propose } from '../../../daemon/roles/resolution/exchange/propose.ts'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { fusionRuns } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import { accept } from '../../support/delegation/delegation-answers.ts'
import { signAsSite } from '../../support/delegation/sign-claims.ts'
import { readAuditEvents } from '../../support/site/read-audit-events.ts'
import { restartWith } from '../../support/site/restart-with.ts'
import { replacePrincipal } from '../../support/site/stored-principals.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { sharedClassification } from '../consensus/peer-site.ts'
import {
  buildAgreement,
  buildProposal,
  type ExchangeFixture,
  referToAgreement,
  startExchangeFixture,
  waitForExchangeState,
} from './exchange-fixture.ts'
import { buildPeople, waitForRunEnd } from './resolution-site.ts'

const data = buildPeople(0, 5)
const folder = fs.mkdtempSync(path.join(tmpdir(), 'exchange-principals-'))
let fixture: ExchangeFixture
beforeAll(async () => {
  fs.mkdirSync(path.join(folder, 'tenant-a'))
  fs.writeFileSync(path.join(folder, 'tenant-a', 'people.jsonl'), data.map((each) => JSON.stringify(each)).join('\n'))
  const terms = {
    lens: 'people',
    privacy: ['psi'],
    fields: ['given_name', 'surname'],
    max_set_size: 100,
    they_learn: true,
  }
  fixture = await startExchangeFixture({
    peer_exchanges_per_day: 20,
    data_folder: folder,
    agreements: [{ peer: 'charlie', ...terms, file: 'people.jsonl' }],
  })
})
afterAll(async () => {
  await fixture?.end()
  fs.rmSync(folder, { recursive: true, force: true })
  expect(fixture?.world.loggedErrors ?? []).toEqual([])
})

/** Agreed to by a new person, and gone as far as it goes without the peer. */
async function agreeAs(subject: string) {
  const agreement = buildAgreement()
  const uid = agreement.exchange_id
  expect(await fixture.say(fixture.bravo, buildProposal(agreement))).toBe(200)
  const person = await fixture.world.as({ subject })
  await person.ok(agree, { uid, data })
  await waitForStep(uid)
  return { agreement, uid, person }
}

const waitForStep = (uid: string) =>
  waitUntil(async () => {
    const value = await fixture.stored(uid)
    return value.step === 1 && value.job_due_ts === undefined && value
  })

async function sendPoints(agreement: ReturnType<typeof buildAgreement>, by = fixture.bravo) {
  const points = { say: 'piece', ...referToAgreement(agreement), round: 'points', number: 0, of: 1, items: 3 }
  const piece = { ...points, data: Buffer.alloc(96, 9).toString('base64url') }
  expect(await fixture.say(by, piece)).toBe(200)
}

async function revokeSubject(subject: string) {
  const admin = await fixture.world.as({ subject: 'olga', roles: ['admin'] })
  await admin.ok(revoke, { subject, reason: 'left the service' })
}

const readActions = async (target: string) =>
  (await readAuditEvents(fixture.world, 'resolution'))
    .filter((event) => event.target === target)
    .map(({ action, subject, actor }) => [action.split('.').at(-1), subject, actor])

test('the steps of an exchange and its run are those of the person who agreed', async () => {
  const { uid } = await agreeAs('ann')
  expect((await fixture.stored(uid)).job.principal).toMatchObject({ subject: 'ann', roles: ['analyst'] })
  expect(await readActions(uid)).toContainEqual(['agree', 'ann', undefined])
  const run = uid.replace('xchg_', 'run_')
  const [begun] = await readActions(run)
  expect(begun).toEqual(['run', 'ann', 'role:resolution'])
  const stored = await fixture.world.store('resolution').get(fusionRuns, run)
  // The exchange alone acts for a person.
  expect(stored?.value).toMatchObject({ created_by: expect.any(String), exchange_id: uid })
  expect(stored?.value.job).not.toHaveProperty('principal')
})

test('where both sites learn the records, the run that follows is that of the person who agreed, by a grant of its own', async () => {
  const agreement = buildAgreement({ privacy: 'none' })
  const { exchange_id: uid, fields } = agreement
  expect(await fixture.say(fixture.bravo, buildProposal(agreement))).toBe(200)
  const person = await fixture.world.as({ subject: 'mia' })
  await person.ok(agree, { uid, data })
  const rows = buildPeople(2, 5).map((each) => [each.id, each.given_name, each.surname])
  expect(fields).toEqual(['given_name', 'surname'])
  const piece = { say: 'piece', ...referToAgreement(agreement), round: 'records', number: 0, of: 1, items: 3, rows }
  expect(await fixture.say(fixture.bravo, piece)).toBe(200)
  await waitForExchangeState(fixture, uid, 'completed')
  const run = uid.replace('xchg_', 'run_')
  expect(await waitForRunEnd(person, run)).toMatchObject({ state: 'completed', counts: { records: 8 } })
  expect(await readActions(run)).toContainEqual(['resolve-done', 'mia', 'role:resolution'])
  const stored = await fixture.world.store('resolution').get(fusionRuns, run)
  expect(stored?.value.job.principal).toEqual(expect.objectContaining({ subject: 'mia' }))
})

test.each([
  ['exchange', (id: string) => ({ collection: exchanges.name, id: `${id}0` })],
  ['run', (id: string) => ({ collection: fusionRuns.name, id: id.replace('xchg_', 'run_') })],
])('by the grant of the %s of a stronger person it takes no further step', async (_, placeOf) => {
  const { agreement, uid } = await agreeAs('kim')
  const subject_token = await fixture.world.token({ subject: 'olga', roles: ['admin'] })
  const changes = accept(await fixture.world.delegation('resolution', { subject_token }).store(placeOf(uid)))
  await replacePrincipal(fixture.world, 'resolution', { collection: exchanges, id: uid }, changes)
  await sendPoints(agreement)
  expect(await waitForExchangeState(fixture, uid, 'failed')).toMatchObject({
    failure: { code: 'forbidden', reason: 'the grant belongs to other stored work; store the work again' },
  })
})

test('an agreement for which no grant can be had leaves no records behind', async () => {
  const agreement = buildAgreement()
  const uid = agreement.exchange_id
  expect(await fixture.say(fixture.bravo, buildProposal(agreement))).toBe(200)
  // Admitted as a caller, but too far from its first token to be passed on.
  const derived_from = Array.from({ length: 8 }, (_, at) => `tok_far_${at}`)
  const token = await signAsSite(fixture.world, { sub: 'lea', client_id: 'lea', derived_from })
  const { status, json } = await fixture.world.call('resolution', 'POST', fillPath(agree, { uid }), { data }, { token })
  expect([status, json]).toMatchObject([403, { detail: expect.stringContaining('passed on too often') }])
  expect(await fixture.pieces(uid)).toBe(0)
  const left = await fixture.stored(uid)
  expect(left).toMatchObject({ state: 'proposed', agreed: [] })
  expect(left).not.toHaveProperty('secret')
})

test('a person who was revoked after agreeing takes no further step: the exchange fails, and the site cleans up', async () => {
  const { agreement, uid } = await agreeAs('bob')
  await revokeSubject('bob')
  await sendPoints(agreement)
  const over = await waitForExchangeState(fixture, uid, 'failed')
  expect(over.failure).toEqual({
    code: 'forbidden',
    reason: 'the principal of the stored work was revoked, or the token with which it was stored',
  })
  expect(over).toMatchObject({ to_tell: [], keys: {}, job: { state: 'failed' } })
  expect(over).not.toHaveProperty('secret')
  expect(over.job).not.toHaveProperty('principal')
  expect(await fixture.pieces(uid)).toBe(0)
})

test('a proposer who was revoked before the answer sends nothing more', async () => {
  const cal = await fixture.world.as({ subject: 'cal' })
  const terms = { lens_id: 'people', fields: ['given_name', 'surname'], privacy: 'psi' as const, max_set_size: 100 }
  const proposal = { ...terms, peer: 'bravo', learns: ['alpha'], classification: sharedClassification, data }
  const { uid, agreement } = await cal.ok(propose, proposal)
  await waitUntil(async () => {
    const value = await fixture.stored(uid)
    return value.told?.includes('bravo') && value.job_due_ts === undefined
  })
  await revokeSubject('cal')
  expect(await fixture.say(fixture.bravo, { say: 'agreed', ...referToAgreement(agreement), size: 3 })).toBe(200)
  expect(await waitForExchangeState(fixture, uid, 'failed')).toMatchObject({ failure: { code: 'forbidden' }, step: 0 })
  expect(await fixture.pieces(uid)).toBe(0)
})

test('what the profile agrees to is work of the site, within its tenant', async () => {
  const agreement = buildAgreement({ parties: ['charlie', 'alpha'], learns: ['alpha', 'charlie'] })
  const uid = agreement.exchange_id
  expect(await fixture.say(fixture.charlie, buildProposal(agreement))).toBe(200)
  expect((await waitForStep(uid)).job).not.toHaveProperty('principal')
  expect(await readActions(uid)).toContainEqual(['agree', 'role:resolution', undefined])
  const [begun] = await readActions(uid.replace('xchg_', 'run_'))
  expect(begun).toEqual(['run', 'role:resolution', undefined])
})

test('a proposal in another normal form of texts, to which the profile would agree, ends with the reason', async () => {
  const parties: [string, string] = ['charlie', 'alpha']
  const agreement = buildAgreement({ parties, learns: ['alpha', 'charlie'], text_form: 1 })
  expect(await fixture.say(fixture.charlie, buildProposal(agreement))).toBe(200)
  const over = await waitForExchangeState(fixture, agreement.exchange_id, 'failed')
  expect(over).toMatchObject({
    failure: { code: 'invalid', reason: expect.stringContaining('charlie normalises texts in form 1') },
    agreed: [],
    to_tell: [],
  })
})

test('an exchange whose principal was removed in the store gains no rights of the service', async () => {
  const { agreement, uid } = await agreeAs('kim')
  await fixture.world.store('resolution').update(exchanges, uid, ({ value: { job, ...rest } }) => {
    const { principal: _principal, ...stripped } = job
    return { next: { ...rest, job: stripped }, answer: undefined }
  })
  await sendPoints(agreement)
  const over = await waitForExchangeState(fixture, uid, 'failed')
  expect(over.failure).toEqual({
    code: 'forbidden',
    reason: expect.stringContaining('no person of this site to act for'),
  })
})

test('a budget counts the exchanges of every tenant, whoever agrees', async () => {
  const { uid: first } = await agreeAs('dee')
  const store = fixture.world.store('resolution')
  const { value } = (await store.get(exchanges, first)) ?? {}
  if (!value) throw new Error('there is no exchange')
  for (let at = 0; at < 20; at++) {
    const other = { ...value, tenant_id: 'tenant-x', state: 'completed' as const, is_granted: true }
    await store.create(exchanges, `xchg_${String(at).padStart(32, 'f')}`, { ...other, job_due_ts: undefined })
  }
  const agreement = buildAgreement()
  expect(await fixture.say(fixture.bravo, buildProposal(agreement))).toBe(200)
  await (await fixture.world.as({ subject: 'eve' })).ok(agree, { uid: agreement.exchange_id, data })
  const over = await waitForExchangeState(fixture, agreement.exchange_id, 'failed')
  expect(over).toMatchObject({ failure: { code: 'over_budget' }, step: 0 })
  expect(over.is_granted).toBeUndefined()
  for (let at = 0; at < 20; at++) await store.remove(exchanges, `xchg_${String(at).padStart(32, 'f')}`, 1)
})

test('the cancellation of a run cancels its exchange, which waits for the peer', async () => {
  const { uid, person } = await agreeAs('fay')
  await person.ok(cancel, { run_id: uid.replace('xchg_', 'run_') })
  const over = await waitForExchangeState(fixture, uid, 'cancelled')
  expect(over).toMatchObject({ failure: { code: 'cancelled', reason: 'its run is cancelled' }, to_tell: [] })
  expect(await fixture.pieces(uid)).toBe(0)
})

describe('an exchange of a version without jobs', () => {
  const earlier = collection({
    name: exchanges.name,
    indexes: ['owes'],
    schema: z.looseObject({ tenant_id: z.string(), owes: z.int().optional() }),
  })
  let count = 0

  async function storeEarlier(
    changes: Partial<Omit<StoredExchange, 'owes'>> & { readonly owes: 0 | 1 },
  ): Promise<string> {
    const agreement = buildAgreement()
    expect(await fixture.say(fixture.bravo, buildProposal(agreement))).toBe(200)
    const store = fixture.world.store('resolution')
    const {
      job: _job,
      job_due_ts: _due,
      ...value
    } = await waitUntil(async () => {
      const stored = await fixture.stored(agreement.exchange_id)
      return stored.job_due_ts === undefined && stored
    })
    const id = `xchg_${String(++count).padStart(32, 'e')}`
    await store.create(earlier, id, { ...value, heard: 2, attempts: 1, ...changes })
    fixture.world.wakeWorker('resolution', 'files')
    return id
  }

  test('that a person began ends, with a reason, and the peer learns of it', async () => {
    const id = await storeEarlier({ owes: 0, state: 'running', agreed: ['alpha'] })
    const over = await waitForExchangeState(fixture, id, 'failed')
    expect(over).toMatchObject({
      failure: { code: 'ended', reason: expect.stringContaining('propose it again') },
      to_tell: [],
      job: { state: 'failed' },
    })
  })

  test('that is over and has not notified the peer does so', async () => {
    const id = await storeEarlier({ owes: 1, state: 'cancelled', to_tell: ['bravo'] })
    await waitUntil(async () => (await fixture.stored(id)).to_tell.length === 0)
    expect(await fixture.stored(id)).toMatchObject({ state: 'cancelled', job: { state: 'cancelled' } })
  })

  test('that a peer proposed goes on with the person who agrees', async () => {
    const id = await storeEarlier({ owes: 1, state: 'proposed' })
    await waitUntil(async () => 'job' in ((await fixture.world.store('resolution').get(earlier, id))?.value ?? {}))
    const gil = await fixture.world.as({ subject: 'gil' })
    expect(await gil.ok(agree, { uid: id, data })).toMatchObject({ state: 'running' })
    expect((await fixture.stored(id)).job.principal).toMatchObject({ subject: 'gil' })
  })
})

test('what the profile agreed to ends once it agrees no more, and says so', async () => {
  const agreement = buildAgreement({ parties: ['charlie', 'alpha'], learns: ['alpha', 'charlie'] })
  const uid = agreement.exchange_id
  expect(await fixture.say(fixture.charlie, buildProposal(agreement))).toBe(200)
  await waitForStep(uid)
  await restartWith(fixture.world, { resolution: { agreements: [] } })
  await sendPoints(agreement, fixture.charlie)
  const over = await waitForExchangeState(fixture, uid, 'failed')
  expect(over.failure).toEqual({
    code: 'forbidden',
    reason: expect.stringContaining('no agreement of the profile (resolution.agreements) covers it any more'),
  })
})
