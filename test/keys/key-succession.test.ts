// A peer's keys change by its root keys alone, one version after the other: the attacks that TUF names, on every algorithm.
import { beforeAll, describe, expect, test } from 'vitest'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { signWith } from '../../adapters/keys/jose/signatures.ts'
import { digestOf, type KeySet, keySetIn, payloadOf } from '../../daemon/kernel/key-set.ts'
import type { Pinned } from '../../daemon/kernel/key-succession.ts'
import type { Jws } from '../../daemon/kernel/keys.ts'
import { noon } from './key-world.ts'
import {
  aKey,
  as,
  day_ms,
  following,
  keysOf,
  kinds,
  onDay,
  outcome,
  pinnedByHand,
  revoked,
  setAfter,
  signed,
} from './set-world.ts'

describe.each(kinds)('root keys of $name', (kind) => {
  let roots: StoredKey[]
  let later: StoredKey[]
  let message: StoredKey[]
  let first: Jws
  let second: Jws
  let pinned: Pinned

  beforeAll(async () => {
    roots = await keysOf(kind, 'root')
    later = await keysOf(kind, 'root')
    message = await keysOf(kind, 'message')
    first = await signed(setAfter(undefined, [...roots, ...message]), roots)
    second = await signed(setAfter(first, [...later, ...message]), [...roots, ...later])
    pinned = await pinnedAt(first)
  })

  async function pinnedAt(...chain: readonly Jws[]): Promise<Pinned> {
    const found = await following(pinnedByHand([...roots, ...message], roots.length), chain)
    if (!('pinned' in found)) throw found.refused
    return found.pinned
  }
  const next = (by: readonly StoredKey[], more: Partial<KeySet> = {}, keys = [...later, ...message]) =>
    signed(setAfter(first, keys, more), by)

  test('the first set follows keys that people pinned, and each later one the set before it', async () => {
    expect(pinned).toMatchObject({ version: 1, digest: digestOf(first), root_threshold: roots.length })
    const found = await following(pinned, [second])
    expect(found).toMatchObject({ pinned: { version: 2, digest: digestOf(second), created: onDay(2) } })
    expect('pinned' in found && found.pinned.keys.map(({ kid }) => kid)).toEqual(
      [...later, ...message].map(({ public_key }) => public_key.kid),
    )
  })

  test('a chain is gone through from wherever the peer is pinned, and a repeat changes nothing', async () => {
    const third = await signed(setAfter(second, [...later, ...message]), later)
    const chain = [first, second, third]
    for (const start of [pinnedByHand(roots, roots.length), pinned, await pinnedAt(first, second)]) {
      expect(await outcome(start, chain)).toBe(3)
    }
    const last = await pinnedAt(...chain)
    expect(await following(last, chain)).toEqual({ pinned: last, sets: [] })
  })

  test('rollback: an older version changes nothing, whoever signed it', async () => {
    const now = await pinnedAt(first, second)
    const other = await signed(setAfter(undefined, [...roots], { thresholds: { message: 1, root: 1 } }), [
      ...roots,
      ...later,
    ])
    for (const old of [first, other]) expect(await following(now, [old])).toEqual({ pinned: now, sets: [] })
  })

  test('a version leap is refused, and so is a chain with a hole', async () => {
    const third = await signed(setAfter(second, [...later, ...message]), [...roots, ...later])
    expect(await outcome(pinned, [third])).toBe('invalid')
    expect(await outcome(pinned, [await next([...roots, ...later], { version: 99_999_999 })])).toBe('invalid')
    expect(await outcome(pinnedByHand(roots, roots.length), [second])).toBe('invalid')
    expect(await outcome(pinned, [second, third])).toBe(3)
  })

  test('signed by the new root keys alone, the old ones alone, or message keys, a set is refused', async () => {
    for (const by of [later, roots]) expect(await outcome(pinned, [await next(by)])).toBe('signature_invalid')
    const disguised = message.map((key) => as(key, { use: 'root' }))
    expect(await outcome(pinned, [await next(disguised)])).toBe('signature_invalid')
    await expect(signWith(message, 'keyset', payloadOf(setAfter(first, message)))).rejects.toThrow('does not sign')
    expect(await outcome(pinned, [await next([...roots, ...later])])).toBe(2)
  })

  test('a signature for something else, or over another payload, does not count', async () => {
    const all = [...roots, ...later]
    const set = setAfter(first, [...later, ...message])
    expect(await outcome(pinned, [await signWith(all, 'epoch', payloadOf(set))])).toBe('signature_invalid')
    const { payload } = await signed({ ...set, created: onDay(3) }, all)
    expect(await outcome(pinned, [{ ...(await signed(set, all)), payload }])).toBe('signature_invalid')
  })

  test('one signature fewer than the threshold is too few', async () => {
    const fewer = [...roots.slice(1), ...later]
    expect(await outcome(pinned, [await next(fewer.length > 0 ? fewer : message)])).toBe('signature_invalid')
    const other = [...roots, ...later.slice(1)]
    expect(await outcome(pinned, [await next(other)])).toBe('signature_invalid')
  })

  test('a root key that the pinned set revokes, or that a person here no longer trusts, signs nothing', async () => {
    const [one] = roots
    if (!one) throw new Error('there is no root key')
    const distrusted = { ...pinned, revoked: [one.public_key.fingerprint], keys: pinned.keys.map(without(one)) }
    expect(await outcome(distrusted, [second])).toBe('signature_invalid')
    const ending = await signed(setAfter(first, [...later, revoked(one), ...message]), [...roots, ...later])
    const now = await pinnedAt(first, ending)
    const back = await signed(setAfter(ending, [...later, one, ...message], { thresholds: one_each }), later)
    const byThief = await signed(setAfter(back, [one, ...message], { thresholds: one_each }), [one])
    expect(await outcome(now, [back])).toBe(3)
    // Listed once more by a later set it still counts for nothing, also within one chain.
    expect(await outcome(now, [back, byThief])).toBe('signature_invalid')
    const found = await following(now, [back])
    expect('pinned' in found && found.pinned.revoked).toEqual([one.public_key.fingerprint])
  })

  test('a retired root key signs nothing', async () => {
    const retired = roots.map((key) => as(key, { status: 'retired' }))
    const all = [...later, ...retired, ...message]
    const ending = await signed(setAfter(first, all, { thresholds: one_each }), [...roots, ...later])
    const now = await pinnedAt(first, ending)
    const byOld = await signed(setAfter(ending, [...roots, ...message], { thresholds: one_each }), roots)
    expect(await outcome(now, [byOld])).toBe('signature_invalid')
  })

  test('a root key past its end signs nothing, and an earlier date does not help it', async () => {
    const ending = roots.map((key) => as(key, { not_after: onDay(10) }))
    const base = await signed(setAfter(undefined, [...ending, ...message]), ending)
    const start = await pinnedAt(base)
    const made = (day: number) =>
      signed(setAfter(base, [...later, ...message], { created: onDay(day) }), [...ending, ...later])
    expect(await outcome(start, [await made(11)])).toBe('signature_invalid')
    expect(await outcome(start, [await made(10)])).toBe(2)
    // It may have been under way since day 9, and is believed; not so when nothing can be under way for as long.
    expect(await outcome(start, [await made(9)], noon + 9 * day_ms)).toBe(2)
    expect(await outcome(start, [await made(9)], noon + 11 * day_ms)).toBe('signature_invalid')
  })

  test('a fork is told from a forgery: only root keys that are pinned can split the history', async () => {
    const also = await signed(setAfter(undefined, [...roots, ...message], { created: onDay(0) }), roots)
    expect(await outcome(pinned, [also])).toBe('fork')
    const another = await next([...roots, ...later], { previous: digestOf(also) })
    expect(await outcome(pinned, [another])).toBe('fork')
    const forged = await signed(setAfter(undefined, [...later, ...message]), later)
    expect(await outcome(pinned, [forged])).toBe('signature_invalid')
    const [one] = roots
    const stolen = { ...pinned, keys: pinned.keys.map(one ? without(one) : (key) => key) }
    expect(await outcome(stolen, [also])).toBe('signature_invalid')
  })

  test('one link that does not hold refuses the whole chain', async () => {
    const bad = await signed(
      setAfter(second, [...later, ...message]),
      message.map((key) => as(key, { use: 'root' })),
    )
    expect(await outcome(pinned, [second, bad])).toBe('signature_invalid')
  })

  test('a set of another site or tenant, of no use, or made before the last one is refused', async () => {
    const all = [...roots, ...later]
    for (const more of [{ site: 'charlie' }, { tenant_id: 'tenant-c' }]) {
      expect(await outcome(pinned, [await next(all, more)])).toBe('signature_invalid')
    }
    expect(await outcome(pinned, [await next(all, { created: onDay(0) })])).toBe('invalid')
    expect(await outcome(pinned, [await next(all, {}, later)])).toBe('invalid')
    expect(await outcome(pinned, [await next(all, { thresholds: { message: 16, root: 1 } })])).toBe('invalid')
  })
})

