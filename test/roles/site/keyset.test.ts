// A site tells its peers of every key set, and a peer's set counts once it follows: exactly once, whatever is lost on the way.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readKeySets, writeKeySet } from '../../../adapters/keys/jose/key-set-files.ts'
import { signWith } from '../../../adapters/keys/jose/signatures.ts'
import { revoke } from '../../../daemon/boot/offline/peer-keys.ts'
import { remove } from '../../../daemon/boot/offline/site-peers.ts'
import { keySetIn, payloadOf } from '../../../daemon/kernel/key-set.ts'
import { type Jws, keyAlgorithm } from '../../../daemon/kernel/keys.ts'
import { list as channels } from '../../../daemon/roles/site/channel/list.ts'
import { type KeyHolders, keyHolders, pin } from '../../support/key-holders.ts'
import { until } from '../../support/site-world.ts'

let world: KeyHolders
beforeEach(async () => {
  world = await keyHolders()
})
afterEach(() => world.end())

/** Bravo has published so many messages that nobody has carried yet. */
async function told(messages = 1): Promise<void> {
  world.bravo.wake('site', 'keysets')
  await until(() => world.ready().length === 2 * messages)
}

const newest = () => world.held('message').at(-1)?.public_key.kid ?? ''
const sets = () => readKeySets(world.bravo.folder.keys)

async function audited(action: string): Promise<unknown[]> {
  const token = await world.alpha.token({ subject: 'carl', roles: ['auditor'] })
  const { json } = await world.alpha.call('site', 'GET', `/api/v2/audit?action=${action}`, undefined, { token })
  return (json as { items: unknown[] }).items
}

async function channel() {
  const operator = await world.alpha.as({ roles: ['operator'] })
  const { items } = await operator.ok(channels, {})
  return items.find(({ direction }) => direction === 'in')
}

test.each(keyAlgorithm.options)('a rotation to %s reaches the peer, who has both keys then', async (algorithm) => {
  const before = await world.pinned()
  const old = newest()
  expect(await world.rotate(old, algorithm)).toBe(1)
  await told()
  expect(world.carry()).toBe(1)
  const { keys, key_set, root_threshold, revoked, ...rest } = await world.pinnedAt(1)
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
  expect(await audited('site.peer.repin')).toMatchObject([{ event: { target: 'bravo', detail: { version: 1 } } }])
})

describe('exactly once', () => {
  test('a restart sends the same message again only to a peer who was not told', async () => {
    await world.rotate(newest())
    await told()
    await world.bravo.restart()
    world.bravo.wake('site', 'keysets')
    await world.rotate(newest())
    await told(2)
    world.carry()
    await world.pinnedAt(2)
    await until(async () => (await channel())?.received === 2)
    expect(await audited('site.peer.repin')).toHaveLength(2)
  })

  test('what comes twice, and an older version after a newer one, changes nothing', async () => {
    await world.rotate(newest())
    await told()
    await world.rotate(newest())
    await told(2)
    // The second first; it carries the version before it.
    world.carry((file) => file.includes('0001.'))
    const peer = await world.pinnedAt(2)
    await until(async () => (await channel())?.gaps === 1)
    expect(await audited('site.peer.repin')).toHaveLength(1)
    const operator = await world.bravo.as({ roles: ['operator'] })
    const { resend } = await import('../../../daemon/roles/site/message/resend.ts')
    await operator.ok(resend, { peer: 'alpha', epoch: 1, first: 1, last: 1 })
    world.carry()
    await until(async () => (await channel())?.gaps === 0)
    expect(await world.pinned()).toEqual(peer)
    expect(await audited('site.peer.repin')).toHaveLength(1)
    expect(world.quarantined()).toEqual([])
  })
})

