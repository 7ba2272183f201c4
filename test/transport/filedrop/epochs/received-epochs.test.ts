// A later epoch opens by a statement of the sender's root keys alone; messages that overtake it wait, older ones keep their ledger.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { readKeyFiles } from '../../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../../adapters/keys/jose/key-lifecycle.ts'
import { signWithKeys } from '../../../../adapters/keys/jose/signatures.ts'
import type { Jws } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import type { EpochAnnouncement } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import {
  channel,
  listAuditRecords,
  listReasons,
  readInStatus,
  scanBravo,
} from '../../../support/filedrop/filedrop-readers.ts'
import {
  buildLabel,
  buildPeer,
  carryFiles,
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  restartSite,
  sendFromAlpha,
  start_ms,
  startReceiving,
} from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest as test } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, type ForgeryOptions, forgeMessage } from '../../../support/filedrop/forge-message.ts'

test.beforeEach(async ({ sites }) => {
  for (let i = 0; i < 2; i++) await generateKey(formatKeyFolder(sites), { use: 'root', now: sites.clock.ms })
  pinAlpha(sites, {})
  await startReceiving(sites.alpha)
  await startReceiving(sites.bravo)
})

const formatKeyFolder = (sites: FiledropSites) => join(sites.dir, 'alpha', 'keys')
const pinAlpha = (sites: FiledropSites, more: Partial<Peer>) =>
  void sites.bravo.pinned.set('alpha', buildPeer(sites.alpha, more))
const readRootKeys = (sites: FiledropSites) =>
  readKeyFiles(formatKeyFolder(sites)).filter(({ public_key }) => public_key.use === 'root')
const listTaken = (sites: FiledropSites) =>
  sites.bravo.received.map(({ statement: { epoch, seq } }) => `${epoch}-${seq}`)

type AnnouncementChanges = Partial<EpochAnnouncement>
const buildAnnouncement = (changes: AnnouncementChanges): EpochAnnouncement => ({
  ...{ v: 1, type: 'platform.epoch', channel, src: 'alpha', dst: 'bravo', epoch: 2, reason: 'restored' },
  ...{ created: new Date(start_ms).toISOString(), ...changes },
})

async function signAnnouncement(
  sites: FiledropSites,
  changes: AnnouncementChanges = {},
  signing = readRootKeys(sites),
): Promise<Jws> {
  return await signWithKeys(signing, 'epoch', Buffer.from(canonicalJson(buildAnnouncement(changes))))
}

/** A message of alpha's that announces an epoch, at the place that the statement names. */
async function forgeAnnouncement(sites: FiledropSites, note: unknown, more: ForgeryOptions = {}) {
  const schema = 'platform.keys/1'
  const body = canonicalJson({ label: buildLabel(sites.bravo.tenant_id), schema, data: { epoch: note } })
  const content = { kind: 'keys', body: { sha384: sha384(body), length: Buffer.byteLength(body), schema } }
  return await forgeMessage(sites, { epoch: 2, ...more, body, statement: { ...content, ...more.statement } })
}

/** As alpha's operator does it after a restore. */
async function openEpochAtAlpha(sites: FiledropSites, epoch = 2): Promise<void> {
  await sites.alpha.transport.oneWay.openEpoch(await signAnnouncement(sites, { epoch }), () => [])
  await sites.alpha.transport.rescan()
}

test('the announcement opens the epoch, once, durably and with an event of the audit chain', async ({ sites }) => {
  await sendFromAlpha(sites, 2)
  await openEpochAtAlpha(sites)
  await sendFromAlpha(sites, 2)
  carryFiles(sites.alpha, sites.bravo, { keep: true })
  await scanBravo(sites)
  expect(listTaken(sites)).toEqual(['1-1', '1-2', '2-1', '2-2', '2-3'])
  expect(await readInStatus(sites)).toMatchObject({ epoch: 2, next_seq: 4, gaps: 0, held: 0, quarantined: 0 })
  // The same files once more, after a restart.
  carryFiles(sites.alpha, sites.bravo)
  await restartSite(sites.bravo)
  expect(await readInStatus(sites)).toMatchObject({ epoch: 2, duplicates: 5, quarantined: 0 })
  const [event, ...more] = await listAuditRecords(sites, 'filedrop.epoch.opened')
  expect(event?.event).toMatchObject({ target: channel, detail: { before: 1, epoch: 2, reason: 'restored' } })
  expect(more).toEqual([])
})

