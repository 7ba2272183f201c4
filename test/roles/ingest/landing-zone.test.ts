// Files that are carried into the landing zone of a pipeline: each whole one is run once, and ends with a receipt.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { get as getRun } from '../../../daemon/roles/ingest/dag-run/get.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../../daemon/roles/ingest/datapipeline/get.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { runs } from '../../../daemon/roles/ingest/datapipeline/runs.ts'
import { update } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import { create as createEffect } from '../../../daemon/roles/ingest/effect/create.ts'
import { get as getEffect } from '../../../daemon/roles/ingest/effect/get.ts'
import { carriedReceipt } from '../../../daemon/roles/ingest/landing-zone/zone-files.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { readLanded, setUpIngestSite, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

const site = setUpIngestSite({ landing_settle_s: 0, landing_max_file_mb: 1 })
const sha256 = (content: string) => createHash('sha256').update(content).digest('hex')

function zoneContent(dag_id: string, params: object = {}): string {
  const task = { name: 'land', operator: 'ingest_landing_zone', params }
  return JSON.stringify({ format: 1, dag_id, tasks: [task] })
}

type Zone = {
  readonly uid: string
  readonly folder: (name: string) => string
  bring(name: string, content: string): void
}

async function openZone(person: CheckedClient, dag_id: string, params: object = {}): Promise<Zone> {
  const { uid } = await person.ok(deploy, { dag_id, content: zoneContent(dag_id, params) })
  await waitUntilDeployed(person, uid)
  return zoneOf(uid)
}

function zoneOf(uid: string): Zone {
  const home = path.join(site().folder.data, 'ingest/landing', site().tenant, uid)
  const folder = (name: string) => path.join(home, name)
  return {
    uid,
    folder,
    bring(name, content) {
      fs.writeFileSync(path.join(folder('new'), `.${name}`), content)
      fs.renameSync(path.join(folder('new'), `.${name}`), path.join(folder('new'), name))
    },
  }
}

/** Lets the time of the service go on until this holds. */
async function waitWhileWatched<T>(holds: () => Promise<T | undefined | false>): Promise<T> {
  return await waitUntil(async () => {
    site().clock.advance(1_000)
    site().wakeWorker('ingest', 'landing-zones')
    site().wakeWorker('ingest', 'jobs')
    return await holds()
  })
}

const findZone = async (person: CheckedClient, uid: string) => (await person.ok(get, { uid })).landing_zone

/** Waits until so many files have ended, and returns the receipts. */
async function waitForReceipts(person: CheckedClient, { uid, folder }: Zone, count: number) {
  await waitWhileWatched(async () => {
    const zone = await findZone(person, uid)
    const ended = (zone?.landed ?? 0) + (zone?.quarantined ?? 0) + (zone?.duplicates ?? 0)
    return ended === count && zone?.in_progress === undefined
  })
  return fs.readdirSync(folder('receipts')).map((name) => {
    return { name, ...carriedReceipt.parse(JSON.parse(fs.readFileSync(path.join(folder('receipts'), name), 'utf8'))) }
  })
}

test('a file is landed by a run of its own, is kept, and its receipt says so', async () => {
  const ann = await site().as()
  const zone = await openZone(ann, 'carried')
  expect(await findZone(ann, zone.uid)).toMatchObject({ folder: `${site().tenant}/${zone.uid}/new`, landed: 0 })
  const content = 'name,size\nfoo,1\nbar,2\n'
  zone.bring('monday.csv', content)
  const [receipt, ...others] = await waitForReceipts(ann, zone, 1)
  expect(others).toEqual([])
  expect(receipt).toMatchObject({
    ...{ name: `monday.csv.${sha256(content).slice(0, 16)}.json`, file: 'monday.csv', outcome: 'landed' },
    ...{ bytes: content.length, sha256: sha256(content), dag_id: 'carried', rows: 2, rejects: 0 },
  })
  const { items } = await ann.ok(runs, { uid: zone.uid })
  expect(items.map(({ dag_run_id, state }) => ({ dag_run_id, state }))).toEqual([
    { dag_run_id: receipt?.dag_run_id, state: 'success' },
  ])
  const datasets = path.join(site().folder.data, 'ingest/datasets', site().tenant)
  const [made = ''] = fs.readdirSync(datasets).filter((name) => name.startsWith(`${zone.uid}.arrival__`))
  expect(await readLanded(path.join(datasets, made, 'land'))).toEqual([
    ['foo', '1'],
    ['bar', '2'],
  ])
  expect(fs.readdirSync(zone.folder('new'))).toEqual([])
  expect(fs.readdirSync(zone.folder('work'))).toEqual([])
  expect(fs.readdirSync(zone.folder('done'))).toEqual([expect.stringMatching(/^\d{8,}-monday\.csv$/)])
})

