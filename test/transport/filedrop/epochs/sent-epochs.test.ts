// A sender whose journal was set back gives no number again: it waits for a new epoch, which its root key announces.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { readKeyFiles, writeKeyFile } from '../../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../../adapters/keys/jose/key-lifecycle.ts'
import { signWithKeys } from '../../../../adapters/keys/jose/signatures.ts'
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import type { Jws } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { EpochAnnouncement } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import { channel, readOutStatus, readRefusal } from '../../../support/filedrop/filedrop-readers.ts'
import {
  buildMessage,
  carryFiles,
  type FiledropSites,
  formatReadyPath,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest as test } from '../../../support/filedrop/filedrop-test.ts'
import { sampleTrace } from '../../../support/trace/sample-trace.ts'

test.beforeEach(async ({ sites }) => {
  await generateKey(formatKeyFolder(sites), { use: 'root', now: sites.clock.ms })
  await startReceiving(sites.alpha)
})

const formatKeyFolder = (sites: FiledropSites) => join(sites.dir, 'alpha', 'keys')
const readOneWay = (sites: FiledropSites) => sites.alpha.transport.oneWay
const buildAuditEvents = (content: EpochAnnouncement): AuditEvent[] => [
  {
    ...{
      at: content.created,
      action: 'test.epoch.open',
      outcome: 'done',
      tenant_id: 't',
      subject: 's',
      target: channel,
    },
    ...{ trace_id: sampleTrace.trace_id, detail: content },
  },
]

async function signAnnouncement(
  sites: FiledropSites,
  changes: Partial<EpochAnnouncement> = {},
  use: 'root' | 'message' = 'root',
): Promise<Jws> {
  const draft = await readOneWay(sites).draftEpoch('bravo')
  const content: EpochAnnouncement = { ...draft, reason: 'restored', ...changes }
  const signing = readKeyFiles(formatKeyFolder(sites)).filter(({ public_key }) => public_key.use === use)
  if (use === 'root') return await signWithKeys(signing, 'epoch', Buffer.from(canonicalJson(content)))
  return await sites.alpha.signatures.sign('statement', Buffer.from(canonicalJson(content)))
}

let copyCount = 0
/** The journal as it was when `act` began, the files as they are now. */
async function restoreJournalAround(sites: FiledropSites, act: () => Promise<unknown>): Promise<void> {
  const copy = join(sites.dir, `journal-${copyCount++}.db`)
  await sites.alpha.file.backup(copy)
  await act()
  await sites.alpha.transport.stop()
  const { db } = sites.alpha.file
  db.exec(`ATTACH '${copy}' AS before`)
  for (const table of ['channel', 'sent', 'bytes', 'kept', 'acknowledged']) {
    db.exec(`DELETE FROM journal_${table}; INSERT INTO journal_${table} SELECT * FROM before.journal_${table}`)
  }
  db.exec('DETACH before')
  await restartSite(sites.alpha)
}

/** The messages for bravo's carrier, as [epoch, number, kind]. */
function listHanded(sites: FiledropSites): [number, number, string][] {
  const ready = formatReadyPath(sites.alpha, 'bravo')
  const envelopes = fs.readdirSync(ready).filter((name) => name.endsWith('.env.json'))
  return envelopes.sort().map((name) => {
    const { payload } = JSON.parse(fs.readFileSync(join(ready, name), 'utf8'))
    const { epoch, seq, kind } = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return [epoch, seq, kind]
  })
}

