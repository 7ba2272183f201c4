// An arrival that waits for a run is registered with the rights that the person who sent it has then.
import { beforeAll, describe, expect, test } from 'vitest'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { get } from '../../../daemon/roles/resolution/arrival/get.ts'
import { arrivals, type StoredArrival } from '../../../daemon/roles/resolution/arrival/model.ts'
import { lookup } from '../../../daemon/roles/resolution/entity/lookup.ts'
import { entityRecords } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { fusionRuns, type StoredRun } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { listUselessGrants } from '../../support/site/stored-principals.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const logged: { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[] = []
const world = setUpResolutionSite({}, {}, (event, fields) => void logged.push({ event, fields }))
let ann: CheckedClient
let run_id: string
beforeAll(async () => {
  ann = await world().as()
  await ann.ok(create, { body: buildPersonLens() })
  const node_data = { east: buildPeople(0, 40), west: buildPeople(10, 50), north: buildPeople(5, 30) }
  run_id = (await ann.ok(start, { lens_id: 'people', node_data })).run_id
  expect(await waitForRunEnd(ann, run_id)).toMatchObject({ state: 'completed' })
})

const store = () => world().store('resolution')

/** A run writes the registry until `resume`, so that what arrives waits. */
async function holdRegistry(): Promise<() => Promise<void>> {
  const run = await store().get(fusionRuns, run_id)
  if (!run) throw new Error(`there is no run ${run_id}`)
  const writing = `${run_id.slice(0, -4)}hold`
  const held: StoredRun = { ...run.value, state: 'resolving' }
  await store().create(fusionRuns, writing, held)
  return async () => {
    await store().remove(fusionRuns, writing)
    world().wakeWorker('resolution', 'recluster')
  }
}

let count = 0
/** Sends a record that nobody else has, while it has to wait: the request is answered later. */
async function sendWaiting(person: CheckedClient) {
  const number = 100 + ++count
  const record = { ...buildPeople(number, number + 1)[0], id: `s${number}` }
  const input = { node_id: 'south', records: [record], classification: 'SECRET' }
  const answered = person.ok(arrive, input as never)
  const uid = await waitUntil(async () => {
    const { docs } = await store().list(arrivals, { filter: { owes: 1 }, limit: 10, fresh: true })
    return docs.find(({ value }) => value.records.some(({ ref }) => ref.record_id === `s${number}`))?.id
  })
  return { uid, number, answered }
}

async function readArrival(uid: string): Promise<StoredArrival> {
  const doc = await store().get(arrivals, uid)
  if (!doc) throw new Error(`there is no arrival ${uid}`)
  return doc.value
}

async function waitUntilOver({ uid, answered }: Awaited<ReturnType<typeof sendWaiting>>): Promise<StoredArrival> {
  await answered
  return await waitUntil(async () => {
    const value = await readArrival(uid)
    return value.owes === 0 && value
  })
}

/** Whether a lookup finds the record of this number itself. */
async function isRegistered(number: number): Promise<boolean> {
  const { entities } = await ann.ok(lookup, { record: buildPeople(number, number + 1)[0] ?? {} })
  return entities.some(({ record }) => record.record_id === `s${number}`)
}

test('of a person who keeps the rights it is registered once the run has ended, and its grant goes', async () => {
  const resume = await holdRegistry()
  const sent = await sendWaiting(ann)
  const { uid, number } = sent
  expect((await readArrival(uid)).principal?.grant).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  expect(JSON.stringify(await ann.ok(get, { uid }))).not.toMatch(/grant|principal/)
  await resume()
  expect(await waitUntilOver(sent)).not.toHaveProperty('failure')
  expect(await readArrival(uid)).not.toHaveProperty('principal')
  expect(await isRegistered(number)).toBe(true)
})

test('why records of a registry cannot be matched is logged, once for as long as it lasts', async () => {
  const [record] = (await store().list(entityRecords, { limit: 1 })).docs
  if (!record) throw new Error('the registry is empty')
  const refusals = () => logged.filter(({ event }) => event === 'resolution.registry.not_matched')
  for (const [at, lens] of ['first', 'second', 'third'].entries()) {
    await store().create(entityRecords, `${record.id.slice(0, -2)}x${at}`, {
      ...record.value,
      lens,
      arrived: 'waiting',
    })
    world().wakeWorker('resolution', 'recluster')
    // Passes follow each other: the second one met the first registry again before the third began.
    await waitUntil(async () => refusals().length > at)
  }
  expect(refusals().map(({ fields }) => [fields.lens, fields.error])).toEqual([
    ['first', expect.stringContaining('no run of the lens first has completed')],
    ['second', expect.stringContaining('no run of the lens second has completed')],
    ['third', expect.stringContaining('no run of the lens third has completed')],
  ])
})

describe('it fails with the reason, and registers nothing,', () => {
  test('of a person who was revoked meanwhile', async () => {
    const dan = await world().as({ subject: 'dan' })
    const resume = await holdRegistry()
    const sent = await sendWaiting(dan)
    const admin = await world().as({ subject: 'admin', roles: ['admin'] })
    await admin.ok(revoke, { subject: 'dan', reason: 'left the service' })
    await resume()
    expect(await waitUntilOver(sent)).toMatchObject({
      failure: {
        code: 'forbidden',
        reason: 'the principal of the stored work was revoked, or the token with which it was stored',
      },
    })
    expect(await isRegistered(sent.number)).toBe(false)
  })

  test('where it has no principal', async () => {
    const resume = await holdRegistry()
    const sent = await sendWaiting(ann)
    await store().update(arrivals, sent.uid, ({ value: { principal: _taken, ...value } }) => ({
      next: value,
      answer: undefined,
    }))
    await resume()
    expect(await waitUntilOver(sent)).toMatchObject({
      failure: { code: 'forbidden', reason: 'the arrival has no principal to act for; send its records again' },
    })
    expect(await isRegistered(sent.number)).toBe(false)
  })

  const useless = listUselessGrants(world, 'resolution', 'resolution:write').filter(
    ([name]) => name !== 'was taken away',
  )
  test.each(useless)('whose grant %s', async (_, change, reason) => {
    const cal = await world().as({ subject: 'cal' })
    const resume = await holdRegistry()
    const sent = await sendWaiting(cal)
    const { grant } = await change({ collection: arrivals.name, id: sent.uid })
    await store().update(arrivals, sent.uid, ({ value }) => ({
      next: value.principal && grant ? { ...value, principal: { ...value.principal, grant } } : value,
      answer: undefined,
    }))
    await resume()
    expect(await waitUntilOver(sent)).toMatchObject({
      failure: { code: 'forbidden', reason: expect.stringMatching(reason) },
    })
    expect(await isRegistered(sent.number)).toBe(false)
  })
})