test('messages that overtake the announcement wait for it, also over a restart, and count as no attempt', async ({
  sites,
}) => {
  await openEpochAtAlpha(sites)
  await sendFromAlpha(sites, 3)
  await sendFromAlpha(sites, 1, { kind: 'signal' })
  carryFiles(sites.alpha, sites.bravo, { only: (file) => !/-0+[12]\.\w+\.json$/.test(file), keep: true })
  await scanBravo(sites)
  for (let i = 0; i < 5; i++) await restartSite(sites.bravo)
  expect(listTaken(sites)).toEqual([])
  expect(await readInStatus(sites)).toMatchObject({ epoch: 1, held: 3, backlog: 3, quarantined: 0 })
  expect(await sites.bravo.journal.entry(channel, 2, 3)).toBeUndefined()
  expect((await listAuditRecords(sites, 'filedrop.epoch.awaited')).at(-1)?.event?.detail).toEqual({
    epoch: 2,
    waiting: 3,
  })
  // Then contributions need nothing more, and the signal what was sent before it.
  carryFiles(sites.alpha, sites.bravo, { only: (file) => /-0+1\.\w+\.json$/.test(file) })
  await scanBravo(sites)
  expect(listTaken(sites)).toEqual(['2-1', '2-3', '2-4'])
  expect(await readInStatus(sites)).toMatchObject({ epoch: 2, held: 1, gaps: 1 })
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
  expect(listTaken(sites).slice(3)).toEqual(['2-2', '2-5'])
  expect(listReasons(sites)).toEqual([])
})

test('no more wait than may, and those that found no room come again on request', async ({ sites }) => {
  await restartSite(sites.bravo, undefined, { max_held: 2 })
  await openEpochAtAlpha(sites)
  await sendFromAlpha(sites, 4)
  carryFiles(sites.alpha, sites.bravo, { only: (file) => !file.includes('-0000000000000001.') })
  await scanBravo(sites)
  expect(listReasons(sites)).toEqual(['QUOTA', 'QUOTA'])
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
  expect(listTaken(sites)).toEqual(['2-1', '2-2', '2-3'])
  await sites.alpha.transport.oneWay.resend({ peer: 'bravo', epoch: 2, first: 4, last: 5 })
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
  expect(listTaken(sites).slice(3)).toEqual(['2-4', '2-5'])
})

test('a waiting message that is gone takes no room', async ({ sites }) => {
  dropMessage(sites, await forgeMessage(sites, { epoch: 2, seq: 2 }))
  await scanBravo(sites)
  expect(await readInStatus(sites)).toMatchObject({ held: 1 })
  const { work } = listChannelFolders(sites.bravo, 'alpha')
  for (const name of fs.readdirSync(work)) fs.rmSync(join(work, name))
  await scanBravo(sites)
  expect(await readInStatus(sites)).toMatchObject({ held: 0, backlog: 0 })
})

test('an epoch beyond the next is not waited for; its own announcement opens it all the same', async ({ sites }) => {
  dropMessage(sites, await forgeMessage(sites, { epoch: 3, seq: 2 }))
  dropMessage(sites, await forgeMessage(sites, { epoch: 2, seq: 1 }))
  await scanBravo(sites)
  expect(listReasons(sites)).toEqual(['FAST_FORWARD', 'FAST_FORWARD'])
  await openEpochAtAlpha(sites, 5)
  await sendFromAlpha(sites, 1)
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
  expect(listTaken(sites)).toEqual(['5-1', '5-2'])
  expect(await readInStatus(sites)).toMatchObject({ epoch: 5 })
})