test('the same content under the same name is landed once; other content under it is landed too', async () => {
  const ann = await site().as()
  const zone = await openZone(ann, 'again')
  zone.bring('a.csv', 'x\n1\n')
  await waitForReceipts(ann, zone, 1)
  zone.bring('a.csv', 'x\n1\n')
  expect(await waitForReceipts(ann, zone, 2)).toHaveLength(1)
  expect(await findZone(ann, zone.uid)).toMatchObject({ landed: 1, duplicates: 1, last: { outcome: 'duplicate' } })
  zone.bring('a.csv', 'x\n2\n')
  expect(await waitForReceipts(ann, zone, 3)).toHaveLength(2)
  expect((await ann.ok(runs, { uid: zone.uid })).items).toHaveLength(2)
  expect(fs.readdirSync(zone.folder('work'))).toEqual([])
})

test('a link, a folder, an odd name and a file that is too large go to quarantine unread', async () => {
  const ann = await site().as()
  const zone = await openZone(ann, 'hostile')
  const secret = path.join(site().folder.data, 'secret')
  fs.writeFileSync(secret, 'a\nsecret\n')
  fs.symlinkSync(secret, path.join(zone.folder('new'), 'link.csv'))
  fs.mkdirSync(path.join(zone.folder('new'), 'folder.csv'))
  zone.bring('big.csv', `a\n${'x'.repeat(1_048_576)}\n`)
  zone.bring('a\u202Egnp.csv', 'a\n1\n')
  zone.bring('$(id).csv', 'a\n1\n')
  const receipts = await waitForReceipts(ann, zone, 5)
  expect(receipts.map(({ file, fault }) => [file, fault?.code]).toSorted()).toEqual([
    ['$(id).csv', 'BAD_NAME'],
    ['a\u202Egnp.csv', 'BAD_NAME'],
    ['big.csv', 'TOO_LARGE'],
    ['folder.csv', 'NOT_REGULAR'],
    ['link.csv', 'NOT_REGULAR'],
  ])
  for (const { sha256: digest, dag_run_id } of receipts) expect([digest, dag_run_id]).toEqual([undefined, undefined])
  expect(
    fs
      .readdirSync(zone.folder('quarantine'))
      .map((name) => name.replace(/^\d+-/, ''))
      .toSorted(),
  ).toEqual(['big.csv', 'folder.csv', 'link.csv', 'unnamed', 'unnamed'])
  expect((await ann.ok(runs, { uid: zone.uid })).items).toEqual([])
  expect(fs.readFileSync(secret, 'utf8')).toBe('a\nsecret\n')
})

test('files that are still written wait, and a file with a second name is not changed by it once it was taken', async () => {
  const ann = await site().as()
  const zone = await openZone(ann, 'whole')
  for (const name of ['.hidden.csv', 'a.csv.part', 'b.csv.tmp', 'c.csv~', 'd.csv.filepart'])
    fs.writeFileSync(path.join(zone.folder('new'), name), 'a\n1\n')
  const other = path.join(site().folder.data, 'other')
  fs.writeFileSync(other, 'a\n1\n')
  fs.linkSync(other, path.join(zone.folder('new'), 'linked.csv'))
  const [receipt] = await waitForReceipts(ann, zone, 1)
  fs.writeFileSync(other, 'a\n2\n')
  expect(receipt).toMatchObject({ file: 'linked.csv', outcome: 'landed', sha256: sha256('a\n1\n') })
  const [kept = ''] = fs.readdirSync(zone.folder('done'))
  expect(fs.readFileSync(path.join(zone.folder('done'), kept), 'utf8')).toBe('a\n1\n')
  expect(fs.readdirSync(zone.folder('new'))).toHaveLength(5)
})

test('a file whose run fails goes to quarantine with the task that failed, and again into new after the fault is removed', async () => {
  const ann = await site().as()
  const zone = await openZone(ann, 'faulty')
  zone.bring('bad.csv', 'a,b\n1,2\n3\n')
  const [receipt] = await waitForReceipts(ann, zone, 1)
  expect(receipt).toMatchObject({
    outcome: 'quarantined',
    fault: { code: 'RUN_FAILED' },
    sha256: sha256('a,b\n1,2\n3\n'),
  })
  expect(receipt?.fault?.reason).toContain('the task land of the run arrival__')
  const [kept = ''] = fs.readdirSync(zone.folder('quarantine'))
  await ann.ok(update, { uid: zone.uid, content: zoneContent('faulty', { max_rejects: 1 }) })
  await waitUntilDeployed(ann, zone.uid)
  fs.renameSync(path.join(zone.folder('quarantine'), kept), path.join(zone.folder('new'), 'bad.csv'))
  const receipts = await waitForReceipts(ann, zone, 2)
  expect(receipts.find(({ outcome }) => outcome === 'landed')).toMatchObject({ file: 'bad.csv', rows: 1, rejects: 1 })
})