test('versions that were all lost come with the next, and nothing waits for the gap', async () => {
  for (const version of [1, 2, 3]) {
    expect(await world.rotate(newest())).toBe(version)
    await told(version)
  }
  world.carry((file) => !file.includes('0003.'))
  expect((await world.pinnedAt(3)).keys.filter(({ use }) => use === 'message')).toHaveLength(4)
  expect(await audited('site.peer.repin')).toMatchObject([{ event: { detail: { version: 3 } } }])
})

test('a peer that is enrolled later is told as well', async () => {
  await remove(world.bravo.folder, {}, 'alpha')
  expect(await world.rotate(newest())).toBe(1)
  world.bravo.wake('site', 'keysets')
  expect(world.ready()).toEqual([])
  await pin(world.bravo, world.alpha)
  await told()
  world.carry()
  await world.pinnedAt(1)
})

test('a key that people here revoked stays so, whatever the peer’s sets say', async () => {
  const kid = newest()
  await world.rotate(kid)
  await revoke(world.alpha.folder, {}, 'bravo', kid)
  await told()
  world.carry()
  // Both keys signed it; the one that counts here is not known yet.
  await until(() => world.quarantined().length === 1)
  expect(world.quarantined()).toMatchObject([{ reason: 'KEY_REVOKED' }])
  expect((await world.pinned()).key_set).toBeUndefined()
})

describe('a site whose sets do not follow', () => {
  /** As its root key would sign them. */
  async function resigned(set: Jws, change: object): Promise<Jws> {
    const said = keySetIn(set)
    if (!said) throw new Error('that is no set')
    return await signWith(world.held('root'), 'keyset', payloadOf({ ...said, ...change }))
  }
  async function put(version: number, set: Jws): Promise<void> {
    writeKeySet(world.bravo.folder.keys, version, set)
    await world.bravo.restart()
  }

  test('a leap is put away, and the whole chain is taken later', async () => {
    for (const _ of [1, 2]) await world.rotate(newest())
    const [first] = sets()
    if (!first) throw new Error('there is no set')
    fs.rmSync(join(world.bravo.folder.keys, 'sets/00000001.json'))
    await told()
    world.carry()
    await until(() => world.quarantined().length === 1)
    expect(world.quarantined()).toMatchObject([{ reason: 'REFUSED', code: 'invalid' }])
    expect(await channel()).toMatchObject({ state: 'open' })
    expect((await world.pinned()).key_set).toBeUndefined()
    await world.rotate(newest())
    await put(1, first)
    await told()
    world.carry()
    await world.pinnedAt(3)
  })

  test('a set that message keys signed is put away', async () => {
    await world.rotate(newest())
    const [set] = sets()
    const said = set && keySetIn(set)
    if (!set || !said) throw new Error('there is no set')
    const disguised = world.held('message').map((key) => {
      return { ...key, public_key: { ...key.public_key, use: 'root' as const } }
    })
    await put(1, await signWith(disguised, 'keyset', payloadOf(said)))
    await told()
    world.carry()
    await until(() => world.quarantined().length === 1)
    expect(world.quarantined()).toMatchObject([{ reason: 'REFUSED', code: 'signature_invalid' }])
    expect((await world.pinned()).key_set).toBeUndefined()
  })

  test('a second history freezes the channel, is audited, and changes no key', async () => {
    await world.rotate(newest())
    await told()
    world.carry()
    const peer = await world.pinnedAt(1)
    const [set] = sets()
    if (!set) throw new Error('there is no set')
    await put(1, await resigned(set, { created: world.clock.in(1_000) }))
    await told()
    world.carry()
    await until(async () => (await channel())?.state === 'frozen')
    expect(await channel()).toMatchObject({ detail: expect.stringContaining('two histories') })
    expect(await world.pinned()).toEqual(peer)
    expect(await audited('site.keyset.forked')).toMatchObject([{ event: { target: 'bravo', outcome: 'refused' } }])
    expect(world.alpha.faults.some((fault) => fault.startsWith('site.keyset.forked'))).toBe(true)
  })
})
