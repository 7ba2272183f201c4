// Datasets that a pipeline sends to a peer over folders: they arrive in parts, and a pipeline of the peer runs with each whole one.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import { messageBody } from '../../../daemon/kernel/messaging/statement.ts'
import { errors } from '../../../daemon/roles/ingest/dag-run/errors.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { run as triggerRun } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { runs } from '../../../daemon/roles/ingest/datapipeline/runs.ts'
import { datasetPart } from '../../../daemon/roles/ingest/federation/model.ts'
import { dagRuns, runDocumentId } from '../../../daemon/roles/ingest/runner/model.ts'
import { simulatedClock } from '../../support/clock/simulated-clock.ts'
import { pinPeerKeys } from '../../support/site/pinned-site-pair.ts'
import { createTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { readLanded, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

const operator = { subject: 'olga', roles: ['operator'] }
const shared = { level: 'UNCLASSIFIED', releasable_to: ['tenant-alpha', 'tenant-bravo'] }
const down = {
  trusted_networks: ['127.0.0.1'],
  http_targets: [{ name: 'down', url: 'http://127.0.0.1:1', operator: 'test_call', classification: shared }],
}
let alpha: TestSite
let bravo: TestSite

beforeAll(async () => {
  const clock = simulatedClock()
  const create = (name: string) =>
    createTestSite({
      ...{ name, tenant: `tenant-${name}`, clock },
      profile: {
        platform: { roles: ['site', 'ingest'] },
        ingest: { port: 0, data_folder: 'files', landing_settle_s: 0, landing_max_file_mb: 2, ...down },
      },
    })
  ;[alpha, bravo] = await Promise.all([create('alpha'), create('bravo')])
  await pinPeerKeys(alpha, bravo)
  await pinPeerKeys(bravo, alpha)
  await Promise.all([alpha.start(), bravo.start()])
})
afterAll(async () => {
  await Promise.all([alpha.end(), bravo.end()])
  expect([...alpha.loggedErrors, ...bravo.loggedErrors]).toEqual([])
})

function writeFile(name: string, content: string): void {
  const folder = path.join(path.dirname(alpha.folder.profile), 'files', alpha.tenant)
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, name), content)
}

async function send(
  dag_id: string,
  file: string,
  more: object = {},
  who: object = operator,
  label: typeof shared | { level: string } = shared,
) {
  const olga = await alpha.as(who)
  const params = { peer: 'bravo', dataset: 'orders', ...more }
  const tasks = [
    { name: 'read', operator: 'ingest_file', params: { file } },
    { name: 'send', operator: 'filedrop_send', params, after: ['read'], retries: 0 },
  ]
  const content = JSON.stringify({ format: 1, dag_id, tasks })
  const { uid } = await olga.ok(deploy, { dag_id, content, classification: label, run_on_deploy: true })
  expect(await waitUntilDeployed(olga, uid)).toMatchObject({ status: expect.not.stringContaining('rejected') })
  const { state } = await waitUntilRunOver(olga, dag_id, 'deploy__1')
  const { items } = await olga.ok(errors, { dag_id, dag_run_id: 'deploy__1' })
  return { uid, state, log: items[0]?.log }
}

type Parcel = { readonly file: string; readonly bytes: Buffer }

/** Takes what is ready at alpha for bravo, once so many parts are. */
async function pickUp(parts: number): Promise<Parcel[]> {
  const { ready } = foldersOf(alpha.folder.filedrop, 'bravo')
  const parcels = await waitUntil(() => {
    const found = fs
      .readdirSync(ready)
      .sort()
      .map((file) => ({ file, bytes: fs.readFileSync(path.join(ready, file)) }))
    const isWhole = found.filter(({ file }) => file.endsWith('.env.json')).length * 2 === found.length
    return isWhole && readParts(found).length === parts && found
  })
  for (const { file } of parcels) fs.rmSync(path.join(ready, file))
  return parcels
}

function bring(parcels: readonly Parcel[]): void {
  const { fresh } = foldersOf(bravo.folder.filedrop, 'alpha')
  for (const { file, bytes } of parcels) {
    fs.writeFileSync(path.join(fresh, `.${file}`), bytes)
    fs.renameSync(path.join(fresh, `.${file}`), path.join(fresh, file))
  }
}

function readParts(parcels: readonly Parcel[]) {
  const bodies = parcels.filter(({ file }) => file.endsWith('.body.json'))
  const parsed = bodies.map(({ bytes }) => messageBody.parse(JSON.parse(bytes.toString())))
  return parsed.flatMap(({ data, schema }) => (schema === 'ingest.dataset/1' ? [datasetPart.parse(data)] : []))
}

