// The pinned keys of a peer after its key sets, and after a person here has revoked trust in one of its keys.
import { expect, test } from 'vitest'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { type Peer, peer as peerRecord } from '../../daemon/kernel/identity/peer.ts'
import { pinnedKeySetOf, repinPeer, revokePeerKey } from '../../daemon/roles/site/keyset/peer-keys.ts'
import {
  buildNextKeySet,
  changeKey,
  createUnstoredKey,
  followChain,
  formatDay,
  revokeKey,
  signKeySet,
} from './key-set-fixture.ts'

function buildPeer(keys: Peer['keys'], more: Partial<Peer> = {}): Peer {
  const ceiling = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'tenant-b' }
  const about = { name: 'bravo', tenant_id: 'tenant-b', ceiling, enrolled: formatDay(0) }
  return peerRecord.parse({ ...about, keys, ...more })
}

async function applyKeySets(peer: Peer, ...chain: Parameters<typeof followChain>[1]): Promise<Peer> {
  const found = await followChain(pinnedKeySetOf(peer), chain)
  const next = 'pinned' in found ? repinPeer(peer, found) : found.refusal
  if (isRefusal(next)) throw next
  return next
}

test('message and root keys, and both thresholds, become those of the set; a person’s key stays', async () => {
  const [root, message, person] = [
    await createUnstoredKey('root'),
    await createUnstoredKey(),
    await createUnstoredKey('personal'),
  ]
  const newer = await createUnstoredKey('message', 'ML-DSA-87')
  const peer = buildPeer([root, message, person].map(({ public_key }) => public_key))
  const thresholds = { message: 2, root: 1 }
  const set = await signKeySet(buildNextKeySet(undefined, [root, message, newer], { thresholds }), [root])
  const next = await applyKeySets(peer, set)
  expect(next).toMatchObject({ threshold: 2, root_threshold: 1, key_set: { version: 1, created: formatDay(1) } })
  expect(next.keys).toEqual([root, message, newer, person].map(({ public_key }) => public_key))
  expect(peerRecord.parse(next)).toEqual(next)
  expect(await applyKeySets(next, set)).toBe(next)
})

test('a key revoked by a set or a person stays revoked under later sets', async () => {
  const [root, old, stolen, other] = [
    await createUnstoredKey('root'),
    await createUnstoredKey(),
    await createUnstoredKey(),
    await createUnstoredKey(),
  ]
  const peer = buildPeer([root, old, stolen].map(({ public_key }) => public_key))
  const first = await signKeySet(buildNextKeySet(undefined, [root, old, stolen, other]), [root])
  const second = await signKeySet(buildNextKeySet(first, [root, revokeKey(old), stolen, other]), [root])
  const third = await signKeySet(buildNextKeySet(second, [root, old, stolen, other]), [root])
  const next = await applyKeySets(revokePeerKey(peer, stolen.public_key.fingerprint), first, second, third)
  const statuses = Object.fromEntries(next.keys.map(({ kid, status }) => [kid, status]))
  expect(statuses).toEqual({
    [root.public_key.kid]: 'active',
    [old.public_key.kid]: 'revoked',
    [stolen.public_key.kid]: 'revoked',
    [other.public_key.kid]: 'active',
  })
  expect(new Set(next.revoked)).toEqual(new Set([old, stolen].map(({ public_key }) => public_key.fingerprint)))
  // One by one as well as at once.
  const one = await applyKeySets(await applyKeySets(revokePeerKey(peer, stolen.public_key.fingerprint), first), second)
  expect((await applyKeySets(one, third)).keys).toEqual(next.keys)
})

test('more keys than a record holds are refused, and nothing is lost', async () => {
  const [root, message] = [await createUnstoredKey('root'), await createUnstoredKey()]
  const people = Array.from({ length: 62 }, (_, index) =>
    changeKey(message, { kid: `personal-${index}`, use: 'personal' }),
  )
  const keys = [root, message, ...people].map(({ public_key }) => public_key)
  const peer = buildPeer(keys)
  const another = await createUnstoredKey()
  const set = await signKeySet(buildNextKeySet(undefined, [root, message, another]), [root])
  await expect(applyKeySets(peer, set)).rejects.toThrow('more than 64 keys')
  const full = buildPeer(keys, {
    revoked: Array.from({ length: 1_024 }, (_, index) => String(index).padStart(43, 'A')),
  })
  const ending = await signKeySet(buildNextKeySet(undefined, [root, message, revokeKey(another)]), [root])
  await expect(applyKeySets(full, ending)).rejects.toThrow('revoke more keys than')
})
