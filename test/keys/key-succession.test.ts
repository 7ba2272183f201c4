// A peer's keys change by its root keys alone, one version after the other: the attacks that TUF names, on every algorithm.
import { beforeAll, describe, expect, test } from 'vitest'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { signWithKeys } from '../../adapters/keys/jose/signatures.ts'
import {
  digestKeySet,
  encodeKeySet,
  type KeySet,
  parseKeySet,
  readKeySet,
} from '../../daemon/kernel/cryptography/key-set.ts'
import type { Jws } from '../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../daemon/kernel/encoding/canonical-json.ts'
import type { PinnedKeySet } from '../../daemon/shared/key-set/key-succession.ts'
import { noon } from './key-fixture.ts'
import {
  buildNextKeySet,
  changeKey,
  createKeys,
  createUnstoredKey,
  day_ms,
  describeSuccession,
  followChain,
  formatDay,
  keyAlgorithmCases,
  pinByHand,
  revokeKey,
  signKeySet,
} from './key-set-fixture.ts'

describe.each(keyAlgorithmCases)('root keys of $name', (kind) => {
  let roots: StoredKey[]
  let later: StoredKey[]
  let message: StoredKey[]
  let first: Jws
  let second: Jws
  let pinned: PinnedKeySet

  beforeAll(async () => {
    roots = await createKeys(kind, 'root')
    later = await createKeys(kind, 'root')
    message = await createKeys(kind, 'message')
    first = await signKeySet(buildNextKeySet(undefined, [...roots, ...message]), roots)
    second = await signKeySet(buildNextKeySet(first, [...later, ...message]), [...roots, ...later])
    pinned = await pinnedAt(first)
  })

  async function pinnedAt(...chain: readonly Jws[]): Promise<PinnedKeySet> {
    const found = await followChain(pinByHand([...roots, ...message], roots.length), chain)
    if (!('pinned' in found)) throw found.refusal
    return found.pinned
  }
  const next = (by: readonly StoredKey[], more: Partial<KeySet> = {}, keys = [...later, ...message]) =>
    signKeySet(buildNextKeySet(first, keys, more), by)

  test('the first set follows keys that people pinned, and each later one the set before it', async () => {
    expect(pinned).toMatchObject({ version: 1, digest: digestKeySet(first), root_threshold: roots.length })
    const found = await followChain(pinned, [second])
    expect(found).toMatchObject({ pinned: { version: 2, digest: digestKeySet(second), created: formatDay(2) } })
    expect('pinned' in found && found.pinned.keys.map(({ kid }) => kid)).toEqual(
      [...later, ...message].map(({ public_key }) => public_key.kid),
    )
  })

  test('a chain is gone through from wherever the peer is pinned, and a repeat changes nothing', async () => {
    const third = await signKeySet(buildNextKeySet(second, [...later, ...message]), later)
    const chain = [first, second, third]
    for (const start of [pinByHand(roots, roots.length), pinned, await pinnedAt(first, second)]) {
      expect(await describeSuccession(start, chain)).toBe(3)
    }
    const last = await pinnedAt(...chain)
    expect(await followChain(last, chain)).toEqual({ pinned: last, sets: [] })
  })

  test('rollback: an older version changes nothing, with any signature', async () => {
    const now = await pinnedAt(first, second)
    const other = await signKeySet(buildNextKeySet(undefined, [...roots], { thresholds: { message: 1, root: 1 } }), [
      ...roots,
      ...later,
    ])
    for (const old of [first, other]) expect(await followChain(now, [old])).toEqual({ pinned: now, sets: [] })
  })

  test('a version leap is refused, and so is a chain with a hole', async () => {
    const third = await signKeySet(buildNextKeySet(second, [...later, ...message]), [...roots, ...later])
    expect(await describeSuccession(pinned, [third])).toBe('invalid')
    expect(await describeSuccession(pinned, [await next([...roots, ...later], { version: 99_999_999 })])).toBe(
      'invalid',
    )
    expect(await describeSuccession(pinByHand(roots, roots.length), [second])).toBe('invalid')
    expect(await describeSuccession(pinned, [second, third])).toBe(3)
  })

  test('signed by the new root keys alone, the old ones alone, or message keys, a set is refused', async () => {
    for (const by of [later, roots])
      expect(await describeSuccession(pinned, [await next(by)])).toBe('signature_invalid')
    const disguised = message.map((key) => changeKey(key, { use: 'root' }))
    expect(await describeSuccession(pinned, [await next(disguised)])).toBe('signature_invalid')
    await expect(signWithKeys(message, 'keyset', encodeKeySet(buildNextKeySet(first, message)))).rejects.toThrow(
      'does not sign',
    )
    expect(await describeSuccession(pinned, [await next([...roots, ...later])])).toBe(2)
  })

  test('a signature for something else, or over another payload, does not count', async () => {
    const all = [...roots, ...later]
    const set = buildNextKeySet(first, [...later, ...message])
    expect(await describeSuccession(pinned, [await signWithKeys(all, 'epoch', encodeKeySet(set))])).toBe(
      'signature_invalid',
    )
    const { payload } = await signKeySet({ ...set, created: formatDay(3) }, all)
    expect(await describeSuccession(pinned, [{ ...(await signKeySet(set, all)), payload }])).toBe('signature_invalid')
  })

  test('one signature fewer than the threshold is too few', async () => {
    const fewer = [...roots.slice(1), ...later]
    expect(await describeSuccession(pinned, [await next(fewer.length > 0 ? fewer : message)])).toBe('signature_invalid')
    const other = [...roots, ...later.slice(1)]
    expect(await describeSuccession(pinned, [await next(other)])).toBe('signature_invalid')
  })

  test('a root key that the pinned set revokes, or that a person here no longer trusts, signs nothing', async () => {
    const [one] = roots
    if (!one) throw new Error('there is no root key')
    const distrusted = {
      ...pinned,
      revoked: [one.public_key.fingerprint],
      keys: pinned.keys.map(listPinnedWithout(one)),
    }
    expect(await describeSuccession(distrusted, [second])).toBe('signature_invalid')
    const ending = await signKeySet(buildNextKeySet(first, [...later, revokeKey(one), ...message]), [
      ...roots,
      ...later,
    ])
    const now = await pinnedAt(first, ending)
    const back = await signKeySet(buildNextKeySet(ending, [...later, one, ...message], { thresholds: one_each }), later)
    const byThief = await signKeySet(buildNextKeySet(back, [one, ...message], { thresholds: one_each }), [one])
    expect(await describeSuccession(now, [back])).toBe(3)
    // Listed once more by a later set it still counts for nothing, also within one chain.
    expect(await describeSuccession(now, [back, byThief])).toBe('signature_invalid')
    const found = await followChain(now, [back])
    expect('pinned' in found && found.pinned.revoked).toEqual([one.public_key.fingerprint])
  })

  test('a retired root key signs nothing', async () => {
    const retired = roots.map((key) => changeKey(key, { status: 'retired' }))
    const all = [...later, ...retired, ...message]
    const ending = await signKeySet(buildNextKeySet(first, all, { thresholds: one_each }), [...roots, ...later])
    const now = await pinnedAt(first, ending)
    const byOld = await signKeySet(buildNextKeySet(ending, [...roots, ...message], { thresholds: one_each }), roots)
    expect(await describeSuccession(now, [byOld])).toBe('signature_invalid')
  })

  test('a root key past its end signs nothing, and an earlier date does not help it', async () => {
    const ending = roots.map((key) => changeKey(key, { not_after: formatDay(10) }))
    const base = await signKeySet(buildNextKeySet(undefined, [...ending, ...message]), ending)
    const start = await pinnedAt(base)
    const made = (day: number) =>
      signKeySet(buildNextKeySet(base, [...later, ...message], { created: formatDay(day) }), [...ending, ...later])
    expect(await describeSuccession(start, [await made(11)])).toBe('signature_invalid')
    expect(await describeSuccession(start, [await made(10)])).toBe(2)
    // It may have been under way since day 9, and is believed; not so when nothing can be under way for as long.
    expect(await describeSuccession(start, [await made(9)], noon + 9 * day_ms)).toBe(2)
    expect(await describeSuccession(start, [await made(9)], noon + 11 * day_ms)).toBe('signature_invalid')
  })

  test('distinguishes a fork from a forgery: only pinned root keys can split the history', async () => {
    const also = await signKeySet(buildNextKeySet(undefined, [...roots, ...message], { created: formatDay(0) }), roots)
    expect(await describeSuccession(pinned, [also])).toBe('fork')
    const another = await next([...roots, ...later], { previous: digestKeySet(also) })
    expect(await describeSuccession(pinned, [another])).toBe('fork')
    const forged = await signKeySet(buildNextKeySet(undefined, [...later, ...message]), later)
    expect(await describeSuccession(pinned, [forged])).toBe('signature_invalid')
    const [one] = roots
    const stolen = { ...pinned, keys: pinned.keys.map(one ? listPinnedWithout(one) : (key) => key) }
    expect(await describeSuccession(stolen, [also])).toBe('signature_invalid')
  })

  test('one link that does not hold refuses the whole chain', async () => {
    const bad = await signKeySet(
      buildNextKeySet(second, [...later, ...message]),
      message.map((key) => changeKey(key, { use: 'root' })),
    )
    expect(await describeSuccession(pinned, [second, bad])).toBe('signature_invalid')
  })

  test('a set of another site or tenant, of no use, or made before the last one is refused', async () => {
    const all = [...roots, ...later]
    for (const more of [{ site: 'charlie' }, { tenant_id: 'tenant-c' }]) {
      expect(await describeSuccession(pinned, [await next(all, more)])).toBe('signature_invalid')
    }
    expect(await describeSuccession(pinned, [await next(all, { created: formatDay(0) })])).toBe('invalid')
    expect(await describeSuccession(pinned, [await next(all, {}, later)])).toBe('invalid')
    expect(await describeSuccession(pinned, [await next(all, { thresholds: { message: 16, root: 1 } })])).toBe(
      'invalid',
    )
  })
})