async function openReceiver(dag_id: string, dataset: string, more: object = {}): Promise<string> {
  const ben = await bravo.as()
  const params = { from: { peer: 'alpha', dataset }, max_rejects: 0 }
  const content = JSON.stringify({
    ...{ format: 1, dag_id },
    tasks: [{ name: 'land', operator: 'ingest_landing_zone', params }],
  })
  const { uid } = await ben.ok(deploy, { dag_id, content, ...more })
  expect(await waitUntilDeployed(ben, uid)).toMatchObject({ status: 'active' })
  return uid
}

/** Lets the time of both sites go on until this holds. */
async function waitWhileWatched<T>(holds: () => Promise<T | undefined | false>): Promise<T> {
  return await waitUntil(async () => {
    bravo.clock.advance(1_000)
    bravo.wakeWorker('ingest', 'landing-zones')
    bravo.wakeWorker('ingest', 'jobs')
    return await holds()
  })
}

const findZone = async (uid: string) => (await (await bravo.as()).ok(get, { uid })).landing_zone

async function readReceived(uid: string) {
  const { items } = await (await bravo.as()).ok(runs, { uid })
  const home = path.join(bravo.folder.data, 'ingest', 'datasets', bravo.tenant)
  const folders = fs.readdirSync(home).filter((name) => name.startsWith(`${uid}.${items[0]?.dag_run_id}`))
  return await readLanded(path.join(home, folders[0] ?? '', 'land'))
}

const count = 9_000
const rowsOf = (n: number) =>
  Array.from({ length: n }, (_, at) => [
    `${at}`,
    at % 3 === 0 ? '' : `"né ""${at}"""`,
    `90071992547409${at % 90}`,
    `${at}.5`,
    '2024-02-29',
  ])

test('a dataset goes out in parts, arrives whole, and lands in the pipeline that takes it, with the same rows', async () => {
  writeFile(
    'orders.csv',
    `id,name,big,price,day\n${rowsOf(count)
      .map((row) => row.join(','))
      .join('\n')}\n`,
  )
  const { uid: sender, state, log } = await send('sends_orders', 'orders.csv')
  expect([state, log]).toEqual(['success', undefined])
  const olga = await alpha.as(operator)
  const { tasks } = await olga.ok(runStatus, { dag_id: 'sends_orders', dag_run_id: 'deploy__1' })
  const set_id = tasks[1]?.requested?.uid ?? ''
  expect(tasks[1]?.requested).toMatchObject({ role: 'site', object: 'sent_dataset' })

  const parcels = await pickUp(2)
  const parts = readParts(parcels)
  expect(parts.map(({ number, parts: of, set_id: set }) => [number, of, set])).toEqual([
    [1, 2, set_id],
    [2, 2, set_id],
  ])
  expect(parts[0]?.rows.slice(0, 2)).toEqual([
    ['0', null, '900719925474090', '0.5', '2024-02-29'],
    ['1', 'né "1"', '900719925474091', '1.5', '2024-02-29'],
  ])
  // The second message comes first, and the pipeline is there before the set is whole.
  const uid = await openReceiver('takes_orders', 'orders')
  const isLast = ({ file }: Parcel) => file.slice(0, 25) === parcels.at(-1)?.file.slice(0, 25)
  const [last, first] = [parcels.filter(isLast), parcels.filter((each) => !isLast(each))]
  bring(last)
  const waiting = await waitWhileWatched(async () => {
    const incoming = (await findZone(uid))?.incoming
    return incoming?.[0]?.received === 1 && incoming
  })
  expect(waiting).toMatchObject([{ peer: 'alpha', dataset: 'orders', set_id, parts: 2, received: 1, waits: 'parts' }])
  bring(first)
  await waitWhileWatched(async () => (await findZone(uid))?.landed === 1)
  expect(await findZone(uid)).toMatchObject({
    last: { outcome: 'landed', file: `orders.${set_id}.jsonl` },
  })
  expect((await findZone(uid))?.incoming).toBeUndefined()
  const received = await readReceived(uid)
  expect(received).toHaveLength(count)
  const expected = rowsOf(count).map(([id, name, ...rest]) => [id, name === '' ? undefined : `né "${id}"`, ...rest])
  expect(received).toEqual(expected)

  // A further run is another set of the same rows.
  const { dag_run_id } = await olga.ok(triggerRun, { uid: sender })
  expect(await waitUntilRunOver(olga, 'sends_orders', dag_run_id)).toMatchObject({ state: 'success' })
  expect(readParts(await pickUp(2)).map((part) => part.set_id)).not.toContain(set_id)
})