const one_each = { message: 1, root: 1 }

/** The keys as they are pinned when a person has revoked this one. */
function without({ public_key }: StoredKey) {
  return (key: Pinned['keys'][number]) =>
    key.fingerprint === public_key.fingerprint ? { ...key, status: 'revoked' as const } : key
}

describe('a threshold of two', () => {
  test('is not met by one key, whatever it is called and however often it signs', async () => {
    const one = await aKey('root')
    const message = await aKey()
    const alias = as(one, { kid: 'root-other' })
    const lying = as(one, { kid: 'root-lying', fingerprint: 'A'.repeat(43) })
    const after = setAfter(undefined, [one, message])
    for (const names of [
      [one, alias],
      [one, lying],
      [one, alias, lying],
    ]) {
      const set = await signed(after, names)
      expect(await outcome(pinnedByHand(names, 2), [set])).toBe('signature_invalid')
      expect(await outcome(pinnedByHand(names, 1), [set])).toBe(1)
    }
    const twice = await signed(after, [one, one])
    expect(await outcome(pinnedByHand([one], 2), [twice])).toBe('signature_invalid')
    expect(await outcome(pinnedByHand([one], 1), [twice])).toBe(1)
  })

  test('of the new set is not met by one key that it lists twice', async () => {
    const [root, message] = [await aKey('root'), await aKey()]
    const pinned = pinnedByHand([root, message], 1)
    const lying = as(root, { kid: 'root-lying', fingerprint: 'A'.repeat(43) })
    const set = await signed(setAfter(undefined, [root, lying, message]), [root])
    expect(keySetIn(set)?.thresholds.root).toBe(2)
    expect(await outcome(pinned, [set])).toBe('signature_invalid')
    for (const twin of [as(root, { kid: 'root-other' }), as(message, { kid: root.public_key.kid })]) {
      expect(() => payloadOf(setAfter(undefined, [root, twin, message]))).toThrow('once')
    }
  })
})

test('what is not the canonical text of a key set is none', async () => {
  const [root, message] = [await aKey('root'), await aKey()]
  const set = setAfter(undefined, [root, message])
  const text = Buffer.from(payloadOf(set)).toString()
  const texts = [` ${text}`, text.replace('"v":1', '"v":1,"x":0'), text.replace('{', '{"v":1,'), '[]', '\ufeff', '']
  for (const each of texts) {
    const made = await signWith([root], 'keyset', Buffer.from(each))
    expect(keySetIn(made)).toBeUndefined()
    expect(await outcome(pinnedByHand([root, message], 1), [made])).toBe('invalid')
  }
})