test('an older epoch goes on in its own ledger: late messages, new numbers, and a second message under one', async ({
  sites,
}) => {
  const first = await forgeMessage(sites, { seq: 1 })
  dropMessage(sites, first)
  dropMessage(sites, await forgeAnnouncement(sites, await signAnnouncement(sites)))
  await scanBravo(sites)
  dropMessage(sites, await forgeMessage(sites, { seq: 2, statement: { prev: first.digest } }))
  dropMessage(sites, await forgeMessage(sites, { epoch: 1, seq: 9 }))
  await scanBravo(sites)
  expect(listTaken(sites)).toEqual(['1-1', '2-1', '1-2', '1-9'])
  expect(await readInStatus(sites)).toMatchObject({ epoch: 2, next_seq: 2, gaps: 0 })
  dropMessage(sites, await forgeMessage(sites, { seq: 2, statement: { msg_id: `msg_${'f'.repeat(32)}` } }))
  await scanBravo(sites)
  expect(listReasons(sites)).toEqual(['EQUIVOCATION'])
  expect(await readInStatus(sites)).toMatchObject({ state: 'frozen', epoch: 2 })
})

test.for(['before', 'after'] as const)(
  'a death %s the epoch is open leaves nothing undone',
  async (when, { sites }) => {
    let left = 1
    const journal = new Proxy(sites.bravo.journal, {
      get(target, name, self) {
        const original = Reflect.get(target, name, self) as (...args: unknown[]) => Promise<unknown>
        if (name !== 'advance') return original
        return async (...args: unknown[]) => {
          if (when === 'after') await original(...args)
          if (left-- > 0) throw new Error('the process died here')
          return when === 'before' ? await original(...args) : undefined
        }
      },
    })
    await restartSite(sites.bravo, undefined, {}, { journal })
    await openEpochAtAlpha(sites)
    await sendFromAlpha(sites, 1)
    carryFiles(sites.alpha, sites.bravo)
    await scanBravo(sites)
    await restartSite(sites.bravo)
    expect(listTaken(sites).sort()).toEqual(['2-1', '2-2'])
    expect(await readInStatus(sites)).toMatchObject({ epoch: 2, quarantined: 0 })
    expect(await listAuditRecords(sites, 'filedrop.epoch.opened')).toHaveLength(1)
  },
)

