// Files that were taken and cannot go on: which of them hold up their folder, and which fail with a reason.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import * as z from 'zod'
import { canonicalJson, sha256 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { arrivals, type StoredArrival } from '../../../daemon/roles/resolution/arrival/model.ts'
import { batch_division } from '../../../daemon/roles/resolution/arrival-file/batch-rows.ts'
import { list as folders } from '../../../daemon/roles/resolution/arrival-folder/list.ts'
import { entityRecords, recordUid } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { fusionRuns, type StoredRun } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, waitForRunEnd } from './resolution-site.ts'

const drop = fs.mkdtempSync(path.join(tmpdir(), 'arrivals-'))
const intake = { name: 'desk', path: drop, node_id: 'desk', lens: 'people' }
const levi = { id: 'h1', given_name: 'לוי', surname: 'כהן', date_of_birth: '1950-01-11' }
const people = { east: [...buildPeople(0, 40), levi], west: buildPeople(10, 50) }

let world: TestSite
let ann: CheckedClient
let operator: CheckedClient
beforeAll(async () => {
  const resolution = { port: 0, arrival_folders: [intake] }
  world = await startTestSite({ profile: { platform: { roles: ['site', 'resolution'] }, resolution } })
  ann = await world.as()
  operator = await world.as({ subject: 'olga', roles: ['operator'] })
  await ann.ok(create, { body: buildPersonLens() })
  await ann.ok(create, { body: { ...buildPersonLens(), lens: 'others' } })
  await completeRun()
  await completeRun('others')
})
afterAll(async () => {
  await world.end()
  fs.rmSync(drop, { recursive: true, force: true })
})

async function completeRun(lens_id = 'people') {
  // Of two runs at one time neither is the latest.
  world.clock.advance(1_000)
  const { run_id } = await ann.ok(start, { lens_id, node_data: people })
  const run = await waitForRunEnd(ann, run_id)
  expect(run).toMatchObject({ state: 'completed' })
  return run
}

const formatFile = (number: number) => {
  const [person] = buildPeople(number, number + 1)
  return `id,given_name,surname\nd${number},${person?.given_name},${person?.surname}\n`
}

function dropFile(name: string, content: string): void {
  fs.writeFileSync(path.join(drop, `.${name}`), content)
  fs.renameSync(path.join(drop, `.${name}`), path.join(drop, name))
}

/** As a process that died leaves a file that it had taken. */
function leaveClaim(claim: string, name: string, content: string): void {
  fs.mkdirSync(path.join(drop, 'work', claim))
  fs.writeFileSync(path.join(drop, 'work', claim, name), content)
}

/** Looks at the folder again and again, as time would. */
const lookUntil = <T>(look: () => T | false | Promise<T | false>) =>
  waitUntil(async () => {
    world.wakeWorker('resolution', 'arrival-folders')
    return await look()
  })

const waitForEnd = (name: string, end: 'done' | 'failed') =>
  lookUntil(() => {
    const claim = fs.readdirSync(path.join(drop, end)).find((entry) => entry.startsWith(`${name}.`))
    return claim !== undefined && path.join(drop, end, claim)
  })

const readReason = (folder: string, name: string): unknown =>
  JSON.parse(fs.readFileSync(path.join(folder, `${name}.reason.json`), 'utf8'))

test('a file whose work fails for an unknown reason holds up no other, and fails after a few attempts', async () => {
  const [claim, content] = ['a.csv.0123456789abcdef', formatFile(12)]
  const { classification: label } = await completeRun()
  // A document of its batch that is damaged: what reads it meets an error of no known kind.
  const digest = sha256(content)
  const id = `arr_${sha256(canonicalJson(['tenant-a', 'desk', claim, digest, batch_division, 1])).slice(0, 32)}`
  const unchecked = { ...arrivals, schema: z.looseObject({}) } as unknown as typeof arrivals
  const damaged = { tenant_id: 'tenant-a', label, owes: 0, records: 7 } as unknown as StoredArrival
  await world.store('resolution').create(unchecked, id, damaged)
  leaveClaim(claim, 'a.csv', content)
  dropFile('b.csv', formatFile(13))
  await waitForEnd('b.csv', 'done')
  const failed = await waitForEnd('a.csv', 'failed')
  expect(readReason(failed, 'a.csv')).toMatchObject({ code: 'internal', reason: expect.stringContaining('3 times') })
  expect(fs.readFileSync(path.join(failed, 'a.csv'), 'utf8')).toBe(content)
  expect(world.loggedErrors.filter((each) => each.includes('arrival-folder.failed'))).toHaveLength(3)
  const { items } = await lookUntil(async () => {
    const listed = await operator.ok(folders, {})
    return listed.items[0]?.state === 'ok' && listed
  })
  expect(items).toMatchObject([{ detail: '', waiting: 0 }])
})

/** Restarts the service with these terms of the folder in its profile. */
async function changeFolder(terms: Partial<typeof intake> & { classification?: string }): Promise<void> {
  await world.stop()
  const sections = parse(fs.readFileSync(world.folder.profile, 'utf8')) as { resolution: { arrival_folders: unknown } }
  sections.resolution.arrival_folders = [{ ...intake, ...terms }]
  fs.writeFileSync(world.folder.profile, stringify(sections))
  await world.start()
}