test('a dataset without rows is one message, and one that no pipeline takes yet waits for it', async () => {
  writeFile('empty.csv', 'id,name\n')
  expect(await send('sends_nothing', 'empty.csv', { dataset: 'nothing' })).toMatchObject({ state: 'success' })
  const parcels = await pickUp(1)
  expect(readParts(parcels)).toMatchObject([{ number: 1, parts: 1, total_rows: 0, rows: [] }])
  bring(parcels)
  const uid = await openReceiver('takes_nothing', 'nothing')
  await waitWhileWatched(async () => (await findZone(uid))?.landed === 1)
  expect(await readReceived(uid)).toEqual([])
})

test('a set above the label of the pipeline waits, and says so', async () => {
  writeFile('few.csv', 'id\n1\n')
  const secret = { ...shared, level: 'RESTRICTED' }
  expect(await send('sends_secret', 'few.csv', { dataset: 'secret' }, operator, secret)).toMatchObject({
    state: 'success',
  })
  const uid = await openReceiver('takes_secret', 'secret')
  bring(await pickUp(1))
  const waiting = await waitWhileWatched(async () => {
    const incoming = (await findZone(uid))?.incoming
    return incoming?.[0]?.received === 1 && incoming
  })
  expect(waiting).toMatchObject([{ waits: 'label', parts: 1 }])
  const low = await bravo.as({ subject: 'low', clearance: { level: 'UNCLASSIFIED' } })
  const shown = (await low.ok(get, { uid })).landing_zone
  expect([shown?.landed, shown?.incoming]).toEqual([0, undefined])
  const above = await openReceiver('takes_restricted', 'secret', { classification: 'RESTRICTED' })
  await waitWhileWatched(async () => (await findZone(above))?.landed === 1)
  expect(await findZone(uid)).toMatchObject({ landed: 0 })
})

test('nothing is sent to an unknown peer, without the permission, or below the label of the run', async () => {
  writeFile('few.csv', 'id\n1\n')
  const cases: readonly (readonly [
    params: object,
    who: object,
    label: typeof shared | { level: string },
    reason: string,
  ])[] = [
    [{ peer: 'nobody' }, operator, shared, 'nobody'],
    [{}, { subject: 'ann', roles: ['analyst'] }, shared, 'needs the permission ingest:send'],
    [{}, operator, { level: 'UNCLASSIFIED' }, 'may not leave for peer bravo'],
    [{}, operator, { ...shared, level: 'TOP_SECRET' }, 'may not leave for peer bravo'],
  ]
  for (const [at, [params, who, label, reason]] of cases.entries()) {
    const { state, log } = await send(`refused_${at}`, 'few.csv', params, who, label)
    expect([state, log]).toEqual(['failed', expect.stringContaining(reason)])
  }
  const { ready } = foldersOf(alpha.folder.filedrop, 'bravo')
  expect(fs.readdirSync(ready)).toEqual([])
})

test('a task that is performed again sends no part twice', async () => {
  writeFile('few.csv', 'id\n1\n')
  const olga = await alpha.as(operator)
  const tasks = [
    { name: 'read', operator: 'ingest_file', params: { file: 'few.csv' } },
    { name: 'again', operator: 'filedrop_send', params: { peer: 'bravo', dataset: 'again' }, after: ['read'] },
    // Keeps the run from ending meanwhile.
    {
      name: 'hold',
      operator: 'test_call',
      params: { target: 'down', rest: { path: 'x' } },
      after: ['again'],
      retries: 1,
    },
  ]
  const content = JSON.stringify({ format: 1, dag_id: 'sends_again', tasks })
  const { uid } = await olga.ok(deploy, {
    ...{ dag_id: 'sends_again', content, classification: shared, run_on_deploy: true },
  })
  await waitUntilDeployed(olga, uid)
  const findState = async () => {
    const { tasks: found } = await olga.ok(runStatus, { dag_id: 'sends_again', dag_run_id: 'deploy__1' })
    return found.map(({ state, try_number }) => [state, try_number])
  }
  await waitUntil(async () => (await findState())[2]?.[0] === 'up_for_retry')
  expect(readParts(await pickUp(1))).toMatchObject([{ name: 'again' }])
  // As a crash leaves a run that has sent the part, and does not know it.
  await alpha.store('ingest').update(dagRuns, runDocumentId(uid, 'deploy__1'), ({ value }) => {
    const found = value.tasks.map((task) => (task.name === 'again' ? { ...task, state: 'running' as const } : task))
    return { next: { ...value, tasks: found, job_due_ts: alpha.clock.now() }, answer: undefined }
  })
  alpha.wakeWorker('ingest', 'jobs')
  await waitUntilRunOver(olga, 'sends_again', 'deploy__1')
  expect(await findState()).toEqual([
    ['success', 1],
    ['success', 1],
    ['failed', 2],
  ])
  await send('sends_other', 'few.csv', { dataset: 'other' })
  expect(readParts(await pickUp(1))).toMatchObject([{ name: 'other' }])
})
