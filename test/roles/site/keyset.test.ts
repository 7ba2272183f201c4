// A site sends every key set to its peers, and a peer's set takes effect exactly once, despite lost messages.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readKeySets, writeKeySet } from '../../../adapters/keys/jose/key-set-files.ts'
import { signWithKeys } from '../../../adapters/keys/jose/signatures.ts'
import { encodeKeySet, parseKeySet } from '../../../daemon/kernel/cryptography/key-set.ts'
import { type Jws, keyAlgorithm } from '../../../daemon/kernel/cryptography/signatures.ts'
import { revokePeerKey } from '../../../daemon/offline/peers/peer-keys.ts'
import { removePeer } from '../../../daemon/offline/peers/site-peers.ts'
import { list as channels } from '../../../daemon/roles/site/channel/list.ts'
import { type PinnedSitePair, pinPeerKeys, startPinnedSitePair } from '../../support/site/pinned-site-pair.ts'
import { waitUntil } from '../../support/site/test-site.ts'

let world: PinnedSitePair
beforeEach(async () => {
  world = await startPinnedSitePair()
})
afterEach(() => world.end())

/** Bravo has published so many messages that nobody has carried yet. */
async function waitForPublished(messages = 1): Promise<void> {
  world.bravo.wakeWorker('site', 'keysets')
  await waitUntil(() => world.listReady().length === 2 * messages)
}

const readNewestKid = () => world.activeKeys('message').at(-1)?.public_key.kid ?? ''
const readSets = () => readKeySets(world.bravo.folder.keys)

async function listAuditRecords(action: string): Promise<unknown[]> {
  const token = await world.alpha.token({ subject: 'carl', roles: ['auditor'] })
  const { json } = await world.alpha.call('site', 'GET', `/api/v2/audit?action=${action}`, undefined, { token })
  return (json as { items: unknown[] }).items
}

async function readChannel() {
  const operator = await world.alpha.as({ roles: ['operator'] })
  const { items } = await operator.ok(channels, {})
  return items.find(({ direction }) => direction === 'in')
}

test.each(keyAlgorithm.options)('a rotation to %s reaches the peer, who has both keys then', async (algorithm) => {
  const before = await world.readPinned()
  const old = readNewestKid()
  expect(await world.rotate(old, algorithm)).toBe(1)
  await waitForPublished()
  expect(world.carry()).toBe(1)
  const { keys, key_set, root_threshold, revoked, ...rest } = await world.waitForPinned(1)
  expect(before).toMatchObject(rest)
  expect({ root_threshold, revoked, key_set }).toMatchObject({
    root_threshold: 1,
    revoked: [],
    key_set: { version: 1 },
  })
  const not_after = world.clock.in(14 * 86_400_000)
  expect(keys.filter(({ use }) => use === 'message')).toMatchObject([
    { kid: old, status: 'active', not_after },
    { algorithm, status: 'active' },
  ])
  expect(keys.filter(({ use }) => use === 'root')).toEqual(before.keys.filter(({ use }) => use === 'root'))
  expect(await listAuditRecords('site.peer.repin')).toMatchObject([
    { event: { target: 'bravo', detail: { version: 1 } } },
  ])
})

describe('exactly once', () => {
  test('a restart sends the same message again only to a peer that did not get it', async () => {
    await world.rotate(readNewestKid())
    await waitForPublished()
    await world.bravo.restart()
    world.bravo.wakeWorker('site', 'keysets')
    await world.rotate(readNewestKid())
    await waitForPublished(2)
    world.carry()
    await world.waitForPinned(2)
    await waitUntil(async () => (await readChannel())?.received === 2)
    expect(await listAuditRecords('site.peer.repin')).toHaveLength(2)
  })

  test('a repeat, and an older version after a newer one, change nothing', async () => {
    await world.rotate(readNewestKid())
    await waitForPublished()
    await world.rotate(readNewestKid())
    await waitForPublished(2)
    // The second first; it carries the version before it.
    world.carry((file) => file.includes('0001.'))
    const peer = await world.waitForPinned(2)
    await waitUntil(async () => (await readChannel())?.gaps === 1)
    expect(await listAuditRecords('site.peer.repin')).toHaveLength(1)
    const operator = await world.bravo.as({ roles: ['operator'] })
    const { resend } = await import('../../../daemon/roles/site/message/resend.ts')
    await operator.ok(resend, { peer: 'alpha', epoch: 1, first: 1, last: 1 })
    world.carry()
    await waitUntil(async () => (await readChannel())?.gaps === 0)
    expect(await world.readPinned()).toEqual(peer)
    expect(await listAuditRecords('site.peer.repin')).toHaveLength(1)
    expect(world.listQuarantined()).toEqual([])
  })
})

