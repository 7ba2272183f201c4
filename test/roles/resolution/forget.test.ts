// A forgotten record: no operation answers a value of it, no file has one, and it is not stored again.
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { everyOperation } from '../../../daemon/every-role.ts'
import { pathParameters } from '../../../daemon/kernel/operation/operation.ts'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { get as arrival } from '../../../daemon/roles/resolution/arrival/get.ts'
import { arrivals } from '../../../daemon/roles/resolution/arrival/model.ts'
import { find } from '../../../daemon/roles/resolution/entity/find.ts'
import { lookup } from '../../../daemon/roles/resolution/entity/lookup.ts'
import { get as cluster } from '../../../daemon/roles/resolution/entity-cluster/get.ts'
import { forget } from '../../../daemon/roles/resolution/entity-record/forget.ts'
import { entityRecords, recordUid } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { extract } from '../../../daemon/roles/resolution/fusion/extract.ts'
import { resolve } from '../../../daemon/roles/resolution/fusion/resolve.ts'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { readFolder } from '../../support/store/read-folder.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()
let ann: CheckedClient
let olga: CheckedClient
let canary: string
/** Ids of one test: a record that an earlier one forgot is never stored again. */
let turn = 0
const own = (id: string) => `${id}-${turn}`
/** Everything that identifies the forgotten person, and nobody else. */
let secrets: string[]

const letters = 'abcdefghijklmnopqrstuvwxyz'
const spell = (text: string) => [...text].map((digit) => letters[Number.parseInt(digit, 16)]).join('')
const people = { east: buildPeople(0, 40), west: buildPeople(10, 50), north: buildPeople(5, 30) }

beforeAll(async () => {
  ann = await world().as()
  olga = await world().as({ subject: 'olga', roles: ['operator'] })
  await ann.ok(create, { body: buildPersonLens() })
})

/** A new person, whom two nodes know, in a registry that a run has filled. */
beforeEach(async () => {
  world().clock.advance(1_000)
  turn++
  canary = spell(randomUUID().replaceAll('-', '').slice(0, 16))
  secrets = [`${canary}surname`, `${canary}given`]
  expect(await runWith([person('c1')])).toMatchObject({ state: 'completed' })
})

const person = (id: string) => ({
  id: own(id),
  given_name: `${canary}given`,
  surname: `${canary}surname`,
  date_of_birth: '1950-01-02',
})

async function runWith(south: object[], more: object = {}) {
  world().clock.advance(1_000)
  const node_data = { ...people, south: [...south, ...buildPeople(60, 62)] }
  const { run_id } = await ann.ok(start, { lens_id: 'people', node_data: node_data as never, ...more })
  return await waitForRunEnd(ann, run_id)
}

const request = (id: string, node_id = 'south') => ({ lens: 'people', node_id, record_id: own(id) })
const forgetRecord = (record_id: string, by = olga) =>
  by.ok(forget, { ...request(record_id), reason: 'requested by the person' })

async function sendRecords(...sent: object[]) {
  const { uid } = await ann.ok(arrive, { node_id: 'south', records: sent as never })
  return await waitUntil(async () => {
    const now = await ann.ok(arrival, { uid })
    return now.state !== 'waiting' && now
  })
}

/** Texts that a file of the site contains, of any role. */
function findInFiles(texts: readonly string[]): string[] {
  const contents = readFolder(world().folder.data).map((content) => content.toString('latin1').toLowerCase())
  return texts.filter((text) => contents.some((content) => content.includes(text.toLowerCase())))
}

/** Lets the worker erase files, a minute after the record was forgotten. */
async function eraseFiles(id: string) {
  const uid = recordUid('tenant-a', 'people', { node_id: 'south', record_id: own(id) })
  world().clock.advance(61_000)
  await waitUntil(async () => {
    world().wakeWorker('resolution', 'files')
    const record = await world().store('resolution').get(entityRecords, uid)
    return record && record.value.erasing === undefined
  })
}

/** Every answer of every reading operation of the role, with every object that lists name. */
async function readAnswers(): Promise<string> {
  const reads = everyOperation.filter(
    ({ address, operation: { method, streams } }) => address.startsWith('resolution.') && method === 'GET' && !streams,
  )
  const token = await world().token({ roles: ['admin'] })
  const texts: string[] = []
  const ids = new Set<string>()
  const read = async (path: string) => {
    const { text } = await world().call('resolution', 'GET', path, undefined, { token })
    texts.push(text)
    for (const [id] of text.matchAll(/(?:ent|match|run|arr|lens|bind|rec)_[0-9a-f]{32}/g)) ids.add(id)
  }
  for (const { operation } of reads)
    if (operation.path && pathParameters(operation.path).length === 0) await read(`${operation.path}?limit=500`)
  for (const { operation } of reads) {
    const { path: pattern = '' } = operation
    const [parameter, ...others] = pathParameters(pattern)
    if (parameter === undefined || others.length > 0) continue
    for (const id of ids) await read(pattern.replace(`{${parameter}}`, id))
  }
  return texts.join('\n')
}