const one_each = { message: 1, root: 1 }

/** The keys as they are pinned when a person has revoked this one. */
function listPinnedWithout({ public_key }: StoredKey) {
  return (key: PinnedKeySet['keys'][number]) =>
    key.fingerprint === public_key.fingerprint ? { ...key, status: 'revoked' as const } : key
}

describe('a threshold of two', () => {
  test('one key never meets it, under any name and with any number of signatures', async () => {
    const one = await createUnstoredKey('root')
    const message = await createUnstoredKey()
    const alias = changeKey(one, { kid: 'root-other' })
    const lying = changeKey(one, { kid: 'root-lying', fingerprint: 'A'.repeat(43) })
    const after = buildNextKeySet(undefined, [one, message])
    for (const names of [
      [one, alias],
      [one, lying],
      [one, alias, lying],
    ]) {
      const set = await signKeySet(after, names)
      expect(await describeSuccession(pinByHand(names, 2), [set])).toBe('signature_invalid')
      expect(await describeSuccession(pinByHand(names, 1), [set])).toBe(1)
    }
    const twice = await signKeySet(after, [one, one])
    expect(await describeSuccession(pinByHand([one], 2), [twice])).toBe('signature_invalid')
    expect(await describeSuccession(pinByHand([one], 1), [twice])).toBe(1)
  })

  test('of the new set is not met by one key that it lists twice', async () => {
    const [root, message] = [await createUnstoredKey('root'), await createUnstoredKey()]
    const pinned = pinByHand([root, message], 1)
    const lying = changeKey(root, { kid: 'root-lying', fingerprint: 'A'.repeat(43) })
    const payload = Buffer.from(canonicalJson(buildNextKeySet(undefined, [root, lying, message])))
    const set = await signWithKeys([root], 'keyset', payload)
    expect(readKeySet(set)).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(
        `keys.1.jwk: must have the fingerprint of the key, which is ${root.public_key.fingerprint}`,
      ),
    })
    expect(await describeSuccession(pinned, [set])).toBe('invalid')
    for (const twin of [changeKey(root, { kid: 'root-other' }), changeKey(message, { kid: root.public_key.kid })]) {
      expect(() => encodeKeySet(buildNextKeySet(undefined, [root, twin, message]))).toThrow('once')
    }
  })
})

test('text other than the canonical text of a key set is invalid', async () => {
  const [root, message] = [await createUnstoredKey('root'), await createUnstoredKey()]
  const set = buildNextKeySet(undefined, [root, message])
  const text = Buffer.from(encodeKeySet(set)).toString()
  const texts = [` ${text}`, text.replace('"v":1', '"v":1,"x":0'), text.replace('{', '{"v":1,'), '[]', '\ufeff', '']
  for (const each of texts) {
    const made = await signWithKeys([root], 'keyset', Buffer.from(each))
    expect(parseKeySet(made)).toBeUndefined()
    expect(await describeSuccession(pinByHand([root, message], 1), [made])).toBe('invalid')
  }
})