describe.each(['in ready', 'in sent'])('messages sent after the backup lie %s', (place) => {
  test.beforeEach(async ({ sites }) => {
    await sendFromAlpha(sites, 2)
    await restoreJournalAround(sites, async () => {
      await sendFromAlpha(sites, 2)
      if (place === 'in ready') return
      carryFiles(sites.alpha, sites.bravo)
      await sites.alpha.transport.rescan()
    })
  })

  test('nothing is sent until a new epoch is open, and then it begins with its announcement', async ({ sites }) => {
    const before = listHanded(sites)
    expect(await readRefusal(sites.alpha.transport.send(buildMessage(sites), sampleTrace))).toMatchObject({
      message: expect.stringContaining('open a new epoch'),
    })
    expect(await readOutStatus(sites)).toMatchObject({ state: 'frozen', epoch: 1, next_seq: 3 })
    sites.clock.ms += 3_600_000
    await sites.alpha.transport.rescan()
    expect(listHanded(sites)).toEqual(before)

    const announcement = await signAnnouncement(sites)
    expect(await readOneWay(sites).openEpoch(announcement, buildAuditEvents)).toMatchObject({
      epoch: 2,
      reason: 'restored',
      channel,
    })
    await sendFromAlpha(sites, 1)
    expect(listHanded(sites).filter(([epoch]) => epoch === 2)).toEqual([
      [2, 1, 'keys'],
      [2, 2, 'contribution'],
      // Hours have gone by without one.
      ...(listHanded(sites).length > before.length + 2 ? [[2, 3, 'inventory']] : []),
    ])
    const body = fs.readFileSync(
      join(formatReadyPath(sites.alpha, 'bravo'), '00000002-0000000000000001.body.json'),
      'utf8',
    )
    expect(JSON.parse(body)).toMatchObject({ schema: 'platform.keys/1', data: { epoch: announcement } })
    expect(await readOutStatus(sites)).toMatchObject({ state: 'open', epoch: 2, detail: '' })
    const [opened] = await sites.alpha.audit.list({ action: 'test.epoch.open', limit: 9 })
    expect(opened?.event?.detail).toMatchObject({ epoch: 2, reason: 'restored' })
  })

  test('it stays so over a restart, and is reported once', async ({ sites }) => {
    await restartSite(sites.alpha)
    await restartSite(sites.alpha)
    expect(await readOutStatus(sites)).toMatchObject({ state: 'frozen' })
    const records = await sites.alpha.audit.list({ action: 'filedrop.channel.set-back', limit: 9 })
    expect(records.map(({ event }) => event?.detail)).toEqual([
      { journal: { epoch: 1, seq: 2 }, files: { epoch: 1, seq: 4 } },
    ])
  })
})

test('a journal that was set back twice opens an epoch that was never open', async ({ sites }) => {
  await restoreJournalAround(sites, async () => {
    await sendFromAlpha(sites, 1)
    await restoreJournalAround(sites, () => sendFromAlpha(sites, 1))
    await readOneWay(sites).openEpoch(await signAnnouncement(sites), buildAuditEvents)
    await sendFromAlpha(sites, 1)
  })
  expect(await readOutStatus(sites)).toMatchObject({ state: 'frozen', epoch: 1 })
  expect((await readOneWay(sites).draftEpoch('bravo')).epoch).toBe(3)
  expect(
    await readRefusal(readOneWay(sites).openEpoch(await signAnnouncement(sites, { epoch: 2 }), buildAuditEvents)),
  ).toMatchObject({ code: 'conflict' })
  await readOneWay(sites).openEpoch(await signAnnouncement(sites), buildAuditEvents)
  expect(await sendFromAlpha(sites, 1)).toMatchObject([{ epoch: 3, seq: 2 }])
})

test('a message signed and unpublished before the new epoch still goes out, under its own number', async ({
  sites,
}) => {
  const [sent] = await sendFromAlpha(sites, 1)
  // As if the process had ended before it could publish.
  sites.alpha.file.db.exec('UPDATE journal_sent SET state = 0')
  const ready = formatReadyPath(sites.alpha, 'bravo')
  for (const name of fs.readdirSync(ready)) fs.rmSync(join(ready, name))
  await sites.alpha.journal.setState(channel, 'frozen', 'restored')
  await restartSite(sites.alpha)
  expect(listHanded(sites)).toEqual([])
  await readOneWay(sites).openEpoch(await signAnnouncement(sites), buildAuditEvents)
  await sites.alpha.transport.rescan()
  expect(listHanded(sites)).toEqual([
    [1, sent?.seq ?? 0, 'contribution'],
    [2, 1, 'keys'],
  ])
})