test('a run without a file, and an effect with a landing zone, are refused with the reason', async () => {
  const ann = await site().as()
  const zone = await openZone(ann, 'manual')
  const { dag_run_id } = await ann.ok(run, { uid: zone.uid })
  expect(await waitUntilRunOver(ann, 'manual', dag_run_id)).toMatchObject({ state: 'failed' })
  const { uid } = await ann.ok(createEffect, {
    name: 'zone',
    operators: [{ name: 'ingest_landing_zone' }],
  })
  const effect = await waitUntil(async () => {
    const shown = await ann.ok(getEffect, { uid })
    return shown.status !== 'pending_validation' && shown
  })
  expect(effect).toMatchObject({ status: 'rejected', fault: { reason: expect.stringContaining('no landing zone') } })
})

test('a deployment without the task closes the zone, and leaves what waits there to no later pipeline', async () => {
  const ann = await site().as()
  const zone = await openZone(ann, 'closing')
  site().writeFile('plain.csv', 'a\n1\n')
  const content = JSON.stringify({
    ...{ format: 1, dag_id: 'closing' },
    tasks: [{ name: 'land', operator: 'ingest_file', params: { file: 'plain.csv' } }],
  })
  // Still written, so that no run takes it meanwhile.
  fs.writeFileSync(path.join(zone.folder('new'), 'late.csv.part'), 'a\n1\n')
  await ann.ok(update, { uid: zone.uid, content })
  await waitUntilDeployed(ann, zone.uid)
  expect(await findZone(ann, zone.uid)).toBeUndefined()
  await ann.ok(remove, { uid: zone.uid })
  expect(fs.readdirSync(zone.folder('new'))).toEqual([])
  expect(fs.readdirSync(zone.folder('quarantine'))).toEqual([expect.stringMatching(/^[0-9a-f]{8}-late\.csv\.part$/)])
})

test('a zone whose owner was revoked takes nothing, says why, and goes on for the person who deploys next', async () => {
  const ann = await site().as()
  const admin = await site().as({ subject: 'admin', roles: ['admin'] })
  const bob = await site().as({ subject: 'bob' })
  const zone = await openZone(bob, 'revoked')
  await admin.ok(revoke, { subject: 'bob', reason: 'has left' })
  zone.bring('late.csv', 'a\n1\n')
  await waitWhileWatched(async () => (await findZone(ann, zone.uid))?.fault)
  expect((await findZone(ann, zone.uid))?.fault).toMatchObject({ code: 'forbidden' })
  expect(fs.readdirSync(zone.folder('new'))).toEqual(['late.csv'])
  await ann.ok(update, { uid: zone.uid, content: zoneContent('revoked') })
  await waitUntilDeployed(ann, zone.uid)
  const [receipt] = await waitForReceipts(ann, zone, 1)
  expect(receipt).toMatchObject({ outcome: 'landed' })
  expect(await ann.ok(getRun, { dag_id: 'revoked', dag_run_id: receipt?.dag_run_id ?? '' })).toMatchObject({
    state: 'success',
  })
})

test('files that have landed, and receipts, are kept for the days of the profile; quarantine stays', async () => {
  const ann = await site().as()
  const zone = await openZone(ann, 'kept')
  zone.bring('good.csv', 'a\n1\n')
  zone.bring('$bad.csv', 'a\n1\n')
  await waitForReceipts(ann, zone, 2)
  const age = (days: number) => {
    const at = new Date(Date.now() - days * 86_400_000)
    for (const name of ['done', 'receipts', 'quarantine'])
      for (const file of fs.readdirSync(zone.folder(name))) fs.utimesSync(path.join(zone.folder(name), file), at, at)
  }
  const count = (name: string) => fs.readdirSync(zone.folder(name)).length
  const other = await openZone(ann, 'fresh')
  other.bring('good.csv', 'a\n1\n')
  await waitForReceipts(ann, other, 1)
  age(31)
  site().wakeWorker('ingest', 'landing-zone-purge')
  await waitUntil(() => count('done') === 0 && count('receipts') === 0)
  expect([count('quarantine'), fs.readdirSync(other.folder('done')).length]).toEqual([1, 1])
})