describe('a holder of message keys alone opens nothing', () => {
  // Made to sign what it must not: the code of an attacker has no such rule.
  const message = (sites: FiledropSites) =>
    readKeyFiles(formatKeyFolder(sites))
      .filter(({ public_key }) => public_key.use === 'message')
      .map((key) => ({ ...key, public_key: { ...key.public_key, use: 'root' as const } }))
  const attacks: readonly [string, string, (sites: FiledropSites) => ReturnType<typeof forgeAnnouncement>][] = [
    [
      'a note that a message key signed',
      'UNKNOWN_KEY',
      async (sites) => forgeAnnouncement(sites, await signAnnouncement(sites, {}, message(sites))),
    ],
    [
      'a note with a broken signature',
      'BAD_SIG',
      async (sites) => {
        const { payload } = await signAnnouncement(sites, { reason: 'other' })
        return forgeAnnouncement(sites, { ...(await signAnnouncement(sites)), payload })
      },
    ],
    [
      'a root key’s signature on something else',
      'BAD_SIG',
      async (sites) =>
        forgeAnnouncement(
          sites,
          await signWithKeys(readRootKeys(sites), 'keyset', Buffer.from(canonicalJson(buildAnnouncement({})))),
        ),
    ],
    [
      'the note of an older epoch',
      'SCHEMA',
      async (sites) => forgeAnnouncement(sites, await signAnnouncement(sites), { epoch: 3 }),
    ],
    [
      'the note of a later epoch',
      'SCHEMA',
      async (sites) => forgeAnnouncement(sites, await signAnnouncement(sites, { epoch: 3 })),
    ],
    [
      'a note about another channel',
      'WRONG_CHANNEL',
      async (sites) => forgeAnnouncement(sites, await signAnnouncement(sites, { channel: 'filedrop/alpha/charlie' })),
    ],
    [
      'a note to another site',
      'WRONG_DST',
      async (sites) => forgeAnnouncement(sites, await signAnnouncement(sites, { dst: 'charlie' })),
    ],
    [
      'a note from another site',
      'WRONG_CHANNEL',
      async (sites) => forgeAnnouncement(sites, await signAnnouncement(sites, { src: 'charlie' })),
    ],
    ['a note that is none', 'UNKNOWN_FIELD', (sites) => forgeAnnouncement(sites, { epoch: 2 })],
    [
      'a note for no known reason',
      'SCHEMA',
      async (sites) => forgeAnnouncement(sites, await signAnnouncement(sites, { reason: 'bored' as never })),
    ],
    ['a first message of another kind', 'FAST_FORWARD', (sites) => forgeMessage(sites, { epoch: 2 })],
    [
      'another body than was signed for',
      'BODY_DIGEST',
      async (sites) => forgeAnnouncement(sites, await signAnnouncement(sites), { placed: 'x'.repeat(4_000) }),
    ],
  ]
  test.for(attacks)('%s: %s', async ([_, reason, make], { sites }) => {
    dropMessage(sites, await make(sites))
    await scanBravo(sites)
    expect(listReasons(sites)).toEqual([reason])
    expect(await readInStatus(sites)).toMatchObject({ state: 'open', epoch: 1 })
    // It has taken no number: the true announcement opens the epoch.
    dropMessage(sites, await forgeAnnouncement(sites, await signAnnouncement(sites)))
    await scanBravo(sites)
    expect(await readInStatus(sites)).toMatchObject({ state: 'open', epoch: 2 })
    expect(listTaken(sites)).toEqual(['2-1'])
  })

  test('a note at any other number is refused, and its number counts as arrived', async ({ sites }) => {
    const first = await forgeAnnouncement(sites, await signAnnouncement(sites), { epoch: 1, seq: 1 })
    dropMessage(sites, first)
    const second = { epoch: 1, seq: 2, statement: { prev: first.digest } }
    dropMessage(sites, await forgeAnnouncement(sites, await signAnnouncement(sites, { epoch: 1 }), second))
    await scanBravo(sites)
    expect(listReasons(sites)).toEqual(['SCHEMA', 'SCHEMA'])
    expect(await readInStatus(sites)).toMatchObject({ epoch: 1, next_seq: 3 })
  })
})

describe('the root keys count as the peer’s record says', () => {
  const outcome = async (sites: FiledropSites, note: Jws) => {
    dropMessage(sites, await forgeAnnouncement(sites, note))
    await scanBravo(sites)
    return { reasons: listReasons(sites), epoch: (await readInStatus(sites))?.epoch }
  }

  test('too few of them', async ({ sites }) => {
    pinAlpha(sites, { root_threshold: 2 })
    expect(await outcome(sites, await signAnnouncement(sites, {}, readRootKeys(sites).slice(0, 1)))).toEqual({
      reasons: ['THRESHOLD'],
      epoch: 1,
    })
    dropMessage(sites, await forgeAnnouncement(sites, await signAnnouncement(sites)))
    await scanBravo(sites)
    expect(await readInStatus(sites)).toMatchObject({ epoch: 2 })
  })

  test('one key that signs twice is one key', async ({ sites }) => {
    pinAlpha(sites, { root_threshold: 2 })
    const [one] = readRootKeys(sites)
    const note = await signAnnouncement(sites, {}, one ? [one] : [])
    expect(await outcome(sites, { ...note, signatures: [...note.signatures, ...note.signatures] })).toEqual({
      ...{ reasons: ['THRESHOLD'], epoch: 1 },
    })
  })

  test('a revoked one', async ({ sites }) => {
    const revoked = buildPeer(sites.alpha).keys.map((key) =>
      key.use === 'root' ? { ...key, status: 'revoked' as const } : key,
    )
    pinAlpha(sites, { keys: revoked })
    expect(await outcome(sites, await signAnnouncement(sites))).toEqual({ reasons: ['KEY_REVOKED'], epoch: 1 })
  })

  test('none at all', async ({ sites }) => {
    pinAlpha(sites, { keys: buildPeer(sites.alpha).keys.filter(({ use }) => use !== 'root') })
    expect(await outcome(sites, await signAnnouncement(sites))).toEqual({ reasons: ['UNKNOWN_KEY'], epoch: 1 })
  })

  test('one that had ended when it signed', async ({ sites }) => {
    const ended = buildPeer(sites.alpha).keys.map((key) =>
      key.use === 'root' ? { ...key, not_after: new Date(start_ms - 1).toISOString() } : key,
    )
    pinAlpha(sites, { keys: ended })
    expect(await outcome(sites, await signAnnouncement(sites))).toEqual({ reasons: ['UNKNOWN_KEY'], epoch: 1 })
  })
})