test('an epoch opens beside messages that are being sent: each is of one epoch, and no number is left out', async ({
  sites,
}) => {
  const announcement = await signAnnouncement(sites, { reason: 'other' })
  const sending = Array.from({ length: 50 }, () => sites.alpha.transport.send(buildMessage(sites), sampleTrace))
  const opening = readOneWay(sites).openEpoch(announcement, buildAuditEvents)
  const more = Array.from({ length: 50 }, () => sites.alpha.transport.send(buildMessage(sites), sampleTrace))
  const sent = await Promise.all([...sending, ...more])
  await opening
  const numbers = (epoch: number) =>
    sent
      .filter((each) => each.epoch === epoch)
      .map(({ seq }) => seq)
      .sort((a, b) => a - b)
  const first = numbers(1)
  expect(first).toEqual(first.map((_, index) => index + 1))
  expect(numbers(2)).toEqual(numbers(2).map((_, index) => index + 2))
  expect(first.length + numbers(2).length).toBe(100)
})

describe('an announcement', () => {
  test.for<[string, (sites: FiledropSites) => Promise<Jws>, string]>([
    ['that a message key signed', (sites) => signAnnouncement(sites, {}, 'message'), 'signature_invalid'],
    ['of another channel', (sites) => signAnnouncement(sites, { channel: 'filedrop/alpha/charlie' }), 'invalid'],
    ['of another site', (sites) => signAnnouncement(sites, { src: 'charlie' }), 'invalid'],
    ['of the epoch that is open', (sites) => signAnnouncement(sites, { epoch: 1 }), 'conflict'],
    ['to nobody known', (sites) => signAnnouncement(sites, { dst: 'charlie' }), 'not_found'],
    [
      'for a reason that the format does not know',
      (sites) => signAnnouncement(sites, { reason: 'bored' as never }),
      'invalid',
    ],
  ])('%s opens nothing', async ([_, announcement, code], { sites }) => {
    expect(await readRefusal(readOneWay(sites).openEpoch(await announcement(sites), buildAuditEvents))).toMatchObject({
      code,
    })
    expect(await readOutStatus(sites)).toMatchObject({ epoch: 1, next_seq: 1 })
  })

  test('of a root key whose public half this site does not know opens nothing: it might be anybody’s', async ({
    sites,
  }) => {
    const announcement = await signAnnouncement(sites)
    const [key] = readKeyFiles(formatKeyFolder(sites)).filter(({ public_key }) => public_key.use === 'root')
    if (!key) throw new Error('the site has a root key')
    fs.rmSync(join(formatKeyFolder(sites), `${key.public_key.kid}.json`))
    expect(await readRefusal(readOneWay(sites).openEpoch(announcement, buildAuditEvents))).toMatchObject({
      message: expect.stringContaining('keys set draft'),
    })
    expect(await readOutStatus(sites)).toMatchObject({ epoch: 1, next_seq: 1 })
    writeKeyFile(formatKeyFolder(sites), { public_key: key.public_key })
    expect(await readOneWay(sites).openEpoch(announcement, buildAuditEvents)).toMatchObject({ epoch: 2 })
  })

  test('may name a later epoch, where the files were set back as well and only the peer knows', async ({ sites }) => {
    await readOneWay(sites).openEpoch(await signAnnouncement(sites, { epoch: 5 }), buildAuditEvents)
    expect(await sendFromAlpha(sites, 1)).toMatchObject([{ epoch: 5, seq: 2 }])
  })

  test('opens its epoch once', async ({ sites }) => {
    const announcement = await signAnnouncement(sites)
    await readOneWay(sites).openEpoch(announcement, buildAuditEvents)
    expect(await readRefusal(readOneWay(sites).openEpoch(announcement, buildAuditEvents))).toMatchObject({
      code: 'conflict',
    })
    expect(await readOutStatus(sites)).toMatchObject({ epoch: 2, next_seq: 2 })
  })
})

test('names in ready of no message of ours freeze nothing', async ({ sites }) => {
  await sendFromAlpha(sites, 1)
  const ready = formatReadyPath(sites.alpha, 'bravo')
  for (const seq of ['9'.repeat(15), '8'.repeat(15)]) {
    fs.writeFileSync(join(ready, `00000009-0${seq}.env.json`), 'not ours')
    fs.copyFileSync(join(ready, '00000001-0000000000000001.env.json'), join(ready, `00000008-0${seq}.env.json`))
  }
  fs.symlinkSync('/etc/passwd', join(ready, '00000007-0000000000000001.env.json'))
  await restartSite(sites.alpha)
  expect(await sendFromAlpha(sites, 1)).toMatchObject([{ epoch: 1, seq: 2 }])
})
