// A later epoch opens by the word of the sender's root keys alone; what overtakes that word waits, what is older keeps its own ledger.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../adapters/keys/jose/key-life.ts'
import { signWith } from '../../../adapters/keys/jose/signatures.ts'
import { canonical, sha384 } from '../../../daemon/kernel/canonical.ts'
import type { Jws } from '../../../daemon/kernel/keys.ts'
import type { EpochAnnouncement } from '../../../daemon/kernel/one-way.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'
import { drop, type Forgery, forge } from './forged.ts'
import {
  carry,
  incomingOf,
  labelFor,
  peerOf,
  quarantineOf,
  readyOf,
  restart,
  sendFromAlpha,
  start_ms,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

const channel = 'filedrop/alpha/bravo'
let world: World
beforeEach(async () => {
  world = await twoSites()
  for (let i = 0; i < 2; i++) await generateKey(keys(), { use: 'root', now: world.clock.ms })
  pin({})
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const keys = () => join(world.dir, 'alpha', 'keys')
const pin = (more: Partial<Peer>) => void world.bravo.pinned.set('alpha', peerOf(world.alpha, more))
const rootKeys = () => readKeyFiles(keys()).filter(({ public_key }) => public_key.use === 'root')
const scan = () => world.bravo.transport.rescan()
const inStatus = async () => (await world.bravo.transport.status()).find(({ direction }) => direction === 'in')
const reasons = () => quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)
const taken = () => world.bravo.received.map(({ statement: { epoch, seq } }) => `${epoch}-${seq}`)
const audited = (action: string) => world.bravo.audit.list({ action, limit: 9 })

type Saying = Partial<EpochAnnouncement>
const saying = (changes: Saying): EpochAnnouncement => ({
  ...{ v: 1, type: 'platform.epoch', channel, src: 'alpha', dst: 'bravo', epoch: 2, reason: 'restored' },
  ...{ created: new Date(start_ms).toISOString(), ...changes },
})

async function signed(changes: Saying = {}, signing = rootKeys()): Promise<Jws> {
  return await signWith(signing, 'epoch', Buffer.from(canonical(saying(changes))))
}

/** A message of alpha's that announces an epoch, at the place that the statement names. */
async function announcing(note: unknown, more: Forgery = {}) {
  const schema = 'platform.keys/1'
  const body = canonical({ label: labelFor(world.bravo.tenant_id), schema, data: { epoch: note } })
  const said = { kind: 'keys', body: { sha384: sha384(body), length: Buffer.byteLength(body), schema } }
  return await forge(world, { epoch: 2, ...more, body, statement: { ...said, ...more.statement } })
}

/** As alpha's operator does it after a restore. */
async function openAtAlpha(epoch = 2): Promise<void> {
  await world.alpha.transport.oneWay.openEpoch(await signed({ epoch }), () => [])
  await world.alpha.transport.rescan()
}

test('the announcement opens the epoch, once, durably and with an event of the audit chain', async () => {
  await sendFromAlpha(world, 2)
  await openAtAlpha()
  await sendFromAlpha(world, 2)
  carry(world.alpha, world.bravo, { keep: true })
  await scan()
  expect(taken()).toEqual(['1-1', '1-2', '2-1', '2-2', '2-3'])
  expect(await inStatus()).toMatchObject({ epoch: 2, next_seq: 4, gaps: 0, held: 0, quarantined: 0 })
  // The same files once more, after a restart.
  carry(world.alpha, world.bravo)
  await restart(world.bravo)
  expect(await inStatus()).toMatchObject({ epoch: 2, duplicates: 5, quarantined: 0 })
  const [event, ...more] = await audited('filedrop.epoch.opened')
  expect(event?.event).toMatchObject({ target: channel, detail: { before: 1, epoch: 2, reason: 'restored' } })
  expect(more).toEqual([])
})

test('what overtakes the announcement waits for it, also over a restart, and counts as no attempt', async () => {
  await openAtAlpha()
  await sendFromAlpha(world, 3)
  await sendFromAlpha(world, 1, { kind: 'signal' })
  carry(world.alpha, world.bravo, { only: (file) => !/-0+[12]\.\w+\.json$/.test(file), keep: true })
  await scan()
  for (let i = 0; i < 5; i++) await restart(world.bravo)
  expect(taken()).toEqual([])
  expect(await inStatus()).toMatchObject({ epoch: 1, held: 3, backlog: 3, quarantined: 0 })
  expect(await world.bravo.journal.entry(channel, 2, 3)).toBeUndefined()
  expect((await audited('filedrop.epoch.awaited')).at(-1)?.event?.detail).toEqual({ epoch: 2, waiting: 3 })
  // Then contributions need nothing more, and the signal what was sent before it.
  carry(world.alpha, world.bravo, { only: (file) => /-0+1\.\w+\.json$/.test(file) })
  await scan()
  expect(taken()).toEqual(['2-1', '2-3', '2-4'])
  expect(await inStatus()).toMatchObject({ epoch: 2, held: 1, gaps: 1 })
  carry(world.alpha, world.bravo)
  await scan()
  expect(taken().slice(3)).toEqual(['2-2', '2-5'])
  expect(reasons()).toEqual([])
})

test('no more wait than may, and those that found no room come again on request', async () => {
  await restart(world.bravo, undefined, { max_held: 2 })
  await openAtAlpha()
  await sendFromAlpha(world, 4)
  carry(world.alpha, world.bravo, { only: (file) => !file.includes('-0000000000000001.') })
  await scan()
  expect(reasons()).toEqual(['QUOTA', 'QUOTA'])
  carry(world.alpha, world.bravo)
  await scan()
  expect(taken()).toEqual(['2-1', '2-2', '2-3'])
  await world.alpha.transport.oneWay.resend({ peer: 'bravo', epoch: 2, first: 4, last: 5 })
  carry(world.alpha, world.bravo)
  await scan()
  expect(taken().slice(3)).toEqual(['2-4', '2-5'])
})

test('what waited and is gone takes no room', async () => {
  drop(world, await forge(world, { epoch: 2, seq: 2 }))
  await scan()
  expect(await inStatus()).toMatchObject({ held: 1 })
  const { work } = incomingOf(world.bravo, 'alpha')
  for (const name of fs.readdirSync(work)) fs.rmSync(join(work, name))
  await scan()
  expect(await inStatus()).toMatchObject({ held: 0, backlog: 0 })
})

test('an epoch beyond the next is not waited for; its own announcement opens it all the same', async () => {
  drop(world, await forge(world, { epoch: 3, seq: 2 }))
  drop(world, await forge(world, { epoch: 2, seq: 1 }))
  await scan()
  expect(reasons()).toEqual(['FAST_FORWARD', 'FAST_FORWARD'])
  await openAtAlpha(5)
  await sendFromAlpha(world, 1)
  carry(world.alpha, world.bravo)
  await scan()
  expect(taken()).toEqual(['5-1', '5-2'])
  expect(await inStatus()).toMatchObject({ epoch: 5 })
})

test('an older epoch goes on in its own ledger: late messages, new numbers, and a second message under one', async () => {
  const first = await forge(world, { seq: 1 })
  drop(world, first)
  drop(world, await announcing(await signed()))
  await scan()
  drop(world, await forge(world, { seq: 2, statement: { prev: first.digest } }))
  drop(world, await forge(world, { epoch: 1, seq: 9 }))
  await scan()
  expect(taken()).toEqual(['1-1', '2-1', '1-2', '1-9'])
  expect(await inStatus()).toMatchObject({ epoch: 2, next_seq: 2, gaps: 0 })
  drop(world, await forge(world, { seq: 2, statement: { msg_id: `msg_${'f'.repeat(32)}` } }))
  await scan()
  expect(reasons()).toEqual(['EQUIVOCATION'])
  expect(await inStatus()).toMatchObject({ state: 'frozen', epoch: 2 })
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
  await restart(world.bravo, undefined, {}, { journal })
  await openAtAlpha()
  await sendFromAlpha(world, 1)
  carry(world.alpha, world.bravo)
  await scan()
  await restart(world.bravo)
  expect(taken().sort()).toEqual(['2-1', '2-2'])
  expect(await inStatus()).toMatchObject({ epoch: 2, quarantined: 0 })
  expect(await audited('filedrop.epoch.opened')).toHaveLength(1)
})

describe('who holds message keys alone opens nothing', () => {
  // Made to sign what it must not: the code of an attacker has no such rule.
  const message = () =>
    readKeyFiles(keys())
      .filter(({ public_key }) => public_key.use === 'message')
      .map((key) => ({ ...key, public_key: { ...key.public_key, use: 'root' as const } }))
  const attacks: readonly [string, string, () => ReturnType<typeof announcing>][] = [
    ['a note that a message key signed', 'UNKNOWN_KEY', async () => announcing(await signed({}, message()))],
    [
      'a note with a broken signature',
      'BAD_SIG',
      async () => {
        const { payload } = await signed({ reason: 'other' })
        return announcing({ ...(await signed()), payload })
      },
    ],
    [
      'a root key’s signature on something else',
      'BAD_SIG',
      async () => announcing(await signWith(rootKeys(), 'keyset', Buffer.from(canonical(saying({}))))),
    ],
    ['the note of an older epoch', 'SCHEMA', async () => announcing(await signed(), { epoch: 3 })],
    ['the note of a later epoch', 'SCHEMA', async () => announcing(await signed({ epoch: 3 }))],
    [
      'a note about another channel',
      'WRONG_CHANNEL',
      async () => announcing(await signed({ channel: 'filedrop/alpha/charlie' })),
    ],
    ['a note to another site', 'WRONG_DST', async () => announcing(await signed({ dst: 'charlie' }))],
    ['a note from another site', 'WRONG_CHANNEL', async () => announcing(await signed({ src: 'charlie' }))],
    ['a note that is none', 'UNKNOWN_FIELD', () => announcing({ epoch: 2 })],
    ['a note for no known reason', 'SCHEMA', async () => announcing(await signed({ reason: 'bored' as never }))],
    ['a first message of another kind', 'FAST_FORWARD', () => forge(world, { epoch: 2 })],
    [
      'another body than was signed for',
      'BODY_DIGEST',
      async () => announcing(await signed(), { placed: 'x'.repeat(4_000) }),
    ],
  ]
  test.each(attacks)('%s: %s', async (_, reason, make) => {
    drop(world, await make())
    await scan()
    expect(reasons()).toEqual([reason])
    expect(await inStatus()).toMatchObject({ state: 'open', epoch: 1 })
    // It has taken no number: the true announcement opens the epoch.
    drop(world, await announcing(await signed()))
    await scan()
    expect(await inStatus()).toMatchObject({ state: 'open', epoch: 2 })
    expect(taken()).toEqual(['2-1'])
  })

  test('a note at any other number is refused, and its number counts as arrived', async () => {
    const first = await announcing(await signed(), { epoch: 1, seq: 1 })
    drop(world, first)
    const second = { epoch: 1, seq: 2, statement: { prev: first.digest } }
    drop(world, await announcing(await signed({ epoch: 1 }), second))
    await scan()
    expect(reasons()).toEqual(['SCHEMA', 'SCHEMA'])
    expect(await inStatus()).toMatchObject({ epoch: 1, next_seq: 3 })
  })
})

describe('the root keys count as the peer’s record says', () => {
  const outcome = async (note: Jws) => {
    drop(world, await announcing(note))
    await scan()
    return { reasons: reasons(), epoch: (await inStatus())?.epoch }
  }

  test('too few of them', async () => {
    pin({ root_threshold: 2 })
    expect(await outcome(await signed({}, rootKeys().slice(0, 1)))).toEqual({ reasons: ['THRESHOLD'], epoch: 1 })
    drop(world, await announcing(await signed()))
    await scan()
    expect(await inStatus()).toMatchObject({ epoch: 2 })
  })

  test('one key that signs twice is one key', async () => {
    pin({ root_threshold: 2 })
    const [one] = rootKeys()
    const note = await signed({}, one ? [one] : [])
    expect(await outcome({ ...note, signatures: [...note.signatures, ...note.signatures] })).toEqual({
      ...{ reasons: ['THRESHOLD'], epoch: 1 },
    })
  })

  test('a revoked one', async () => {
    const revoked = peerOf(world.alpha).keys.map((key) =>
      key.use === 'root' ? { ...key, status: 'revoked' as const } : key,
    )
    pin({ keys: revoked })
    expect(await outcome(await signed())).toEqual({ reasons: ['KEY_REVOKED'], epoch: 1 })
  })

  test('none at all', async () => {
    pin({ keys: peerOf(world.alpha).keys.filter(({ use }) => use !== 'root') })
    expect(await outcome(await signed())).toEqual({ reasons: ['UNKNOWN_KEY'], epoch: 1 })
  })

  test('one that had ended when it signed', async () => {
    const ended = peerOf(world.alpha).keys.map((key) =>
      key.use === 'root' ? { ...key, not_after: new Date(start_ms - 1).toISOString() } : key,
    )
    pin({ keys: ended })
    expect(await outcome(await signed())).toEqual({ reasons: ['UNKNOWN_KEY'], epoch: 1 })
  })
})

test('messages of a new epoch that a revoked key signed do not come in with its announcement', async () => {
  drop(world, await forge(world, { epoch: 2, seq: 2 }))
  await scan()
  expect(await inStatus()).toMatchObject({ held: 1 })
  const lost = peerOf(world.alpha).keys.map((key) =>
    key.use === 'message' ? { ...key, status: 'revoked' as const } : key,
  )
  await generateKey(keys(), { use: 'message', now: world.clock.ms })
  pin({ keys: [...lost, ...peerOf(world.alpha).keys.filter(({ kid }) => !lost.some((each) => each.kid === kid))] })
  await openAtAlpha()
  carry(world.alpha, world.bravo)
  await scan()
  expect(await inStatus()).toMatchObject({ epoch: 2, held: 0 })
  expect(taken()).toEqual(['2-1'])
  expect(reasons()).toEqual(['KEY_REVOKED'])
  expect(fs.readdirSync(incomingOf(world.bravo, 'alpha').work)).toEqual([])
})

describe('what was lost around the opening is asked for', () => {
  test('a receipt of the old epoch brings the announcement of the new one, and then each epoch has its own', async () => {
    await sendFromAlpha(world, 3)
    carry(world.alpha, world.bravo, { only: (name) => name.includes('0002.') })
    await openAtAlpha()
    await sendFromAlpha(world, 1)
    for (const name of fs.readdirSync(readyOf(world.alpha, 'bravo')))
      fs.rmSync(join(readyOf(world.alpha, 'bravo'), name))
    await scan()
    expect([await inStatus(), taken()]).toMatchObject([{ epoch: 1, gaps: 1 }, ['1-2']])
    const receipt = () => world.bravo.transport.oneWay.gapReceipt('alpha')
    const resendFor = async (note: Jws) => {
      const answer = await world.alpha.transport.oneWay.resendFor(note)
      carry(world.alpha, world.bravo)
      await scan()
      return answer
    }
    const old = await receipt()
    expect(await resendFor(old)).toMatchObject({ epoch: 1, announcement: 'resent', resent: 2, not_resent: [] })
    expect(await inStatus()).toMatchObject({ epoch: 2, highest_seq: 1 })
    expect(await resendFor(await receipt())).toMatchObject({ epoch: 2, resent: 0 })
    expect(taken()).toEqual(['1-2', '1-1', '1-3', '2-1'])
  })
})