test('messages of a new epoch that a revoked key signed do not come in with its announcement', async ({ sites }) => {
  dropMessage(sites, await forgeMessage(sites, { epoch: 2, seq: 2 }))
  await scanBravo(sites)
  expect(await readInStatus(sites)).toMatchObject({ held: 1 })
  const lost = buildPeer(sites.alpha).keys.map((key) =>
    key.use === 'message' ? { ...key, status: 'revoked' as const } : key,
  )
  await generateKey(formatKeyFolder(sites), { use: 'message', now: sites.clock.ms })
  pinAlpha(sites, {
    keys: [...lost, ...buildPeer(sites.alpha).keys.filter(({ kid }) => !lost.some((each) => each.kid === kid))],
  })
  await openEpochAtAlpha(sites)
  carryFiles(sites.alpha, sites.bravo)
  await scanBravo(sites)
  expect(await readInStatus(sites)).toMatchObject({ epoch: 2, held: 0 })
  expect(listTaken(sites)).toEqual(['2-1'])
  expect(listReasons(sites)).toEqual(['KEY_REVOKED'])
  expect(fs.readdirSync(listChannelFolders(sites.bravo, 'alpha').work)).toEqual([])
})

describe('requests messages lost around the opening', () => {
  test('a receipt of the old epoch brings the announcement of the new one, and then each epoch has its own', async ({
    sites,
  }) => {
    await sendFromAlpha(sites, 3)
    carryFiles(sites.alpha, sites.bravo, { only: (name) => name.includes('0002.') })
    await openEpochAtAlpha(sites)
    await sendFromAlpha(sites, 1)
    for (const name of fs.readdirSync(formatReadyPath(sites.alpha, 'bravo')))
      fs.rmSync(join(formatReadyPath(sites.alpha, 'bravo'), name))
    await scanBravo(sites)
    expect([await readInStatus(sites), listTaken(sites)]).toMatchObject([{ epoch: 1, gaps: 1 }, ['1-2']])
    const receipt = () => sites.bravo.transport.oneWay.gapReceipt('alpha')
    const resendFor = async (note: Jws) => {
      const answer = await sites.alpha.transport.oneWay.resendFor(note)
      carryFiles(sites.alpha, sites.bravo)
      await scanBravo(sites)
      return answer
    }
    const old = await receipt()
    expect(await resendFor(old)).toMatchObject({ epoch: 1, announcement: 'resent', resent: 2, not_resent: [] })
    expect(await readInStatus(sites)).toMatchObject({ epoch: 2, highest_seq: 1 })
    expect(await resendFor(await receipt())).toMatchObject({ epoch: 2, resent: 0 })
    expect(listTaken(sites)).toEqual(['1-2', '1-1', '1-3', '2-1'])
  })
})