describe('a record that is forgotten', () => {
  test('is in no answer and in no file afterwards, and leaves its entity to the others', async () => {
    await sendRecords(person('c2'), { ...person('c3'), surname: `${canary}surnane` })
    const { uid: entity, members } = await ann.ok(find, request('c1'))
    expect(members.map(({ record_id }) => record_id)).toEqual(['c1', 'c2', 'c3'].map(own))
    expect(findInFiles(secrets)).toEqual(secrets)
    expect((await readAnswers()).toLowerCase()).toContain(canary)
    for (const id of ['c1', 'c2', 'c3'])
      expect(await forgetRecord(id)).toMatchObject({ settled: true, forgotten_by: 'olga' })
    expect((await readAnswers()).toLowerCase()).not.toContain(canary)
    const found = (await ann.ok(lookup, { record: person('') as never })).entities
    expect(JSON.stringify(found).toLowerCase()).not.toContain(entity)
    expect(await ann.ok(cluster, { uid: entity })).toMatchObject({
      ...{ state: 'deleted', size: 0, members: [], deleted: { by: 'olga', reason: 'requested by the person' } },
      forgotten: { by: 'olga' },
    })
    for (const id of ['c1', 'c2', 'c3']) await eraseFiles(id)
    expect(findInFiles([canary])).toEqual([])
  })

  test('is not stored again, by an arrival or a run that bring it, and both say so', async () => {
    await forgetRecord('c1')
    const { uid, items } = await sendRecords(person('c1'), buildPeople(70, 71)[0] ?? {})
    expect(items).toMatchObject([{ record_id: own('c1'), outcome: 'forgotten' }, { outcome: 'new' }])
    expect(items[0]).not.toHaveProperty('entity')
    const stored = await world().store('resolution').get(arrivals, uid)
    expect(stored?.value.records.map(({ values }) => values)).toEqual([{}, {}])
    const run = await runWith([person('c1')])
    expect(run).toMatchObject({ state: 'completed', left_out: [{ what: 'withdrawn_records', count: 1, limit: 0 }] })
    expect(run.sources.find(({ node_id }) => node_id === 'south')?.records).toBe(2)
    expect(await olga.refusal(find, request('c1'))).toBe('not_found')
    expect((await readAnswers()).toLowerCase()).not.toContain(canary)
    await eraseFiles('c1')
    expect(findInFiles([canary])).toEqual([])
  })

  test('is erased from files again where an arrival brings it later', async () => {
    await forgetRecord('c1')
    await eraseFiles('c1')
    await sendRecords(person('c1'))
    expect(await olga.refusal(find, request('c1'))).toBe('not_found')
    await eraseFiles('c1')
    expect(findInFiles([canary])).toEqual([])
  })

  test('leaves an arrival that an earlier release completed, and only the others keep values there', async () => {
    const { uid } = await sendRecords(person('c2'))
    const kept = { surname: 'somebody' }
    const former = [person('c1'), person('c2')].map(({ id, surname }) => ({
      ...{ ref: { node_id: 'south', record_id: id }, outcome: 'new' as const },
      values: id === own('c1') ? { surname } : kept,
    }))
    await world()
      .store('resolution')
      .update(arrivals, uid, ({ value: { emptied_at: _at, ...value } }) => ({
        next: { ...value, records: former },
        answer: undefined,
      }))
    await forgetRecord('c1')
    const stored = await world().store('resolution').get(arrivals, uid)
    expect(stored?.value.records.map(({ values }) => values)).toEqual([{}, kept])
  })

  test('is forgotten once, by the first person who did', async () => {
    const first = await forgetRecord('c1')
    world().clock.advance(1_000)
    const again = await olga.ok(forget, { ...request('c1'), reason: 'another one' })
    expect(again).toEqual(first)
  })

  test('is all that a run has: the run says so, and finds nothing', async () => {
    await forgetRecord('c1')
    const { run_id } = await ann.ok(start, {
      lens_id: 'people',
      node_data: { south: [person('c1')] },
      accept_poor: true,
    })
    const run = await waitForRunEnd(ann, run_id)
    expect(run.left_out).toEqual([{ what: 'withdrawn_records', count: 1, limit: 0 }])
  })
})