/** A run writes the registry until the returned function is called, so that what arrives waits. */
async function holdRegistry(): Promise<() => Promise<void>> {
  const { uid } = await completeRun()
  const store = world.store('resolution')
  const run = await store.get(fusionRuns, uid)
  if (!run) throw new Error(`there is no run ${uid}`)
  const writing = `${uid.slice(0, -4)}hold`
  const held: StoredRun = { ...run.value, state: 'resolving' }
  await store.create(fusionRuns, writing, held)
  return async () => void (await world.store('resolution').remove(fusionRuns, writing))
}

const findWaiting = () =>
  waitUntil(async () => {
    const [doc] = (await world.store('resolution').list(arrivals, { filter: { owes: 1 }, limit: 1, fresh: true })).docs
    return doc ?? false
  })

const secret = { classification: 'SECRET' }
test.each([
  ['higher', {}, secret, 'classification', 60],
  ['lower', secret, {}, 'classification', 61],
  ['other', {}, { lens: 'others' }, 'lens', 62],
])(
  'a file whose folder gets another term (%s) while it is read adds no more records, and fails',
  async (word, from, to, term, number) => {
    await changeFolder(from)
    const resume = await holdRegistry()
    const [name, content] = [`${word}.csv`, formatFile(number)]
    dropFile(name, content)
    const arrival = await findWaiting()
    await changeFolder(to)
    const failed = await waitForEnd(name, 'failed')
    expect(readReason(failed, name)).toMatchObject({
      code: 'forbidden',
      reason: expect.stringContaining(`but another ${term}: drop the file again`),
      outcomes: {},
    })
    await resume()
    const ended = await waitUntil(async () => {
      world.wakeWorker('resolution', 'recluster')
      const doc = await world.store('resolution').get(arrivals, arrival.id)
      return doc?.value.owes === 0 && doc
    })
    expect(ended.value.failure).toMatchObject({ code: 'forbidden' })
    const record = { node_id: 'desk', record_id: `d${number}` }
    for (const lens of ['people', 'others'])
      expect(await world.store('resolution').get(entityRecords, recordUid('tenant-a', lens, record))).toBeUndefined()
    dropFile(name, content)
    await waitForEnd(name, 'done')
  },
)

/** As an earlier release stored a record of the registry: without the form of its values. The service starts anew, as after an update. */
async function ageRegistry(): Promise<void> {
  const uid = recordUid('tenant-a', 'people', { node_id: 'east', record_id: 'h1' })
  await world
    .store('resolution')
    .update(entityRecords, uid, ({ value: { text_form: _form, ...value } }) => ({ next: value, answer: undefined }))
  await world.restart()
}

const waitUntilHeldUp = () =>
  lookUntil(async () => {
    const { items } = await operator.ok(folders, {})
    return items[0]?.state === 'held_up' && items[0]
  })

test('files wait for a registry in an earlier form of texts, with the reason, and are taken once a run has completed', async () => {
  await changeFolder({})
  await ageRegistry()
  for (const number of [63, 64]) dropFile(`aged-${number}.csv`, formatFile(number))
  const held = await waitUntilHeldUp()
  expect(held).toMatchObject({
    detail: expect.stringMatching(/earlier normal form .*start a run of the lens/),
    waiting_files: ['aged-63.csv', 'aged-64.csv'],
  })
  expect(fs.readdirSync(path.join(drop, 'work'))).toEqual([])
  await completeRun()
  for (const number of [63, 64]) await waitForEnd(`aged-${number}.csv`, 'done')
})

test('a batch that waits while the service is updated does not fail, and keeps its outcomes', async () => {
  await changeFolder({})
  const resume = await holdRegistry()
  dropFile('flight.csv', formatFile(65))
  const { id } = await findWaiting()
  const aged = { given_name: 'منى', surname: 'حسنى' }
  await world.store('resolution').update(arrivals, id, ({ value: { records, ...value } }) => ({
    next: { ...value, records: records.map(({ text_form: _form, ...record }) => ({ ...record, values: aged })) },
    answer: undefined,
  }))
  await ageRegistry()
  await resume()
  const held = await waitUntilHeldUp()
  expect(held.detail).toContain('earlier normal form')
  // The worker has met the registry in the name of the batch, too: its record is stored, and not matched.
  const record = recordUid('tenant-a', 'people', { node_id: 'desk', record_id: 'd65' })
  await waitUntil(async () => {
    world.wakeWorker('resolution', 'recluster')
    return (await world.store('resolution').get(entityRecords, record))?.value.arrived === 'waiting'
  })
  world.wakeWorker('resolution', 'recluster')
  await waitUntilHeldUp()
  expect((await world.store('resolution').get(arrivals, id))?.value).toMatchObject({ owes: 1 })
  await completeRun()
  const done = await waitForEnd('flight.csv', 'done')
  expect(fs.readFileSync(path.join(done, 'flight.csv.answers.jsonl'), 'utf8')).toContain('"outcome":"new"')
  const stored = await world.store('resolution').get(entityRecords, record)
  expect(stored?.value).toMatchObject({ values: { given_name: 'مني', surname: 'حسني' }, text_form: 2 })
})
