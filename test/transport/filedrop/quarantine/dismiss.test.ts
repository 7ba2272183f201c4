// A dismissal closes an item of the quarantine, whatever it is; counts and lists show what lies there, pinned peer or not.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { measureQuarantine } from '../../../../adapters/transport/filedrop/quarantine/quarantine-files.ts'
import {
  listQuarantine,
  listQuarantinePeers,
} from '../../../../adapters/transport/filedrop/quarantine/quarantine-list.ts'
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { readFolders, readInStatus } from '../../../support/filedrop/filedrop-readers.ts'
import { buildLabel, type FiledropSites, start_ms } from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, type ForgeryOptions, forgeMessage } from '../../../support/filedrop/forge-message.ts'
import { approvalEvent, listQuarantineItems } from '../../../support/filedrop/release-quarantined.ts'

const test = filedropTest.extend({ options: { receiving: ['bravo'] } })
const event: AuditEvent = { ...approvalEvent, action: 'site.quarantine.dismiss' }

const quarantine = (sites: FiledropSites) => readFolders(sites).quarantine
const listItems = ({ bravo }: FiledropSites) => listQuarantine(bravo.root, 'alpha', 99)
const dismiss = async ({ bravo }: FiledropSites, id: string) =>
  (await bravo.transport.custody.dismiss('alpha', id, [event]))?.code
const expired: ForgeryOptions = { statement: { created: new Date(start_ms - 30 * 86_400_000).toISOString() } }

async function dropForged(sites: FiledropSites, forgery: ForgeryOptions = expired) {
  const forged = await forgeMessage(sites, forgery)
  dropMessage(sites, forged)
  await sites.bravo.transport.rescan()
  return forged
}

async function dismissAll(sites: FiledropSites): Promise<void> {
  for (const { id } of listItems(sites)) expect(await dismiss(sites, id.slice('alpha/'.length))).toBeUndefined()
}

async function expectEmpty(sites: FiledropSites): Promise<void> {
  expect([listItems(sites), fs.readdirSync(quarantine(sites))]).toEqual([[], []])
  expect(await readInStatus(sites)).toMatchObject({ quarantined: 0, quarantined_bytes: 0 })
}

test('messages, stray files, links and folders are all gone, audited, and no longer counted', async ({ sites }) => {
  await dropForged(sites)
  await dropForged(sites, { seq: 2, envelope: (text) => text.replace('"signature":"', '"signature":"A') })
  const { fresh } = readFolders(sites)
  fs.writeFileSync(join(fresh, 'notes.txt'), 'x')
  fs.symlinkSync(quarantine(sites), join(fresh, 'link'))
  fs.mkdirSync(join(fresh, 'folder/below'), { recursive: true })
  await sites.bravo.transport.rescan()
  const items = listItems(sites)
  expect(items).toHaveLength(5)
  expect(await readInStatus(sites)).toMatchObject({ quarantined: 5 })
  await dismissAll(sites)
  await expectEmpty(sites)
  expect(await sites.bravo.audit.list({ action: event.action, limit: 9 })).toHaveLength(5)
})

test('an item is dismissed once; the same bytes that arrive again are a new item with its own record', async ({
  sites,
}) => {
  const forged = await dropForged(sites)
  const [{ id = '' } = {}] = listQuarantineItems(sites)
  expect([await dismiss(sites, id), await dismiss(sites, id)]).toEqual([undefined, 'not_found'])
  dropMessage(sites, forged)
  await sites.bravo.transport.rescan()
  const [again] = listQuarantineItems(sites)
  expect(again?.id).not.toBe(id)
  expect(await sites.bravo.audit.list({ action: 'filedrop.message.quarantined', limit: 9 })).toHaveLength(2)
})

test('names of other places are not items', async ({ sites }) => {
  await dropForged(sites)
  for (const id of ['../done', '.', '', '..', 'x/y']) expect(await dismiss(sites, id)).toBe('not_found')
  expect((await sites.bravo.transport.custody.dismiss('../alpha', 'x', [event]))?.code).toBe('not_found')
  expect(listItems(sites)).toHaveLength(1)
})

test('an item that two people have released is not dismissed under them', async ({ sites }) => {
  await dropForged(sites)
  const [item] = listQuarantineItems(sites)
  if (!item) throw new Error('nothing is in quarantine')
  // The approval is entered; the scan that acts on it does not come.
  await sites.bravo.transport.stop()
  const terms = { ...item, waiver: 'EXPIRED', label: undefined } as const
  expect(await sites.bravo.transport.custody.release('alpha', terms, [approvalEvent])).toBeUndefined()
  expect(await dismiss(sites, item.id)).toBe('conflict')
})

test('of a peer that is no longer pinned, items are listed and dismissed', async ({ sites }) => {
  await dropForged(sites)
  sites.bravo.pinned.delete('alpha')
  expect(listQuarantinePeers(sites.bravo.root)).toEqual(['alpha'])
  expect(listItems(sites)).toHaveLength(1)
  await dismissAll(sites)
  await expectEmpty(sites)
})

test('files without a reason that can be read are counted, listed and dismissed as well', async ({ sites }) => {
  await dropForged(sites)
  const [{ id = '' } = {}] = listQuarantineItems(sites)
  fs.writeFileSync(join(quarantine(sites), `${id}.reason.json`), '{')
  fs.writeFileSync(join(quarantine(sites), 'left-over.env.json'), 'x')
  expect(listItems(sites).map(({ reason }) => reason)).toEqual(['UNEXPLAINED', 'UNEXPLAINED'])
  expect(measureQuarantine(quarantine(sites)).items).toBe(2)
  await dismissAll(sites)
  await expectEmpty(sites)
})

test('a purge leaves no item that anybody has to close', async ({ sites }) => {
  const body = JSON.stringify({
    label: buildLabel(sites.bravo.tenant_id),
    schema: 'test.v1',
    data: { text: 'spilled' },
  })
  await dropForged(sites, { ...expired, body })
  await dropForged(sites, { seq: 5, body, statement: { kind: 'result' } })
  fs.writeFileSync(join(readFolders(sites).fresh, 'notes.txt'), body)
  await sites.bravo.transport.rescan()
  fs.writeFileSync(join(readFolders(sites).fresh, '00000001-0000000000000009.body.json'), body)
  expect(listItems(sites).length).toBeGreaterThan(0)
  for (;;) {
    if ((await sites.bravo.transport.custody.purge(sha384(body), 'spillage', [approvalEvent])) !== 'running') break
  }
  sites.clock.ms += 9 * 86_400_000
  for (let scan = 0; scan < 3; scan++) await sites.bravo.transport.rescan()
  await expectEmpty(sites)
})