test('versions that were all lost come with the next, and nothing waits for the gap', async () => {
  for (const version of [1, 2, 3]) {
    expect(await world.rotate(readNewestKid())).toBe(version)
    await waitForPublished(version)
  }
  world.carry((file) => !file.includes('0003.'))
  expect((await world.waitForPinned(3)).keys.filter(({ use }) => use === 'message')).toHaveLength(4)
  expect(await listAuditRecords('site.peer.repin')).toMatchObject([{ event: { detail: { version: 3 } } }])
})

test('sends the set to a peer that is enrolled later as well', async () => {
  await removePeer(world.bravo.folder, {}, 'alpha')
  expect(await world.rotate(readNewestKid())).toBe(1)
  world.bravo.wakeWorker('site', 'keysets')
  expect(world.listReady()).toEqual([])
  await pinPeerKeys(world.bravo, world.alpha)
  await waitForPublished()
  world.carry()
  await world.waitForPinned(1)
})

test('a key that people here revoked stays so, under every later set of the peer', async () => {
  const kid = readNewestKid()
  await world.rotate(kid)
  await revokePeerKey(world.alpha.folder, {}, 'bravo', kid)
  await waitForPublished()
  world.carry()
  // Both keys signed it; the one that counts here is not known yet.
  await waitUntil(() => world.listQuarantined().length === 1)
  expect(world.listQuarantined()).toMatchObject([{ reason: 'KEY_REVOKED' }])
  expect((await world.readPinned()).key_set).toBeUndefined()
})

describe('a site whose sets do not follow', () => {
  /** As its root key would sign them. */
  async function resigned(set: Jws, change: object): Promise<Jws> {
    const parsed = parseKeySet(set)
    if (!parsed) throw new Error('the set is invalid')
    return await signWithKeys(world.activeKeys('root'), 'keyset', encodeKeySet({ ...parsed, ...change }))
  }
  async function put(version: number, set: Jws): Promise<void> {
    writeKeySet(world.bravo.folder.keys, version, set)
    await world.bravo.restart()
  }

  test('a leap is put away, and the whole chain is taken later', async () => {
    for (const _ of [1, 2]) await world.rotate(readNewestKid())
    const [first] = readSets()
    if (!first) throw new Error('there is no set')
    fs.rmSync(join(world.bravo.folder.keys, 'sets/00000001.json'))
    await waitForPublished()
    world.carry()
    await waitUntil(() => world.listQuarantined().length === 1)
    expect(world.listQuarantined()).toMatchObject([{ reason: 'REFUSED', code: 'invalid' }])
    expect(await readChannel()).toMatchObject({ state: 'open' })
    expect((await world.readPinned()).key_set).toBeUndefined()
    await world.rotate(readNewestKid())
    await put(1, first)
    await waitForPublished()
    world.carry()
    await world.waitForPinned(3)
  })

  test('a set that message keys signed is put away', async () => {
    await world.rotate(readNewestKid())
    const [set] = readSets()
    const parsed = set && parseKeySet(set)
    if (!set || !parsed) throw new Error('there is no set')
    const disguised = world.activeKeys('message').map((key) => {
      return { ...key, public_key: { ...key.public_key, use: 'root' as const } }
    })
    await put(1, await signWithKeys(disguised, 'keyset', encodeKeySet(parsed)))
    await waitForPublished()
    world.carry()
    await waitUntil(() => world.listQuarantined().length === 1)
    expect(world.listQuarantined()).toMatchObject([{ reason: 'REFUSED', code: 'signature_invalid' }])
    expect((await world.readPinned()).key_set).toBeUndefined()
  })

  test('a second history freezes the channel, is audited, and changes no key', async () => {
    await world.rotate(readNewestKid())
    await waitForPublished()
    world.carry()
    const peer = await world.waitForPinned(1)
    const [set] = readSets()
    if (!set) throw new Error('there is no set')
    await put(1, await resigned(set, { created: world.clock.in(1_000) }))
    await waitForPublished()
    world.carry()
    const frozen = await waitUntil(async () => {
      const channel = await readChannel()
      return channel?.state === 'frozen' && channel
    })
    expect(frozen.detail).toContain('two histories')
    expect(await world.readPinned()).toEqual(peer)
    expect(await listAuditRecords('site.keyset.forked')).toMatchObject([
      { event: { target: 'bravo', outcome: 'refused' } },
    ])
    expect(world.alpha.loggedErrors.some((fault) => fault.startsWith('site.keyset.forked'))).toBe(true)
  })
})
