// A later epoch opens by the word of the sender's root keys alone; what overtakes that word waits, what is older keeps its own ledger.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../adapters/keys/jose/key-life.ts'
import { signWith } from '../../../adapters/keys/jose/signatures.ts'
import type { Jws } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import type { EpochAnnouncement } from '../../../daemon/kernel/messaging/one-way-control.ts'
import {
  buildLabel,
  buildPeer,
  carryFiles,
  createFiledropSites,
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
  start_ms,
  startReceiving,
} from './filedrop-sites.ts'
import { dropMessage, type ForgeryOptions, forgeMessage } from './forge-message.ts'

const channel = 'filedrop/alpha/bravo'
let world: FiledropSites
beforeEach(async () => {
  world = await createFiledropSites()
  for (let i = 0; i < 2; i++) await generateKey(formatKeyFolder(), { use: 'root', now: world.clock.ms })
  pinAlpha({})
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const formatKeyFolder = () => join(world.dir, 'alpha', 'keys')
const pinAlpha = (more: Partial<Peer>) => void world.bravo.pinned.set('alpha', buildPeer(world.alpha, more))
const readRootKeys = () => readKeyFiles(formatKeyFolder()).filter(({ public_key }) => public_key.use === 'root')
const scanBravo = () => world.bravo.transport.rescan()
const readInStatus = async () => (await world.bravo.transport.status()).find(({ direction }) => direction === 'in')
const listReasons = () => listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)
const listTaken = () => world.bravo.received.map(({ statement: { epoch, seq } }) => `${epoch}-${seq}`)
const listAuditRecords = (action: string) => world.bravo.audit.list({ action, limit: 9 })

type AnnouncementChanges = Partial<EpochAnnouncement>
const buildAnnouncement = (changes: AnnouncementChanges): EpochAnnouncement => ({
  ...{ v: 1, type: 'platform.epoch', channel, src: 'alpha', dst: 'bravo', epoch: 2, reason: 'restored' },
  ...{ created: new Date(start_ms).toISOString(), ...changes },
})

async function signAnnouncement(changes: AnnouncementChanges = {}, signing = readRootKeys()): Promise<Jws> {
  return await signWith(signing, 'epoch', Buffer.from(canonicalJson(buildAnnouncement(changes))))
}

/** A message of alpha's that announces an epoch, at the place that the statement names. */
async function forgeAnnouncement(note: unknown, more: ForgeryOptions = {}) {
  const schema = 'platform.keys/1'
  const body = canonicalJson({ label: buildLabel(world.bravo.tenant_id), schema, data: { epoch: note } })
  const said = { kind: 'keys', body: { sha384: sha384(body), length: Buffer.byteLength(body), schema } }
  return await forgeMessage(world, { epoch: 2, ...more, body, statement: { ...said, ...more.statement } })
}

/** As alpha's operator does it after a restore. */
async function openEpochAtAlpha(epoch = 2): Promise<void> {
  await world.alpha.transport.oneWay.openEpoch(await signAnnouncement({ epoch }), () => [])
  await world.alpha.transport.rescan()
}

test('the announcement opens the epoch, once, durably and with an event of the audit chain', async () => {
  await sendFromAlpha(world, 2)
  await openEpochAtAlpha()
  await sendFromAlpha(world, 2)
  carryFiles(world.alpha, world.bravo, { keep: true })
  await scanBravo()
  expect(listTaken()).toEqual(['1-1', '1-2', '2-1', '2-2', '2-3'])
  expect(await readInStatus()).toMatchObject({ epoch: 2, next_seq: 4, gaps: 0, held: 0, quarantined: 0 })
  // The same files once more, after a restart.
  carryFiles(world.alpha, world.bravo)
  await restartSite(world.bravo)
  expect(await readInStatus()).toMatchObject({ epoch: 2, duplicates: 5, quarantined: 0 })
  const [event, ...more] = await listAuditRecords('filedrop.epoch.opened')
  expect(event?.event).toMatchObject({ target: channel, detail: { before: 1, epoch: 2, reason: 'restored' } })
  expect(more).toEqual([])
})

test('what overtakes the announcement waits for it, also over a restart, and counts as no attempt', async () => {
  await openEpochAtAlpha()
  await sendFromAlpha(world, 3)
  await sendFromAlpha(world, 1, { kind: 'signal' })
  carryFiles(world.alpha, world.bravo, { only: (file) => !/-0+[12]\.\w+\.json$/.test(file), keep: true })
  await scanBravo()
  for (let i = 0; i < 5; i++) await restartSite(world.bravo)
  expect(listTaken()).toEqual([])
  expect(await readInStatus()).toMatchObject({ epoch: 1, held: 3, backlog: 3, quarantined: 0 })
  expect(await world.bravo.journal.entry(channel, 2, 3)).toBeUndefined()
  expect((await listAuditRecords('filedrop.epoch.awaited')).at(-1)?.event?.detail).toEqual({ epoch: 2, waiting: 3 })
  // Then contributions need nothing more, and the signal what was sent before it.
  carryFiles(world.alpha, world.bravo, { only: (file) => /-0+1\.\w+\.json$/.test(file) })
  await scanBravo()
  expect(listTaken()).toEqual(['2-1', '2-3', '2-4'])
  expect(await readInStatus()).toMatchObject({ epoch: 2, held: 1, gaps: 1 })
  carryFiles(world.alpha, world.bravo)
  await scanBravo()
  expect(listTaken().slice(3)).toEqual(['2-2', '2-5'])
  expect(listReasons()).toEqual([])
})

test('no more wait than may, and those that found no room come again on request', async () => {
  await restartSite(world.bravo, undefined, { max_held: 2 })
  await openEpochAtAlpha()
  await sendFromAlpha(world, 4)
  carryFiles(world.alpha, world.bravo, { only: (file) => !file.includes('-0000000000000001.') })
  await scanBravo()
  expect(listReasons()).toEqual(['QUOTA', 'QUOTA'])
  carryFiles(world.alpha, world.bravo)
  await scanBravo()
  expect(listTaken()).toEqual(['2-1', '2-2', '2-3'])
  await world.alpha.transport.oneWay.resend({ peer: 'bravo', epoch: 2, first: 4, last: 5 })
  carryFiles(world.alpha, world.bravo)
  await scanBravo()
  expect(listTaken().slice(3)).toEqual(['2-4', '2-5'])
})

test('what waited and is gone takes no room', async () => {
  dropMessage(world, await forgeMessage(world, { epoch: 2, seq: 2 }))
  await scanBravo()
  expect(await readInStatus()).toMatchObject({ held: 1 })
  const { work } = listChannelFolders(world.bravo, 'alpha')
  for (const name of fs.readdirSync(work)) fs.rmSync(join(work, name))
  await scanBravo()
  expect(await readInStatus()).toMatchObject({ held: 0, backlog: 0 })
})

test('an epoch beyond the next is not waited for; its own announcement opens it all the same', async () => {
  dropMessage(world, await forgeMessage(world, { epoch: 3, seq: 2 }))
  dropMessage(world, await forgeMessage(world, { epoch: 2, seq: 1 }))
  await scanBravo()
  expect(listReasons()).toEqual(['FAST_FORWARD', 'FAST_FORWARD'])
  await openEpochAtAlpha(5)
  await sendFromAlpha(world, 1)
  carryFiles(world.alpha, world.bravo)
  await scanBravo()
  expect(listTaken()).toEqual(['5-1', '5-2'])
  expect(await readInStatus()).toMatchObject({ epoch: 5 })
})

test('an older epoch goes on in its own ledger: late messages, new numbers, and a second message under one', async () => {
  const first = await forgeMessage(world, { seq: 1 })
  dropMessage(world, first)
  dropMessage(world, await forgeAnnouncement(await signAnnouncement()))
  await scanBravo()
  dropMessage(world, await forgeMessage(world, { seq: 2, statement: { prev: first.digest } }))
  dropMessage(world, await forgeMessage(world, { epoch: 1, seq: 9 }))
  await scanBravo()
  expect(listTaken()).toEqual(['1-1', '2-1', '1-2', '1-9'])
  expect(await readInStatus()).toMatchObject({ epoch: 2, next_seq: 2, gaps: 0 })
  dropMessage(world, await forgeMessage(world, { seq: 2, statement: { msg_id: `msg_${'f'.repeat(32)}` } }))
  await scanBravo()
  expect(listReasons()).toEqual(['EQUIVOCATION'])
  expect(await readInStatus()).toMatchObject({ state: 'frozen', epoch: 2 })
})

test.each(['before', 'after'] as const)('a death %s the epoch is open leaves nothing undone', async (when) => {
  let left = 1
  const journal = new Proxy(world.bravo.journal, {
    get(target, name, self) {
      const original = Reflect.get(target, name, self) as (...given: unknown[]) => Promise<unknown>
      if (name !== 'advance') return original
      return async (...given: unknown[]) => {
        if (when === 'after') await original(...given)
        if (left-- > 0) throw new Error('the process died here')
        return when === 'before' ? await original(...given) : undefined
      }
    },
  })
  await restartSite(world.bravo, undefined, {}, { journal })
  await openEpochAtAlpha()
  await sendFromAlpha(world, 1)
  carryFiles(world.alpha, world.bravo)
  await scanBravo()
  await restartSite(world.bravo)
  expect(listTaken().sort()).toEqual(['2-1', '2-2'])
  expect(await readInStatus()).toMatchObject({ epoch: 2, quarantined: 0 })
  expect(await listAuditRecords('filedrop.epoch.opened')).toHaveLength(1)
})

describe('who holds message keys alone opens nothing', () => {
  // Made to sign what it must not: the code of an attacker has no such rule.
  const message = () =>
    readKeyFiles(formatKeyFolder())
      .filter(({ public_key }) => public_key.use === 'message')
      .map((key) => ({ ...key, public_key: { ...key.public_key, use: 'root' as const } }))
  const attacks: readonly [string, string, () => ReturnType<typeof forgeAnnouncement>][] = [
    [
      'a note that a message key signed',
      'UNKNOWN_KEY',
      async () => forgeAnnouncement(await signAnnouncement({}, message())),
    ],
    [
      'a note with a broken signature',
      'BAD_SIG',
      async () => {
        const { payload } = await signAnnouncement({ reason: 'other' })
        return forgeAnnouncement({ ...(await signAnnouncement()), payload })
      },
    ],
    [
      'a root key’s signature on something else',
      'BAD_SIG',
      async () =>
        forgeAnnouncement(await signWith(readRootKeys(), 'keyset', Buffer.from(canonicalJson(buildAnnouncement({}))))),
    ],
    ['the note of an older epoch', 'SCHEMA', async () => forgeAnnouncement(await signAnnouncement(), { epoch: 3 })],
    ['the note of a later epoch', 'SCHEMA', async () => forgeAnnouncement(await signAnnouncement({ epoch: 3 }))],
    [
      'a note about another channel',
      'WRONG_CHANNEL',
      async () => forgeAnnouncement(await signAnnouncement({ channel: 'filedrop/alpha/charlie' })),
    ],
    ['a note to another site', 'WRONG_DST', async () => forgeAnnouncement(await signAnnouncement({ dst: 'charlie' }))],
    [
      'a note from another site',
      'WRONG_CHANNEL',
      async () => forgeAnnouncement(await signAnnouncement({ src: 'charlie' })),
    ],
    ['a note that is none', 'UNKNOWN_FIELD', () => forgeAnnouncement({ epoch: 2 })],
    [
      'a note for no known reason',
      'SCHEMA',
      async () => forgeAnnouncement(await signAnnouncement({ reason: 'bored' as never })),
    ],
    ['a first message of another kind', 'FAST_FORWARD', () => forgeMessage(world, { epoch: 2 })],
    [
      'another body than was signed for',
      'BODY_DIGEST',
      async () => forgeAnnouncement(await signAnnouncement(), { placed: 'x'.repeat(4_000) }),
    ],
  ]
  test.each(attacks)('%s: %s', async (_, reason, make) => {
    dropMessage(world, await make())
    await scanBravo()
    expect(listReasons()).toEqual([reason])
    expect(await readInStatus()).toMatchObject({ state: 'open', epoch: 1 })
    // It has taken no number: the true announcement opens the epoch.
    dropMessage(world, await forgeAnnouncement(await signAnnouncement()))
    await scanBravo()
    expect(await readInStatus()).toMatchObject({ state: 'open', epoch: 2 })
    expect(listTaken()).toEqual(['2-1'])
  })

  test('a note at any other number is refused, and its number counts as arrived', async () => {
    const first = await forgeAnnouncement(await signAnnouncement(), { epoch: 1, seq: 1 })
    dropMessage(world, first)
    const second = { epoch: 1, seq: 2, statement: { prev: first.digest } }
    dropMessage(world, await forgeAnnouncement(await signAnnouncement({ epoch: 1 }), second))
    await scanBravo()
    expect(listReasons()).toEqual(['SCHEMA', 'SCHEMA'])
    expect(await readInStatus()).toMatchObject({ epoch: 1, next_seq: 3 })
  })
})

describe('the root keys count as the peer’s record says', () => {
  const outcome = async (note: Jws) => {
    dropMessage(world, await forgeAnnouncement(note))
    await scanBravo()
    return { reasons: listReasons(), epoch: (await readInStatus())?.epoch }
  }

  test('too few of them', async () => {
    pinAlpha({ root_threshold: 2 })
    expect(await outcome(await signAnnouncement({}, readRootKeys().slice(0, 1)))).toEqual({
      reasons: ['THRESHOLD'],
      epoch: 1,
    })
    dropMessage(world, await forgeAnnouncement(await signAnnouncement()))
    await scanBravo()
    expect(await readInStatus()).toMatchObject({ epoch: 2 })
  })

  test('one key that signs twice is one key', async () => {
    pinAlpha({ root_threshold: 2 })
    const [one] = readRootKeys()
    const note = await signAnnouncement({}, one ? [one] : [])
    expect(await outcome({ ...note, signatures: [...note.signatures, ...note.signatures] })).toEqual({
      ...{ reasons: ['THRESHOLD'], epoch: 1 },
    })
  })

  test('a revoked one', async () => {
    const revoked = buildPeer(world.alpha).keys.map((key) =>
      key.use === 'root' ? { ...key, status: 'revoked' as const } : key,
    )
    pinAlpha({ keys: revoked })
    expect(await outcome(await signAnnouncement())).toEqual({ reasons: ['KEY_REVOKED'], epoch: 1 })
  })

  test('none at all', async () => {
    pinAlpha({ keys: buildPeer(world.alpha).keys.filter(({ use }) => use !== 'root') })
    expect(await outcome(await signAnnouncement())).toEqual({ reasons: ['UNKNOWN_KEY'], epoch: 1 })
  })

  test('one that had ended when it signed', async () => {
    const ended = buildPeer(world.alpha).keys.map((key) =>
      key.use === 'root' ? { ...key, not_after: new Date(start_ms - 1).toISOString() } : key,
    )
    pinAlpha({ keys: ended })
    expect(await outcome(await signAnnouncement())).toEqual({ reasons: ['UNKNOWN_KEY'], epoch: 1 })
  })
})

test('messages of a new epoch that a revoked key signed do not come in with its announcement', async () => {
  dropMessage(world, await forgeMessage(world, { epoch: 2, seq: 2 }))
  await scanBravo()
  expect(await readInStatus()).toMatchObject({ held: 1 })
  const lost = buildPeer(world.alpha).keys.map((key) =>
    key.use === 'message' ? { ...key, status: 'revoked' as const } : key,
  )
  await generateKey(formatKeyFolder(), { use: 'message', now: world.clock.ms })
  pinAlpha({
    keys: [...lost, ...buildPeer(world.alpha).keys.filter(({ kid }) => !lost.some((each) => each.kid === kid))],
  })
  await openEpochAtAlpha()
  carryFiles(world.alpha, world.bravo)
  await scanBravo()
  expect(await readInStatus()).toMatchObject({ epoch: 2, held: 0 })
  expect(listTaken()).toEqual(['2-1'])
  expect(listReasons()).toEqual(['KEY_REVOKED'])
  expect(fs.readdirSync(listChannelFolders(world.bravo, 'alpha').work)).toEqual([])
})

describe('what was lost around the opening is asked for', () => {
  test('a receipt of the old epoch brings the announcement of the new one, and then each epoch has its own', async () => {
    await sendFromAlpha(world, 3)
    carryFiles(world.alpha, world.bravo, { only: (name) => name.includes('0002.') })
    await openEpochAtAlpha()
    await sendFromAlpha(world, 1)
    for (const name of fs.readdirSync(formatReadyPath(world.alpha, 'bravo')))
      fs.rmSync(join(formatReadyPath(world.alpha, 'bravo'), name))
    await scanBravo()
    expect([await readInStatus(), listTaken()]).toMatchObject([{ epoch: 1, gaps: 1 }, ['1-2']])
    const receipt = () => world.bravo.transport.oneWay.gapReceipt('alpha')
    const resendFor = async (note: Jws) => {
      const answer = await world.alpha.transport.oneWay.resendFor(note)
      carryFiles(world.alpha, world.bravo)
      await scanBravo()
      return answer
    }
    const old = await receipt()
    expect(await resendFor(old)).toMatchObject({ epoch: 1, announcement: 'resent', resent: 2, not_resent: [] })
    expect(await readInStatus()).toMatchObject({ epoch: 2, highest_seq: 1 })
    expect(await resendFor(await receipt())).toMatchObject({ epoch: 2, resent: 0 })
    expect(listTaken()).toEqual(['1-2', '1-1', '1-3', '2-1'])
  })
})
