// Everything that a source of data keys must keep, as data: each adapter is run against all of it.
import { expect } from 'vitest'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { DataKeys, NewDataKey } from '../../daemon/kernel/secret/data-key.ts'

export type DataKeysFixture = {
  /** The data keys of a role, as after a restart: nothing is cached. */
  keysOf(role: 'resolution' | 'consensus'): DataKeys
  /** The site has another current wrapping key. */
  rotate(): Promise<void>
  /** The wrapping keys are gone, or are back. */
  hideWrappingKeys(isHidden: boolean): void
}

type DataKeysRequirement = {
  readonly id: string
  readonly description: string
  readonly verify: (world: DataKeysFixture) => Promise<void>
}

const requirement = (id: string, description: string, verify: DataKeysRequirement['verify']): DataKeysRequirement => ({
  id: `data-keys/${id}`,
  description,
  verify,
})

const wrappedPart = ({ key: _key, ...wrapped }: NewDataKey) => wrapped

async function codeOf(answer: Promise<unknown>): Promise<string> {
  try {
    await answer
    return 'done'
  } catch (error) {
    if (isRefusal(error)) return error.code
    throw error
  }
}

export const dataKeysRequirements: readonly DataKeysRequirement[] = [
  requirement('round-trip', 'a wrapped key opens to the key that was created', async ({ keysOf }) => {
    const created = await keysOf('resolution').create('fusion_exchange')
    const opened = await keysOf('resolution').open('fusion_exchange', wrappedPart(created))
    expect(Buffer.from(opened.key)).toEqual(Buffer.from(created.key))
    expect(opened.is_current).toBe(true)
  }),
  requirement('random', 'keys are 32 bytes, no two are equal, and no wrapped key shows its key', async ({ keysOf }) => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => keysOf('resolution').create('fusion_exchange')))
    for (const { key, wrapped } of keys) {
      expect(key.length).toBe(32)
      expect(Buffer.from(wrapped, 'base64url').includes(Buffer.from(key))).toBe(false)
    }
    expect(new Set(keys.map(({ key }) => Buffer.from(key).toString('hex'))).size).toBe(keys.length)
    expect(new Set(keys.map(({ id }) => id)).size).toBe(keys.length)
    expect(new Set(keys.map(({ wrapped }) => wrapped)).size).toBe(keys.length)
  }),
  requirement('scope', 'a key opens for its role and its collection alone', async ({ keysOf }) => {
    const wrapped = wrappedPart(await keysOf('resolution').create('fusion_exchange'))
    expect(await codeOf(keysOf('resolution').open('entity_record', wrapped))).toBe('invalid')
    expect(['invalid', 'forbidden']).toContain(await codeOf(keysOf('consensus').open('fusion_exchange', wrapped)))
  }),
  requirement('altered', 'a wrapped key that was altered, or has another id, does not open', async ({ keysOf }) => {
    const created = wrappedPart(await keysOf('resolution').create('fusion_exchange'))
    const open = (change: object) => codeOf(keysOf('resolution').open('fusion_exchange', { ...created, ...change }))
    for (const at of [0, 20, 40, 79]) {
      const other = created.wrapped[at] === 'A' ? 'B' : 'A'
      expect(await open({ wrapped: `${created.wrapped.slice(0, at)}${other}${created.wrapped.slice(at + 1)}` })).toBe(
        'invalid',
      )
    }
    expect(await open({ id: `dk_${'0'.repeat(32)}` })).toBe('invalid')
    expect(await open({ wrapping_key: `secret-${'A'.repeat(16)}` })).toBe('not_found')
  }),
  requirement('rotation', 'after a rotation older keys open as keys to replace', async ({ keysOf, rotate }) => {
    const before = await keysOf('resolution').create('fusion_exchange')
    const open = keysOf('resolution')
    await rotate()
    const opened = await open.open('fusion_exchange', wrappedPart(before))
    expect(Buffer.from(opened.key)).toEqual(Buffer.from(before.key))
    expect(opened.is_current).toBe(false)
    const after = await open.create('fusion_exchange')
    expect(after.wrapping_key).not.toBe(before.wrapping_key)
    expect((await open.open('fusion_exchange', wrappedPart(after))).is_current).toBe(true)
  }),
  requirement(
    'absent',
    'without wrapping keys nothing is created, and all is as before once they are back',
    async (world) => {
      const created = await world.keysOf('resolution').create('fusion_exchange')
      world.hideWrappingKeys(true)
      try {
        expect(await codeOf(world.keysOf('resolution').create('fusion_exchange'))).toBe('unavailable')
        expect(await codeOf(world.keysOf('resolution').open('fusion_exchange', wrappedPart(created)))).toBe('not_found')
      } finally {
        world.hideWrappingKeys(false)
      }
      const opened = await world.keysOf('resolution').open('fusion_exchange', wrappedPart(created))
      expect(Buffer.from(opened.key)).toEqual(Buffer.from(created.key))
    },
  ),
]
