// Wrapping keys at rest: private files, under the passphrase of the other keys, rotated and never revoked.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import { createWrappingKey, openWrappingKey, readWrappingKeys } from '../../adapters/keys/jose/wrapping-keys.ts'
import { createKeyFolderPath, noon } from '../keys/key-fixture.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { createTestSite, type TestSite } from '../support/site/test-site.ts'

const passphrase = 'correct horse battery staple'

describe('the files', () => {
  test('are private, one for each key, and the last created is the current one', async () => {
    const dir = createKeyFolderPath()
    const first = await createWrappingKey(dir, { now: noon })
    // A clock that was set back.
    const second = await createWrappingKey(dir, { now: noon - 1_000 })
    const folder = path.join(dir, 'secrets')
    expect(fs.statSync(folder).mode & 0o777).toBe(0o700)
    for (const { kid } of [first, second])
      expect(fs.statSync(path.join(folder, `${kid}.json`)).mode & 0o777).toBe(0o600)
    expect(readWrappingKeys(dir).map(({ kid }) => kid)).toEqual([first.kid, second.kid])
  })

  test('of a crash before the rename are not keys', async () => {
    const dir = createKeyFolderPath()
    const { kid } = await createWrappingKey(dir, { now: noon })
    fs.writeFileSync(path.join(dir, 'secrets', `.${kid}.json.tmp`), 'half', { mode: 0o600 })
    expect(readWrappingKeys(dir).map((key) => key.kid)).toEqual([kid])
  })

  test.each<[string, (file: string) => void, string]>([
    ['can be read by others', (file) => fs.chmodSync(file, 0o640), 'chmod 600'],
    [
      'has another name',
      (file) => fs.renameSync(file, path.join(file, '..', 'secret-AAAAAAAAAAAAAAAA.json')),
      'restore',
    ],
    ['is garbage', (file) => fs.writeFileSync(file, '{"key":"abc'), 'restore'],
    ['has a key twice', (file) => fs.writeFileSync(file, '{"kid":"a","kid":"b"}'), 'restore'],
    ['is in a folder that others may enter', (file) => fs.chmodSync(path.dirname(file), 0o750), 'chmod 700'],
  ])('one that %s is refused with the remedy, and not quoted', async (_, change, remedy) => {
    const dir = createKeyFolderPath()
    const { kid, key = '' } = await createWrappingKey(dir, { now: noon })
    change(path.join(dir, 'secrets', `${kid}.json`))
    expect(() => readWrappingKeys(dir)).toThrow(remedy)
    expect(() => readWrappingKeys(dir)).not.toThrow(key)
  })
})

describe('the commands', () => {
  const scratch = createScratchFolder('wrapping-keys')
  const passphraseFile = path.join(scratch.dir, 'passphrase')
  const wrongFile = path.join(scratch.dir, 'wrong')
  let world: TestSite
  let site: string
  beforeAll(async () => {
    world = await createTestSite({ profile: { platform: { roles: ['site'] } } })
    site = path.dirname(world.folder.profile)
    fs.writeFileSync(passphraseFile, passphrase, { mode: 0o600 })
    fs.writeFileSync(wrongFile, 'another passphrase', { mode: 0o600 })
  })
  afterAll(async () => {
    await world?.end()
    scratch.remove()
  })

  const listSecretKeys = async () =>
    (await runJsonCommand(['keys', 'list', '--site', site])).items.filter(
      ({ use }: { use: string }) => use === 'secret',
    )
  const withPassphrase = () => ['--passphrase-file', passphraseFile, '--site', site]

  test('encrypt, rotate and decrypt them with the other keys', async () => {
    const [{ kid, status }] = await listSecretKeys()
    expect(status).toBe('active')
    const [{ key = '' } = {}] = readWrappingKeys(world.folder.keys)
    expect((await runJsonCommand(['keys', 'wrap', ...withPassphrase()])).wrapped).toContain(kid)
    expect(fs.readFileSync(path.join(world.folder.keys, 'secrets', `${kid}.json`), 'utf8')).not.toContain(key)

    const wrong = await runCommand(['keys', 'rotate', kid, '--passphrase-file', wrongFile, '--site', site])
    expect(wrong.exit).not.toBe(0)
    expect(readWrappingKeys(world.folder.keys)).toHaveLength(1)
    const rotation = await runJsonCommand(['keys', 'rotate', kid, ...withPassphrase()])
    expect(rotation).toMatchObject({
      created: { use: 'secret', status: 'active' },
      retired: { kid, status: 'retired' },
    })
    expect(readWrappingKeys(world.folder.keys).every(({ jwe }) => jwe !== undefined)).toBe(true)
    expect(await listSecretKeys()).toMatchObject([{ kid, status: 'retired' }, { kid: rotation.created.kid }])

    expect((await runJsonCommand(['keys', 'unwrap', ...withPassphrase()])).unwrapped).toContain(kid)
    expect(readWrappingKeys(world.folder.keys)[0]).toMatchObject({ kid, key })
  })

  test('refuse to revoke one, to rotate a retired one, and an unknown one', async () => {
    const [retired, active] = await listSecretKeys()
    const run = async (...words: string[]) => (await runCommand(['keys', ...words, '--site', site])).exit
    expect(await run('revoke', active.kid, '--yes')).toBe(2)
    expect(await run('rotate', retired.kid)).toBe(3)
    expect(await run('rotate', 'secret-AAAAAAAAAAAAAAAA')).toBe(1)
    expect(await listSecretKeys()).toHaveLength(2)
  })
})

describe('a site of an earlier release', () => {
  test('gets a wrapping key at its start, under the passphrase of its other keys', async () => {
    const world = await createTestSite({ profile: { platform: { roles: ['site'] } } })
    const site = path.dirname(world.folder.profile)
    const file = path.join(world.folder.keys, '..', 'passphrase')
    try {
      fs.writeFileSync(file, passphrase, { mode: 0o600 })
      fs.rmSync(path.join(world.folder.keys, 'secrets'), { recursive: true })
      await runJsonCommand(['keys', 'wrap', '--passphrase-file', file, '--site', site])
      fs.appendFileSync(world.folder.profile, `identity:\n  keys_passphrase_file: ${file}\n`)
      await world.start()
      const keys = readWrappingKeys(world.folder.keys)
      expect(keys).toMatchObject([{ jwe: expect.any(String) }])
      for (const key of keys) expect((await openWrappingKey(key, () => passphrase)).length).toBe(32)
      await world.restart()
      expect(readWrappingKeys(world.folder.keys)).toEqual(keys)
    } finally {
      await world.end()
    }
  })

  test('refuses a start whose passphrase does not open them', async () => {
    const world = await createTestSite({ profile: { platform: { roles: ['site'] } } })
    try {
      await createWrappingKey(world.folder.keys, { now: Date.now(), passphrase })
      await expect(world.start()).rejects.toThrow(/secret-.* is under a passphrase/)
    } finally {
      await world.end()
    }
  })
})

test('the folder of wrapping keys disturbs no signing key beside it', async () => {
  const dir = createKeyFolderPath()
  await createWrappingKey(dir, { now: noon })
  const { kid } = await generateKey(dir, { use: 'message', now: noon })
  expect(fs.readdirSync(dir).sort()).toEqual([`${kid}.json`, 'secrets'])
})
