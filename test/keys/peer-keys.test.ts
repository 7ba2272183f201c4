// What is pinned of a peer after its key sets, and after a person here has lost trust in one of its keys.
import { expect, test } from 'vitest'
import { isRefused } from '../../daemon/kernel/errors.ts'
import { type Peer, peer as peerRecord } from '../../daemon/kernel/peer.ts'
import { pinnedOf, repinned, withoutKey } from '../../daemon/kernel/peer-keys.ts'
import { aKey, as, following, onDay, revoked, setAfter, signed } from './set-world.ts'

function peerWith(keys: Peer['keys'], more: Partial<Peer> = {}): Peer {
  const ceiling = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'tenant-b' }
  const about = { name: 'bravo', tenant_id: 'tenant-b', ceiling, enrolled: onDay(0) }
  return peerRecord.parse({ ...about, keys, ...more })
}

async function after(peer: Peer, ...chain: Parameters<typeof following>[1]): Promise<Peer> {
  const found = await following(pinnedOf(peer), chain)
  const next = 'pinned' in found ? repinned(peer, found) : found.refused
  if (isRefused(next)) throw next
  return next
}

test('message and root keys, and both thresholds, become those of the set; a person’s key stays', async () => {
  const [root, message, person] = [await aKey('root'), await aKey(), await aKey('personal')]
  const newer = await aKey('message', 'ML-DSA-87')
  const peer = peerWith([root, message, person].map(({ public_key }) => public_key))
  const thresholds = { message: 2, root: 1 }
  const set = await signed(setAfter(undefined, [root, message, newer], { thresholds }), [root])
  const next = await after(peer, set)
  expect(next).toMatchObject({ threshold: 2, root_threshold: 1, key_set: { version: 1, created: onDay(1) } })
  expect(next.keys).toEqual([root, message, newer, person].map(({ public_key }) => public_key))
  expect(peerRecord.parse(next)).toEqual(next)
  expect(await after(next, set)).toBe(next)
})

test('a key that a set or a person revoked stays revoked, whatever later sets say', async () => {
  const [root, old, stolen, other] = [await aKey('root'), await aKey(), await aKey(), await aKey()]
  const peer = peerWith([root, old, stolen].map(({ public_key }) => public_key))
  const first = await signed(setAfter(undefined, [root, old, stolen, other]), [root])
  const second = await signed(setAfter(first, [root, revoked(old), stolen, other]), [root])
  const third = await signed(setAfter(second, [root, old, stolen, other]), [root])
  const next = await after(withoutKey(peer, stolen.public_key.fingerprint), first, second, third)
  const statuses = Object.fromEntries(next.keys.map(({ kid, status }) => [kid, status]))
  expect(statuses).toEqual({
    [root.public_key.kid]: 'active',
    [old.public_key.kid]: 'revoked',
    [stolen.public_key.kid]: 'revoked',
    [other.public_key.kid]: 'active',
  })
  expect(new Set(next.revoked)).toEqual(new Set([old, stolen].map(({ public_key }) => public_key.fingerprint)))
  // One by one as well as at once.
  const one = await after(await after(withoutKey(peer, stolen.public_key.fingerprint), first), second)
  expect((await after(one, third)).keys).toEqual(next.keys)
})

test('more keys than a record holds are refused, and nothing is lost', async () => {
  const [root, message] = [await aKey('root'), await aKey()]
  const people = Array.from({ length: 62 }, (_, index) => as(message, { kid: `personal-${index}`, use: 'personal' }))
  const keys = [root, message, ...people].map(({ public_key }) => public_key)
  const peer = peerWith(keys)
  const another = await aKey()
  const set = await signed(setAfter(undefined, [root, message, another]), [root])
  await expect(after(peer, set)).rejects.toThrow('more than 64 keys')
  const full = peerWith(keys, { revoked: Array.from({ length: 1_024 }, (_, index) => String(index).padStart(43, 'A')) })
  const ending = await signed(setAfter(undefined, [root, message, revoked(another)]), [root])
  await expect(after(full, ending)).rejects.toThrow('more keys were revoked')
})
