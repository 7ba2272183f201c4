// A change of keys that was cut short in the middle is finished by typing the command again; peers follow all the same.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readKeyFiles, writeKeyFile } from '../../adapters/keys/jose/key-files.ts'
import { generateKey, listKeys, revokeKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import { readKeySets } from '../../adapters/keys/jose/key-set-files.ts'
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { digestKeySet, parseKeySet } from '../../daemon/kernel/cryptography/key-set.ts'
import { draftKeySet, publishKeySet } from '../../daemon/offline/keys/key-set-commands.ts'
import { signKeySetDraft } from '../../daemon/offline/keys/key-set-signing.ts'
import { generateSiteKey, revokeSiteKey, rotateSiteKey } from '../../daemon/offline/keys/site-keys.ts'
import { pinKeySet } from '../../daemon/shared/key-set/key-succession.ts'
import { followChain } from '../keys/key-set-fixture.ts'
import { createTestSite, type TestSite } from '../support/site/test-site.ts'

let world: TestSite
beforeEach(async () => {
  world = await createTestSite()
  await rotateSiteKey(world.folder, {}, active('message'), { now: later() })
})
afterEach(() => world.end())

function later(): number {
  world.clock.advance(1_000)
  return world.clock.now()
}
const dir = () => world.folder.keys
const active = (use: string) => listKeys(dir()).find((key) => key.use === use && key.status === 'active')?.kid ?? ''
const sets = () => readKeySets(dir())

/** The version that a peer has who pinned the first set and then hears of all others. */
async function readPeerVersion(): Promise<number> {
  const [first, ...others] = sets()
  const set = first && parseKeySet(first)
  if (!first || !set) throw new Error('there is no set')
  const found = await followChain(pinKeySet(set, digestKeySet(first)), others)
  if (!('pinned' in found)) throw found.refusal
  return found.pinned.version
}

test('a root key that has retired already still signs the set that says so', async () => {
  const old = readKeyFiles(dir()).find(({ public_key }) => public_key.use === 'root')
  if (!old) throw new Error('the site has no root key')
  const newer = await generateKey(dir(), { use: 'root', now: later() })
  writeKeyFile(dir(), { ...old, public_key: { ...old.public_key, status: 'retired' } })
  expect(await rotateSiteKey(world.folder, {}, active('message'), { now: later() })).toMatchObject({ key_set: 2 })
  const [, second] = sets()
  const roots = (second ? (parseKeySet(second)?.keys ?? []) : []).filter(({ use }) => use === 'root')
  expect(roots.map(({ kid }) => kid)).toEqual([newer.kid])
  expect(await readPeerVersion()).toBe(2)
})

test('announces a key as revoked when its private half is already gone', async () => {
  const kid = active('message')
  revokeKey(dir(), kid)
  const again = { now: later(), replace: false }
  expect(await revokeSiteKey(world.folder, {}, kid, again)).toMatchObject({
    revoked: { status: 'revoked' },
    key_set: 2,
  })
  const [, second] = sets()
  const listed = (second ? parseKeySet(second)?.keys : [])?.find((key) => key.kid === kid)
  expect(listed?.status).toBe('revoked')
  expect(await readPeerVersion()).toBe(2)
  // Announced once: later sets need not repeat it.
  await rotateSiteKey(world.folder, {}, active('message'), { now: later() })
  const third = sets().at(-1)
  expect((third ? parseKeySet(third)?.keys : [])?.some((key) => key.kid === kid)).toBe(false)
  expect(await readPeerVersion()).toBe(3)
})

test('a key that is revoked after a draft was made is not put in force by it', async () => {
  const terms = { message_threshold: undefined, root_threshold: undefined, overlap_s: undefined }
  const made = await draftKeySet(world.folder, {}, { ...terms, retire: [], revoke: [], roots: [], now: later() })
  const { draft: signed } = await signKeySetDraft(dir(), { draft: made.draft, instead: false })
  revokeKey(dir(), active('message'))
  await expect(publishKeySet(world.folder, {}, signed, later())).rejects.toThrow(
    /is not in this site|was revoked since/,
  )
  expect(sets()).toHaveLength(1)
})

test('a set never lists a key without its private half at this site, with any signer', async () => {
  const elsewhere = await createTestSite({ name: 'charlie' })
  try {
    const stranger = readKeyFiles(elsewhere.folder.keys).find(({ public_key }) => public_key.use === 'message')
    if (!stranger) throw new Error('the other site has no key')
    writeKeyFile(dir(), stranger)
    const terms = { message_threshold: undefined, root_threshold: undefined, overlap_s: undefined }
    const made = await draftKeySet(world.folder, {}, { ...terms, retire: [], revoke: [], roots: [], now: later() })
    const { draft: signed } = await signKeySetDraft(dir(), { draft: made.draft, instead: false })
    revokeKey(dir(), stranger.public_key.kid)
    await expect(publishKeySet(world.folder, {}, signed, later())).rejects.toThrow('is not in this site')
  } finally {
    await elsewhere.end()
  }
})

test('more keys than a set can hold are refused before anybody signs', async () => {
  for (let made = 0; made < 14; made++) {
    await generateKey(dir(), { use: 'root', algorithm: 'ML-DSA-87', now: later() })
  }
  const terms = { message_threshold: undefined, root_threshold: undefined, overlap_s: undefined }
  const drafted = draftKeySet(world.folder, {}, { ...terms, retire: [], revoke: [], roots: [], now: later() })
  await expect(drafted).rejects.toThrow('too many or too large')
  expect(sets()).toHaveLength(1)
})

test('so many message keys sign that an envelope holds them, and no more are made', async () => {
  for (const _ of Array(6)) await generateSiteKey(world.folder, {}, 'message', { algorithm: 'ML-DSA-87', now: later() })
  const kids = listKeys(dir()).map(({ kid }) => kid)
  await expect(generateSiteKey(world.folder, {}, 'message', { now: later() })).rejects.toThrow(
    '8 message keys are active',
  )
  await expect(rotateSiteKey(world.folder, {}, active('message'), { now: later() })).rejects.toThrow('8 message keys')
  expect(listKeys(dir()).map(({ kid }) => kid)).toEqual(kids)
  expect(await generateSiteKey(world.folder, {}, 'root', { now: later() })).toMatchObject({ use: 'root' })
  const message = { parents: Array(64).fill('b'.repeat(80)), rest: 'x'.repeat(2_000) }
  const signatures = joseSignatures({ dir: dir(), now: () => world.clock.now() })
  const envelope = await signatures.sign('statement', Buffer.from(JSON.stringify(message)))
  expect(envelope.signatures).toHaveLength(8)
  expect(JSON.stringify(envelope).length).toBeLessThan(65_536)
})
