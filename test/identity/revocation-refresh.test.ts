// Shows what looking at revocations and keys now and then means: others' changes count after a look, one's own at once.
import { expect, test } from 'vitest'
import { fileRevocations, prepareRevocations } from '../../adapters/identity/offline/revocations.ts'
import { openKeyFolder } from '../../adapters/keys/jose/key-folder.ts'
import { generateKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import { createFolder, noon } from './identity-fixture.ts'

const at = '2026-01-01T00:00:00Z'
const token = (jti: string) => ({ jti, sub: 'ada', iat: 0 })

function createProvider(every_ms: number) {
  const clock = { ms: 0, every_ms, monotonic: () => clock.ms }
  return clock
}

test('a revocation by another process counts with the next look, and no later', () => {
  const file = prepareRevocations(createFolder())
  const clock = createProvider(5)
  const revocations = fileRevocations(file, clock)
  expect(revocations.isRevoked(token('a'))).toBe(false)
  fileRevocations(file).revoke({ jti: 'a', at, reason: 'lost' })
  clock.ms = 5
  expect(revocations.isRevoked(token('a'))).toBe(true)
})

test('a revocation through the same object counts at once, with those of others before it', () => {
  const file = prepareRevocations(createFolder())
  const revocations = fileRevocations(file, createProvider(1_000))
  expect(revocations.isRevoked(token('a'))).toBe(false)
  fileRevocations(file).revoke({ jti: 'a', at, reason: 'lost' })
  revocations.revoke({ jti: 'b', at, reason: 'lost' })
  expect(['a', 'b', 'c'].map((jti) => revocations.isRevoked(token(jti)))).toEqual([true, true, false])
})

test('a look that fails holds for no time at all', () => {
  const clock = createProvider(1_000)
  const dir = createFolder()
  const revocations = fileRevocations(`${dir}/identity/revoked.jsonl`, clock)
  expect(() => revocations.isRevoked(token('a'))).toThrow('cannot be read')
  prepareRevocations(dir)
  expect(revocations.isRevoked(token('a'))).toBe(false)
})

test('a new key is there with the next look', async () => {
  const dir = `${createFolder()}/keys`
  const clock = createProvider(5)
  await generateKey(dir, { use: 'token', now: noon })
  const keys = openKeyFolder(dir, clock)
  const before = keys.stamp()
  expect(keys.keys()).toHaveLength(1)
  await generateKey(dir, { use: 'token', now: noon + 1_000 })
  clock.ms = 5
  expect(keys.keys()).toHaveLength(2)
  expect(keys.stamp()).not.toBe(before)
})
