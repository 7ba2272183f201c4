// A sender whose journal was set back gives no number again: it waits for a new epoch, which its root key announces.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readKeyFiles, writeKeyFile } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../adapters/keys/jose/key-life.ts'
import { signWith } from '../../../adapters/keys/jose/signatures.ts'
import type { AuditEvent } from '../../../daemon/kernel/audit.ts'
import { canonical } from '../../../daemon/kernel/canonical.ts'
import type { Jws } from '../../../daemon/kernel/keys.ts'
import type { EpochAnnouncement } from '../../../daemon/kernel/one-way.ts'
import { aTrace } from '../../support/a-trace.ts'
import { carry, message, readyOf, restart, sendFromAlpha, startReceiving, twoSites, type World } from './two-sites.ts'

const channel = 'filedrop/alpha/bravo'
let world: World
beforeEach(async () => {
  world = await twoSites()
  await generateKey(keys(), { use: 'root', now: world.clock.ms })
  await startReceiving(world.alpha)
})
afterEach(() => world.dispose())

const keys = () => join(world.dir, 'alpha', 'keys')
const oneWay = () => world.alpha.transport.oneWay
const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => 'nothing',
    (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
  )
const audited = (said: EpochAnnouncement): AuditEvent[] => [
  {
    ...{ at: said.created, action: 'test.epoch.open', outcome: 'done', tenant_id: 't', subject: 's', target: channel },
    ...{ trace_id: aTrace.trace_id, detail: said },
  },
]
const outStatus = async () => (await world.alpha.transport.status()).find(({ direction }) => direction === 'out')

async function announce(changes: Partial<EpochAnnouncement> = {}, use: 'root' | 'message' = 'root'): Promise<Jws> {
  const draft = await oneWay().draftEpoch('bravo')
  const said: EpochAnnouncement = { ...draft, reason: 'restored', ...changes }
  const signing = readKeyFiles(keys()).filter(({ public_key }) => public_key.use === use)
  if (use === 'root') return await signWith(signing, 'epoch', Buffer.from(canonical(said)))
  return await world.alpha.signatures.sign('statement', Buffer.from(canonical(said)))
}

let copies = 0
/** The journal as it was when `act` began, the files as they are now. */
async function setBack(act: () => Promise<unknown>): Promise<void> {
  const copy = join(world.dir, `journal-${copies++}.db`)
  await world.alpha.file.backup(copy)
  await act()
  await world.alpha.transport.stop()
  const { db } = world.alpha.file
  db.exec(`ATTACH '${copy}' AS before`)
  for (const table of ['channel', 'sent', 'bytes', 'kept', 'acknowledged']) {
    db.exec(`DELETE FROM journal_${table}; INSERT INTO journal_${table} SELECT * FROM before.journal_${table}`)
  }
  db.exec('DETACH before')
  await restart(world.alpha)
}

/** What bravo's carrier is given, as [epoch, number, kind]. */
function lying(): [number, number, string][] {
  const ready = readyOf(world.alpha, 'bravo')
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
    await setBack(async () => {
      await sendFromAlpha(world, 2)
      if (place === 'in ready') return
      carry(world.alpha, world.bravo)
      await world.alpha.transport.rescan()
    })
  })

  test('nothing is sent until a new epoch is open, and then it begins with its announcement', async () => {
    const before = lying()
    expect(await refusal(world.alpha.transport.send(message(world), aTrace))).toContain('open a new epoch')
    expect(await outStatus()).toMatchObject({ state: 'frozen', epoch: 1, next_seq: 3 })
    world.clock.ms += 3_600_000
    await world.alpha.transport.rescan()
    expect(lying()).toEqual(before)

    const announcement = await announce()
    expect(await oneWay().openEpoch(announcement, audited)).toMatchObject({ epoch: 2, reason: 'restored', channel })
    await sendFromAlpha(world, 1)
    expect(lying().filter(([epoch]) => epoch === 2)).toEqual([
      [2, 1, 'keys'],
      [2, 2, 'contribution'],
      // Hours have gone by without one.
      ...(lying().length > before.length + 2 ? [[2, 3, 'inventory']] : []),
    ])
    const body = fs.readFileSync(join(readyOf(world.alpha, 'bravo'), '00000002-0000000000000001.body.json'), 'utf8')
    expect(JSON.parse(body)).toMatchObject({ schema: 'platform.keys/1', data: { epoch: announcement } })
    expect(await outStatus()).toMatchObject({ state: 'open', epoch: 2, detail: '' })
    const [opened] = await world.alpha.audit.list({ action: 'test.epoch.open', limit: 9 })
    expect(opened?.event?.detail).toMatchObject({ epoch: 2, reason: 'restored' })
  })

  test('it stays so over a restart, and is told once', async () => {
    await restart(world.alpha)
    await restart(world.alpha)
    expect(await outStatus()).toMatchObject({ state: 'frozen' })
    const told = await world.alpha.audit.list({ action: 'filedrop.channel.set-back', limit: 9 })
    expect(told.map(({ event }) => event?.detail)).toEqual([
      { journal: { epoch: 1, seq: 2 }, files: { epoch: 1, seq: 4 } },
    ])
  })
})