describe('a run that has not ended', () => {
  async function extractRun(classification: string) {
    const node_data = { ...people, south: [person('c1'), ...buildPeople(60, 62)] }
    const { run_id } = await ann.ok(extract, { lens_id: 'people', node_data: node_data as never, classification })
    await waitUntil(async () => (await ann.ok(status, { run_id })).state === 'extracted')
    return run_id
  }

  test('refuses it, and names itself and the remedy, to a person who may see it', async () => {
    const run_id = await extractRun('UNCLASSIFIED')
    const { problem } = await olga.call(forget, { ...request('c1'), reason: 'requested' })
    expect(problem).toMatchObject({ code: 'wrong_state' })
    expect(problem?.detail).toContain(`or cancel it: platform resolve cancel ${run_id}`)
    expect(await ann.ok(find, request('c1'))).toMatchObject({ state: 'live' })
    await ann.ok(cancel, { run_id })
    expect(await forgetRecord('c1')).toMatchObject({ settled: true })
  })

  test('above the clearance of the person is not named, and brings the record back to nowhere', async () => {
    const run_id = await extractRun('SECRET')
    const low = await world().as({ subject: 'lou', roles: ['operator'], clearance: { level: 'UNCLASSIFIED' } })
    expect(await forgetRecord('c1', low)).toMatchObject({ settled: true, forgotten_by: 'lou' })
    await ann.ok(resolve, { run_id })
    const run = await waitForRunEnd(ann, run_id)
    expect(run).toMatchObject({ state: 'completed' })
    expect(run.left_out ?? []).toEqual([])
    expect((await readAnswers()).toLowerCase()).not.toContain(canary)
    expect(await olga.refusal(find, request('c1'))).toBe('not_found')
    await eraseFiles('c1')
    expect(findInFiles([canary])).toEqual([])
  })
})

describe('a record above the clearance of a person', () => {
  let low: CheckedClient
  beforeEach(async () => {
    low = await world().as({ subject: 'lou', roles: ['operator'], clearance: { level: 'UNCLASSIFIED' } })
    await ann.ok(arrive, { node_id: 'vault', records: [person('v1')] as never, classification: 'SECRET' })
    await waitUntil(async () => (await ann.call(find, request('v1', 'vault'))).status === 200)
  })

  const forgetHidden = async (record_id: string) => {
    const { problem } = await low.call(forget, { ...request(record_id, 'vault'), reason: 'requested' })
    return { code: problem?.code, detail: problem?.detail }
  }

  test('is answered as one that does not exist, before it is forgotten and afterwards', async () => {
    const absent = await forgetHidden('nobody')
    expect(absent.code).toBe('not_found')
    expect(await forgetHidden('v1')).toEqual(absent)
    await olga.ok(forget, { ...request('v1', 'vault'), reason: 'requested' })
    expect(await forgetHidden('v1')).toEqual(absent)
    const { problem } = await low.call(find, request('v1', 'vault'))
    expect(problem?.detail).toBe(
      `the record ${own('v1')} of node vault is not in the registry: list its clusters, or add the record`,
    )
  })

  test('is not told apart, once it is forgotten, by a person who sends it in an arrival or a run', async () => {
    await olga.ok(forget, { ...request('v1', 'vault'), reason: 'requested' })
    const sent = { node_id: 'vault', records: [person('v1')] as never, classification: 'UNCLASSIFIED' }
    const { uid } = await low.ok(arrive, sent)
    const { items } = await waitUntil(async () => {
      const now = await low.ok(arrival, { uid })
      return now.state === 'matched' && now
    })
    expect(items).toEqual([{ record_id: own('v1') }])
    const node_data = { ...people, vault: [person('v1'), ...buildPeople(80, 82)] } as never
    const { run_id } = await low.ok(start, { lens_id: 'people', node_data, classification: 'UNCLASSIFIED' })
    const run = await waitForRunEnd(low, run_id)
    expect(run.left_out ?? []).toEqual([])
    expect(run.sources.find(({ node_id }) => node_id === 'vault')?.records).toBe(3)
    expect(run.counts.records).toBe(40 + 40 + 25 + 3)
    expect(await olga.refusal(find, request('v1', 'vault'))).toBe('not_found')
  })
})

test('of another tenant there is no record to forget, and an analyst may forget none', async () => {
  const other = await world().as({ subject: 'tom', roles: ['operator'], tenant: 'tenant-b' })
  expect(await other.refusal(forget, { ...request('c1'), reason: 'requested' })).toBe('not_found')
  expect(await ann.refusal(forget, { ...request('c1'), reason: 'requested' })).toBe('forbidden')
  expect(await ann.ok(find, request('c1'))).toMatchObject({ state: 'live' })
})
