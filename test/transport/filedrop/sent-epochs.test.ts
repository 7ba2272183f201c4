// A sender whose journal was set back gives no number again: it waits for a new epoch, which its root key announces.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readKeyFiles, writeKeyFile } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../adapters/keys/jose/key-life.ts'
import { signWith } from '../../../adapters/keys/jose/signatures.ts'
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { Jws } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { EpochAnnouncement } from '../../../daemon/kernel/messaging/one-way-control.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import {
  buildMessage,
  carryFiles,
  createFiledropSites,
  type FiledropSites,
  formatReadyPath,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from './filedrop-sites.ts'

const channel = 'filedrop/alpha/bravo'
let world: FiledropSites
beforeEach(async () => {
  world = await createFiledropSites()
  await generateKey(formatKeyFolder(), { use: 'root', now: world.clock.ms })
  await startReceiving(world.alpha)
})
afterEach(() => world.dispose())

const formatKeyFolder = () => join(world.dir, 'alpha', 'keys')
const readOneWay = () => world.alpha.transport.oneWay
const readRefusal = (asked: Promise<unknown>) =>
  asked.then(
    () => 'nothing',
    (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
  )
const buildAuditEvents = (said: EpochAnnouncement): AuditEvent[] => [
  {
    ...{ at: said.created, action: 'test.epoch.open', outcome: 'done', tenant_id: 't', subject: 's', target: channel },
    ...{ trace_id: sampleTrace.trace_id, detail: said },
  },
]
const readOutStatus = async () => (await world.alpha.transport.status()).find(({ direction }) => direction === 'out')

async function signAnnouncement(
  changes: Partial<EpochAnnouncement> = {},
  use: 'root' | 'message' = 'root',
): Promise<Jws> {
  const draft = await readOneWay().draftEpoch('bravo')
  const said: EpochAnnouncement = { ...draft, reason: 'restored', ...changes }
  const signing = readKeyFiles(formatKeyFolder()).filter(({ public_key }) => public_key.use === use)
  if (use === 'root') return await signWith(signing, 'epoch', Buffer.from(canonicalJson(said)))
  return await world.alpha.signatures.sign('statement', Buffer.from(canonicalJson(said)))
}

let copyCount = 0
/** The journal as it was when `act` began, the files as they are now. */
async function restoreJournalAround(act: () => Promise<unknown>): Promise<void> {
  const copy = join(world.dir, `journal-${copyCount++}.db`)
  await world.alpha.file.backup(copy)
  await act()
  await world.alpha.transport.stop()
  const { db } = world.alpha.file
  db.exec(`ATTACH '${copy}' AS before`)
  for (const table of ['channel', 'sent', 'bytes', 'kept', 'acknowledged']) {
    db.exec(`DELETE FROM journal_${table}; INSERT INTO journal_${table} SELECT * FROM before.journal_${table}`)
  }
  db.exec('DETACH before')
  await restartSite(world.alpha)
}

/** What bravo's carrier is given, as [epoch, number, kind]. */
function listHanded(): [number, number, string][] {
  const ready = formatReadyPath(world.alpha, 'bravo')
  const envelopes = fs.readdirSync(ready).filter((name) => name.endsWith('.env.json'))
  return envelopes.sort().map((name) => {
    const { payload } = JSON.parse(fs.readFileSync(join(ready, name), 'utf8'))
    const { epoch, seq, kind } = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return [epoch, seq, kind]
  })
}

describe.each(['in ready', 'in sent'])('what left after the backup lies %s', (place) => {
  beforeEach(async () => {
    await sendFromAlpha(world, 2)
    await restoreJournalAround(async () => {
      await sendFromAlpha(world, 2)
      if (place === 'in ready') return
      carryFiles(world.alpha, world.bravo)
      await world.alpha.transport.rescan()
    })
  })

  test('nothing is sent until a new epoch is open, and then it begins with its announcement', async () => {
    const before = listHanded()
    expect(await readRefusal(world.alpha.transport.send(buildMessage(world), sampleTrace))).toContain(
      'open a new epoch',
    )
    expect(await readOutStatus()).toMatchObject({ state: 'frozen', epoch: 1, next_seq: 3 })
    world.clock.ms += 3_600_000
    await world.alpha.transport.rescan()
    expect(listHanded()).toEqual(before)

    const announcement = await signAnnouncement()
    expect(await readOneWay().openEpoch(announcement, buildAuditEvents)).toMatchObject({
      epoch: 2,
      reason: 'restored',
      channel,
    })
    await sendFromAlpha(world, 1)
    expect(listHanded().filter(([epoch]) => epoch === 2)).toEqual([
      [2, 1, 'keys'],
      [2, 2, 'contribution'],
      // Hours have gone by without one.
      ...(listHanded().length > before.length + 2 ? [[2, 3, 'inventory']] : []),
    ])
    const body = fs.readFileSync(
      join(formatReadyPath(world.alpha, 'bravo'), '00000002-0000000000000001.body.json'),
      'utf8',
    )
    expect(JSON.parse(body)).toMatchObject({ schema: 'platform.keys/1', data: { epoch: announcement } })
    expect(await readOutStatus()).toMatchObject({ state: 'open', epoch: 2, detail: '' })
    const [opened] = await world.alpha.audit.list({ action: 'test.epoch.open', limit: 9 })
    expect(opened?.event?.detail).toMatchObject({ epoch: 2, reason: 'restored' })
  })

  test('it stays so over a restart, and is told once', async () => {
    await restartSite(world.alpha)
    await restartSite(world.alpha)
    expect(await readOutStatus()).toMatchObject({ state: 'frozen' })
    const told = await world.alpha.audit.list({ action: 'filedrop.channel.set-back', limit: 9 })
    expect(told.map(({ event }) => event?.detail)).toEqual([
      { journal: { epoch: 1, seq: 2 }, files: { epoch: 1, seq: 4 } },
    ])
  })
})

test('a journal that was set back twice opens an epoch that was never open', async () => {
  await restoreJournalAround(async () => {
    await sendFromAlpha(world, 1)
    await restoreJournalAround(() => sendFromAlpha(world, 1))
    await readOneWay().openEpoch(await signAnnouncement(), buildAuditEvents)
    await sendFromAlpha(world, 1)
  })
  expect(await readOutStatus()).toMatchObject({ state: 'frozen', epoch: 1 })
  expect((await readOneWay().draftEpoch('bravo')).epoch).toBe(3)
  expect(await readRefusal(readOneWay().openEpoch(await signAnnouncement({ epoch: 2 }), buildAuditEvents))).toContain(
    'conflict',
  )
  await readOneWay().openEpoch(await signAnnouncement(), buildAuditEvents)
  expect(await sendFromAlpha(world, 1)).toMatchObject([{ epoch: 3, seq: 2 }])
})

test('what was signed and not yet published before the new epoch still goes out, under its own number', async () => {
  const [sent] = await sendFromAlpha(world, 1)
  // As if the process had ended before it could publish.
  world.alpha.file.db.exec('UPDATE journal_sent SET state = 0')
  const ready = formatReadyPath(world.alpha, 'bravo')
  for (const name of fs.readdirSync(ready)) fs.rmSync(join(ready, name))
  await world.alpha.journal.setState(channel, 'frozen', 'restored')
  await restartSite(world.alpha)
  expect(listHanded()).toEqual([])
  await readOneWay().openEpoch(await signAnnouncement(), buildAuditEvents)
  await world.alpha.transport.rescan()
  expect(listHanded()).toEqual([
    [1, sent?.seq ?? 0, 'contribution'],
    [2, 1, 'keys'],
  ])
})

test('an epoch opens beside messages that are being sent: each is of one epoch, and no number is left out', async () => {
  const announcement = await signAnnouncement({ reason: 'other' })
  const sending = Array.from({ length: 50 }, () => world.alpha.transport.send(buildMessage(world), sampleTrace))
  const opening = readOneWay().openEpoch(announcement, buildAuditEvents)
  const more = Array.from({ length: 50 }, () => world.alpha.transport.send(buildMessage(world), sampleTrace))
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
  test.each<[string, () => Promise<Jws>, string]>([
    ['that a message key signed', () => signAnnouncement({}, 'message'), 'signature_invalid'],
    ['of another channel', () => signAnnouncement({ channel: 'filedrop/alpha/charlie' }), 'invalid'],
    ['of another site', () => signAnnouncement({ src: 'charlie' }), 'invalid'],
    ['of the epoch that is open', () => signAnnouncement({ epoch: 1 }), 'conflict'],
    ['to nobody known', () => signAnnouncement({ dst: 'charlie' }), 'not_found'],
    ['for a reason that the format does not know', () => signAnnouncement({ reason: 'bored' as never }), 'invalid'],
  ])('%s opens nothing', async (_, announcement, code) => {
    expect(await readRefusal(readOneWay().openEpoch(await announcement(), buildAuditEvents))).toContain(code)
    expect(await readOutStatus()).toMatchObject({ epoch: 1, next_seq: 1 })
  })

  test('of a root key whose public half this site does not know opens nothing: it might be anybody’s', async () => {
    const announcement = await signAnnouncement()
    const [key] = readKeyFiles(formatKeyFolder()).filter(({ public_key }) => public_key.use === 'root')
    if (!key) throw new Error('the site has a root key')
    fs.rmSync(join(formatKeyFolder(), `${key.public_key.kid}.json`))
    expect(await readRefusal(readOneWay().openEpoch(announcement, buildAuditEvents))).toContain('keys set draft')
    expect(await readOutStatus()).toMatchObject({ epoch: 1, next_seq: 1 })
    writeKeyFile(formatKeyFolder(), { public_key: key.public_key })
    expect(await readOneWay().openEpoch(announcement, buildAuditEvents)).toMatchObject({ epoch: 2 })
  })

  test('may name a later epoch, where the files were set back as well and only the peer knows', async () => {
    await readOneWay().openEpoch(await signAnnouncement({ epoch: 5 }), buildAuditEvents)
    expect(await sendFromAlpha(world, 1)).toMatchObject([{ epoch: 5, seq: 2 }])
  })

  test('opens its epoch once', async () => {
    const announcement = await signAnnouncement()
    await readOneWay().openEpoch(announcement, buildAuditEvents)
    expect(await readRefusal(readOneWay().openEpoch(announcement, buildAuditEvents))).toContain('conflict')
    expect(await readOutStatus()).toMatchObject({ epoch: 2, next_seq: 2 })
  })
})

test('names in ready that are no message of ours freeze nothing', async () => {
  await sendFromAlpha(world, 1)
  const ready = formatReadyPath(world.alpha, 'bravo')
  for (const seq of ['9'.repeat(15), '8'.repeat(15)]) {
    fs.writeFileSync(join(ready, `00000009-0${seq}.env.json`), 'not ours')
    fs.copyFileSync(join(ready, '00000001-0000000000000001.env.json'), join(ready, `00000008-0${seq}.env.json`))
  }
  fs.symlinkSync('/etc/passwd', join(ready, '00000007-0000000000000001.env.json'))
  await restartSite(world.alpha)
  expect(await sendFromAlpha(world, 1)).toMatchObject([{ epoch: 1, seq: 2 }])
})
