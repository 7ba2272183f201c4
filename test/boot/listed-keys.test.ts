// The public list and the private keys: after an interruption at any point between them, no key counts that should not.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { readKeyFiles } from '../../adapters/keys/jose/key-files.ts'
import { generateKey, revokeKey, rotateKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import type { TokenKey } from '../../adapters/keys/jose/token-keys.ts'
import { findSigner, readListedKeys, repairKeyList, updateKeyList } from '../../daemon/boot/identity/token-key-list.ts'
import { roleKeysFolder, type SiteFolder, siteFolder, tokenKeysFile } from '../../daemon/boot/storage/site-folder.ts'
import * as siteKeys from '../../daemon/offline/keys/site-keys.ts'
import { makeSite } from '../../daemon/offline/site/make-site.ts'
import { roles } from '../../daemon/roles.ts'

const now = Date.parse('2026-01-01T12:00:00Z')
const base = fs.mkdtempSync(path.join(tmpdir(), 'listed-'))
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

let folder: SiteFolder
let folderCount = 0
beforeEach(async () => {
  folder = siteFolder(path.join(base, `site-${++folderCount}`))
  await makeSite(folder, { template: 'demo', name: 'alpha', tenant_id: 'a', port_base: 0, algorithm: undefined, now })
})

const summariseKeys = (keys: readonly TokenKey[]) =>
  keys.map(({ kid, status, only_subject = 'any' }) => [kid, status, only_subject])
const own = () => readListedKeys(folder).filter(({ only_subject }) => only_subject === undefined)
const ofConsensus = () => readListedKeys(folder).filter(({ only_subject }) => only_subject === 'role:consensus')
const siteSigner = () => findSigner(readKeyFiles(folder.keys), readListedKeys(folder))?.public_key.kid
const roleSigner = () =>
  findSigner(readKeyFiles(roleKeysFolder(folder, 'consensus')), readListedKeys(folder), 'role:consensus')?.public_key
    .kid
const kidOf = (keys: readonly TokenKey[]) => keys[0]?.kid ?? ''

test('a new site lists its token key and one for each role', () => {
  const subjects = [undefined, ...roles.map(({ name }) => `role:${name}`)]
  expect(readListedKeys(folder).map(({ only_subject }) => only_subject)).toEqual(subjects)
  expect(siteSigner()).toBe(kidOf(own()))
  expect(roleSigner()).toBe(kidOf(ofConsensus()))
})

test('a key that was made and not listed signs nothing; the next opening lists it', async () => {
  const [before, key] = [siteSigner(), await generateKey(folder.keys, { use: 'token', now: now + 1 })]
  expect(siteSigner()).toBe(before)
  await repairKeyList(folder)
  expect(siteSigner()).toBe(key.kid)
})

test('a rotation that was cut short is listed at the next opening, and the keys of roles stay', async () => {
  const roles = readListedKeys(folder).filter(({ only_subject }) => only_subject)
  const { created, retired } = await rotateKey(folder.keys, kidOf(own()), { now: now + 1 })
  await repairKeyList(folder)
  expect(summariseKeys(own())).toEqual([
    [retired.kid, 'retired', 'any'],
    [created.kid, 'active', 'any'],
  ])
  expect(readListedKeys(folder).filter(({ only_subject }) => only_subject)).toEqual(roles)
})

test('a revocation that was cut short stays one: the list knew first, and its word is not taken back', async () => {
  const kid = kidOf(own())
  await updateKeyList(folder, (listed) => listed.map((key) => (key.kid === kid ? { ...key, status: 'revoked' } : key)))
  await repairKeyList(folder)
  expect(summariseKeys(own())).toEqual([[kid, 'revoked', 'any']])
  expect(siteSigner()).toBeUndefined()
})

test('a key revoked by its file alone is revoked in the list at the next opening', async () => {
  revokeKey(folder.keys, kidOf(own()))
  await repairKeyList(folder)
  expect(own().map(({ status }) => status)).toEqual(['revoked'])
})

test('a list that is lost comes back without the keys of roles, which nobody vouches for any more', async () => {
  fs.rmSync(tokenKeysFile(folder))
  expect(roleSigner()).toBeUndefined()
  await repairKeyList(folder)
  expect(summariseKeys(readListedKeys(folder))).toEqual([[expect.any(String), 'active', 'any']])
  await siteKeys.generateSiteKey(folder, {}, 'token', { now: now + 1 }, 'consensus')
  expect(roleSigner()).toBe(kidOf(ofConsensus()))
})

test('a key that a role puts into its own folder is not listed for that', async () => {
  const before = roleSigner()
  await generateKey(roleKeysFolder(folder, 'consensus'), { use: 'token', now: now + 1 })
  await repairKeyList(folder)
  expect([roleSigner(), ofConsensus().length]).toEqual([before, 1])
})

test('the key of a role is rotated and revoked like any other', async () => {
  const kid = kidOf(ofConsensus())
  const { created } = await siteKeys.rotateSiteKey(folder, {}, kid, { now: now + 1 })
  expect(summariseKeys(ofConsensus())).toEqual([
    [kid, 'retired', 'role:consensus'],
    [created.kid, 'active', 'role:consensus'],
  ])
  expect(roleSigner()).toBe(created.kid)
  await siteKeys.revokeSiteKey(folder, {}, created.kid, { now: now + 2, replace: false })
  expect(roleSigner()).toBeUndefined()
  const [, gone] = readKeyFiles(roleKeysFolder(folder, 'consensus'))
  expect(gone).not.toHaveProperty('private_jwk')
  expect(siteKeys.listSiteKeys(folder).find((key) => key.kid === created.kid)).toMatchObject({
    status: 'revoked',
    role: 'consensus',
  })
})

test('the key of one role is not that of another, nor the site’s', () => {
  const stored = readKeyFiles(roleKeysFolder(folder, 'consensus'))
  expect(findSigner(stored, readListedKeys(folder), 'role:site')).toBeUndefined()
  expect(findSigner(stored, readListedKeys(folder))).toBeUndefined()
  expect(findSigner(readKeyFiles(folder.keys), readListedKeys(folder), 'role:site')).toBeUndefined()
})

test('of many changes at once none is lost', async () => {
  const terms = (at: number) => ({ now: now + at })
  const changes = Array.from({ length: 8 }, (_, at) =>
    siteKeys.generateSiteKey(folder, {}, 'token', terms(at), at % 2 ? 'consensus' : undefined),
  )
  const kids = (await Promise.all(changes)).map(({ kid }) => kid)
  expect(readListedKeys(folder).map(({ kid }) => kid)).toEqual(expect.arrayContaining(kids))
})