test('a journal that was set back twice opens an epoch that was never open', async () => {
  await setBack(async () => {
    await sendFromAlpha(world, 1)
    await setBack(() => sendFromAlpha(world, 1))
    await oneWay().openEpoch(await announce(), audited)
    await sendFromAlpha(world, 1)
  })
  expect(await outStatus()).toMatchObject({ state: 'frozen', epoch: 1 })
  expect((await oneWay().draftEpoch('bravo')).epoch).toBe(3)
  expect(await refusal(oneWay().openEpoch(await announce({ epoch: 2 }), audited))).toContain('conflict')
  await oneWay().openEpoch(await announce(), audited)
  expect(await sendFromAlpha(world, 1)).toMatchObject([{ epoch: 3, seq: 2 }])
})

test('what was signed and not yet published before the new epoch still goes out, under its own number', async () => {
  const [sent] = await sendFromAlpha(world, 1)
  // As if the process had ended before it could publish.
  world.alpha.file.db.exec('UPDATE journal_sent SET state = 0')
  const ready = readyOf(world.alpha, 'bravo')
  for (const name of fs.readdirSync(ready)) fs.rmSync(join(ready, name))
  await world.alpha.journal.setState(channel, 'frozen', 'restored')
  await restart(world.alpha)
  expect(lying()).toEqual([])
  await oneWay().openEpoch(await announce(), audited)
  await world.alpha.transport.rescan()
  expect(lying()).toEqual([
    [1, sent?.seq ?? 0, 'contribution'],
    [2, 1, 'keys'],
  ])
})

test('an epoch opens beside messages that are being sent: each is of one epoch, and no number is left out', async () => {
  const announcement = await announce({ reason: 'other' })
  const sending = Array.from({ length: 50 }, () => world.alpha.transport.send(message(world), aTrace))
  const opening = oneWay().openEpoch(announcement, audited)
  const more = Array.from({ length: 50 }, () => world.alpha.transport.send(message(world), aTrace))
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
    ['that a message key signed', () => announce({}, 'message'), 'signature_invalid'],
    ['of another channel', () => announce({ channel: 'filedrop/alpha/charlie' }), 'invalid'],
    ['of another site', () => announce({ src: 'charlie' }), 'invalid'],
    ['of the epoch that is open', () => announce({ epoch: 1 }), 'conflict'],
    ['to nobody known', () => announce({ dst: 'charlie' }), 'not_found'],
    ['for a reason that the format does not know', () => announce({ reason: 'bored' as never }), 'invalid'],
  ])('%s opens nothing', async (_, announcement, code) => {
    expect(await refusal(oneWay().openEpoch(await announcement(), audited))).toContain(code)
    expect(await outStatus()).toMatchObject({ epoch: 1, next_seq: 1 })
  })

  test('of a root key whose public half this site does not know opens nothing: it might be anybody’s', async () => {
    const announcement = await announce()
    const [key] = readKeyFiles(keys()).filter(({ public_key }) => public_key.use === 'root')
    if (!key) throw new Error('the site has a root key')
    fs.rmSync(join(keys(), `${key.public_key.kid}.json`))
    expect(await refusal(oneWay().openEpoch(announcement, audited))).toContain('keys set draft')
    expect(await outStatus()).toMatchObject({ epoch: 1, next_seq: 1 })
    writeKeyFile(keys(), { public_key: key.public_key })
    expect(await oneWay().openEpoch(announcement, audited)).toMatchObject({ epoch: 2 })
  })

  test('may name a later epoch, where the files were set back as well and only the peer knows', async () => {
    await oneWay().openEpoch(await announce({ epoch: 5 }), audited)
    expect(await sendFromAlpha(world, 1)).toMatchObject([{ epoch: 5, seq: 2 }])
  })

  test('opens its epoch once', async () => {
    const announcement = await announce()
    await oneWay().openEpoch(announcement, audited)
    expect(await refusal(oneWay().openEpoch(announcement, audited))).toContain('conflict')
    expect(await outStatus()).toMatchObject({ epoch: 2, next_seq: 2 })
  })
})

test('names in ready that are no message of ours freeze nothing', async () => {
  await sendFromAlpha(world, 1)
  const ready = readyOf(world.alpha, 'bravo')
  for (const seq of ['9'.repeat(15), '8'.repeat(15)]) {
    fs.writeFileSync(join(ready, `00000009-0${seq}.env.json`), 'not ours')
    fs.copyFileSync(join(ready, '00000001-0000000000000001.env.json'), join(ready, `00000008-0${seq}.env.json`))
  }
  fs.symlinkSync('/etc/passwd', join(ready, '00000007-0000000000000001.env.json'))
  await restart(world.alpha)
  expect(await sendFromAlpha(world, 1)).toMatchObject([{ epoch: 1, seq: 2 }])
})
