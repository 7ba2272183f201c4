// Keys under a passphrase as people live with them: typed or from a private file, never an argument, and no start without it.
import { chmodSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyJws } from '../../adapters/keys/jose/signatures.ts'
import { keyAlgorithm, type PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'
import { signEpoch } from '../../daemon/offline/filedrop/epoch-signing.ts'
import { signRelease } from '../../daemon/offline/people/personal-signature.ts'
import { createScratchFolder, type Json, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { runCommandProcess, serveSiteProcess } from '../support/command/run-command-process.ts'
import { createRootedSite, createRootKeyMedium } from '../support/keys/root-key-ceremony.ts'

const { dir, remove } = createScratchFolder('wrapped')
afterAll(remove)
// A passphrase that was right stays in the memory of its process, so that what comes without one is a process of its own.
const at = (name: string) => path.join(dir, name)
const passphrase = 'seven boats on a still lake'
const rightPassphraseFile = at('right')
const wrongPassphraseFile = at('wrong')
beforeAll(() => {
  writeFileSync(rightPassphraseFile, `${passphrase}\n`, { mode: 0o600 })
  writeFileSync(wrongPassphraseFile, 'seven goats on a still lake\n', { mode: 0o600 })
})

/** The uses of the keys of a folder that lie under a passphrase, sorted. */
function listWrappedUses(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  const keys = names.map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Json)
  return keys.flatMap(({ private_jwe, public_key }) => (private_jwe ? [public_key.use] : [])).sort()
}

describe('a passphrase file', () => {
  const medium = at('refused')
  const generate = (file: string) =>
    runCommand(['keys', 'generate', '--use', 'root', '--dir', medium, '--passphrase-file', file])

  const odd: [string, string, (file: string) => void, RegExp][] = [
    ['that others may read', passphrase, (file) => chmodSync(file, 0o640), /chmod 600/],
    ['with a short passphrase', 'too short', () => undefined, /shorter than 12/],
    ['of two lines', `${passphrase}\n${passphrase}`, () => undefined, /more than one line/],
    ['of many bytes', 'x'.repeat(5_000), () => undefined, /has 5000 bytes; at most 4096 are allowed/],
    ['that is a link', '', (file) => [rmSync(file), symlinkSync(rightPassphraseFile, file)], /is a link/],
    ['that is not there', '', (file) => rmSync(file), /cannot be read/],
  ]
  test.each(odd)('%s is refused, and nothing is made', async (name, text, change, why) => {
    const file = at(name.replaceAll(' ', '-'))
    writeFileSync(file, text, { mode: 0o600 })
    change(file)
    const ended = await generate(file)
    expect(ended).toMatchObject({ exit: 3, stdout: '', stderr: expect.stringMatching(why) })
    expect(ended.stderr).not.toContain(passphrase)
    expect(() => readdirSync(medium)).toThrow('ENOENT')
  })

  test('is the only way without a terminal: an argument never holds a passphrase', async () => {
    expect(await runCommand(['keys', 'wrap', '--dir', dir, '--passphrase', passphrase])).toMatchObject({ exit: 2 })
  })
})

describe.each(keyAlgorithm.options)('a medium with a root key of %s', (algorithm) => {
  const medium = () => at(`medium-${algorithm}`)

  test('is put under a passphrase that is typed twice, and out again', async () => {
    await createRootKeyMedium(dir, `medium-${algorithm}`, algorithm)
    const wrap = ['keys', 'wrap', '--dir', medium()]
    expect(await runCommand(wrap)).toMatchObject({ exit: 3 })
    expect(await runCommand(wrap, { secrets: [passphrase, `${passphrase}!`] })).toMatchObject({ exit: 2 })
    expect(await runCommand(wrap, { secrets: ['short'] })).toMatchObject({ exit: 2 })
    expect(listWrappedUses(medium())).toEqual([])
    expect(await runCommand(wrap, { secrets: [passphrase, passphrase] })).toMatchObject({ exit: 0 })
    expect(listWrappedUses(medium())).toEqual(['root'])
    // Its public side is read without it.
    expect(await runCommand(['keys', 'export', '--dir', medium()])).toMatchObject({ exit: 0 })
    expect((await runJsonCommand(['keys', 'list', '--dir', medium()])).items).toHaveLength(1)
    const unwrap = ['keys', 'unwrap', '--dir', medium()]
    expect(await runCommand(unwrap, { secrets: ['not that passphrase'] })).toMatchObject({ exit: 3 })
    expect(listWrappedUses(medium())).toEqual(['root'])
    expect(await runCommand(unwrap, { secrets: [passphrase] })).toMatchObject({ exit: 0 })
    expect(listWrappedUses(medium())).toEqual([])
  })

  test('signs a key set with the right passphrase alone', async () => {
    const root = await createRootKeyMedium(dir, `signing-${algorithm}`, algorithm)
    const site = await createRootedSite(at(`site-${algorithm}`), 'alpha', [root])
    await runJsonCommand(['keys', 'wrap', '--dir', root.dir, '--passphrase-file', rightPassphraseFile])
    const draft = at(`draft-${algorithm}.json`)
    await site.answered(['keys', 'set', 'draft', '--out', draft])
    const sign = ['keys', 'set', 'sign', draft, '--dir', root.dir, '--yes']
    const unsigned = readFileSync(draft, 'utf8')
    // In processes of their own: here the key is open already.
    expect(await runCommandProcess(sign)).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('--passphrase-file'),
    })
    const ended = await runCommandProcess([...sign, '--passphrase-file', wrongPassphraseFile])
    expect(ended).toMatchObject({ exit: 3, stdout: '' })
    expect(ended.stderr).toContain(`the passphrase does not open ${root.kid}`)
    expect(ended.stderr).not.toMatch(/seven [bg]oats/)
    expect(readFileSync(draft, 'utf8')).toBe(unsigned)
    expect(await runCommand(sign, { secrets: [passphrase] })).toMatchObject({ exit: 0 })
    expect(await site.answered(['keys', 'set', 'publish', draft, '--yes'])).toMatchObject({ version: 2 })
  })
})

test('a new key goes under the passphrase where keys of its use lie under one, and only there', async () => {
  const folder = at('mixed')
  const generate = (use: string, ...more: string[]) =>
    runCommand(['keys', 'generate', '--use', use, '--dir', folder, ...more], { secrets: [passphrase] })
  await generate('root', '--passphrase-file', rightPassphraseFile)
  await generate('message')
  expect(listWrappedUses(folder)).toEqual(['root'])
  await generate('root')
  expect(listWrappedUses(folder)).toEqual(['root', 'root'])
  expect(await runCommand(['keys', 'generate', '--use', 'root', '--dir', folder])).toMatchObject({ exit: 3 })
  await runJsonCommand(['keys', 'wrap', '--dir', folder, '--use', 'message', '--passphrase-file', rightPassphraseFile])
  expect(listWrappedUses(folder)).toEqual(['message', 'root', 'root'])
})

test('a person signs a release with a key under a passphrase', async () => {
  const folder = at('person')
  const words = ['keys', 'generate', '--use', 'personal', '--dir', folder, '--passphrase-file', rightPassphraseFile]
  const key = (await runJsonCommand(words)) as PublicKey
  const file = path.join(folder, `${key.kid}.json`)
  const header = {
    ...{ v: 1, type: 'platform.release', step: 'request', site: 'alpha', item: 'bravo/x', digests: ['a'.repeat(96)] },
    ...{ waiver: 'EXPIRED', reason: 'the courier was late', subject: 'ann', created: new Date().toISOString() },
  } as Parameters<typeof signRelease>[1]
  await expect(signRelease(file, header, undefined)).rejects.toThrow('under a passphrase')
  await expect(signRelease(file, header, 'not that passphrase')).rejects.toThrow('does not open')
  expect(await verifyJws('release', await signRelease(file, header, passphrase), [key])).toMatchObject({ keys: [key] })
})

test('a root key under a passphrase announces an epoch', async () => {
  const folder = at('announcing')
  const words = ['keys', 'generate', '--use', 'root', '--dir', folder, '--passphrase-file', rightPassphraseFile]
  const key = (await runJsonCommand(words)) as PublicKey
  const header = {
    ...{ v: 1, type: 'platform.epoch', channel: 'filedrop/alpha/bravo', src: 'alpha', dst: 'bravo', epoch: 2 },
    ...{ reason: 'compromised', created: new Date().toISOString() },
  } as Parameters<typeof signEpoch>[1]
  await expect(signEpoch(folder, header)).rejects.toThrow('under a passphrase')
  const made = await signEpoch(folder, header, () => passphrase)
  expect(await verifyJws('epoch', made, [key])).toMatchObject({ keys: [key] })
})

describe('a site whose keys lie under a passphrase', () => {
  const site = at('alpha')
  const own = ['--site', site]
  const named = (file: string) => ({ env: { PLATFORM_KEYS_PASSPHRASE_FILE: file } })
  beforeAll(async () => {
    await runJsonCommand(['init', ...own, '--tenant', 'acme', '--profile', 'demo'])
    await runJsonCommand(['keys', 'wrap', ...own, '--passphrase-file', rightPassphraseFile])
  })

  test('does not start without it, or with a wrong one, and names the setting to correct', async () => {
    expect(listWrappedUses(path.join(site, 'keys'))).toEqual(['message', 'root', 'token'])
    for (const [around, why] of [
      [{}, 'is under a passphrase, and none was given'],
      [named(wrongPassphraseFile), 'the passphrase does not open'],
      [named(at('nowhere')), 'cannot be read'],
    ] as const) {
      const ended = await runCommandProcess(['serve', ...own], around)
      expect(ended).toMatchObject({ exit: 3, stdout: '' })
      expect(ended.stderr).toContain('identity.keys_passphrase_file')
      expect(ended.stderr).toContain(why)
      expect(ended.stderr).not.toMatch(/seven [bg]oats/)
    }
  })

  test('the doctor says so, and finds nothing once the file is named', async () => {
    const wanting = await runCommand(['doctor', ...own])
    expect(wanting).toMatchObject({ exit: 5, stdout: expect.stringContaining('is under a passphrase') })
    const { findings } = await runJsonCommand(['doctor', ...own], named(rightPassphraseFile))
    expect(findings.filter((each: Json) => each.state !== 'ok' && each.check === 'keys')).toEqual([])
  })

  test('starts with it, signs tokens and checkpoints, and tells the passphrase to nobody', async () => {
    const running = await serveSiteProcess(site, named(rightPassphraseFile))
    const mint = ['token', 'mint', '--subject', 'ann', '--roles', 'auditor', ...own]
    expect(await runCommandProcess(mint)).toMatchObject({ exit: 3, stdout: '' })
    const { token } = await runJsonCommand(mint, named(rightPassphraseFile))
    const status = await runCommand(['status', ...own], { env: { PLATFORM_TOKEN: token } })
    const ended = await running.stop()
    expect([status.exit, ended.exit]).toEqual([0, 0])
    expect(ended.stdout + ended.stderr).not.toContain(passphrase)
    expect(await runCommand(['audit', 'verify', ...own])).toMatchObject({ exit: 0 })
    // In a process of its own: this one has opened the keys before.
    const { exit, stdout, stderr } = await runCommandProcess(['audit', 'export', '--role', 'site', ...own])
    expect(stdout).toMatch(/"action":"site.key.wrap"/)
    expect(stdout).not.toContain(passphrase)
    expect({ exit, stderr }).toMatchObject({
      exit: 5,
      stderr: expect.stringMatching(/not signed .* under a passphrase/),
    })
    const signed = await runCommand(['audit', 'export', '--role', 'site', ...own], named(rightPassphraseFile))
    expect(signed).toMatchObject({ exit: 0, stdout: expect.stringContaining('platform.audit-export') })
  })

  test('rotates and revokes: new keys are under the same passphrase', async () => {
    const message = async () => {
      const { items } = await runJsonCommand(['keys', 'list', ...own])
      return items.filter((key: Json) => key.use === 'message' && key.status === 'active').map((key: Json) => key.kid)
    }
    const [old] = await message()
    const rotate = ['keys', 'rotate', old, ...own]
    expect(await runCommand(rotate)).toMatchObject({ exit: 3 })
    expect(await runCommand([...rotate, '--passphrase-file', wrongPassphraseFile])).toMatchObject({ exit: 3 })
    expect(await message()).toEqual([old])
    const { created, key_set } = await runJsonCommand(rotate, named(rightPassphraseFile))
    expect(key_set).toBe(1)
    expect(listWrappedUses(path.join(site, 'keys'))).toEqual(['message', 'message', 'root', 'token'])
    const revoked = await runJsonCommand(
      ['keys', 'revoke', old, '--yes', '--replace', ...own],
      named(rightPassphraseFile),
    )
    expect(revoked).toMatchObject({ status: 'revoked', key_set: 2 })
    expect(await message()).toEqual([created.kid, revoked.created.kid])
    expect(listWrappedUses(path.join(site, 'keys'))).toEqual(['message', 'message', 'root', 'token'])
  })
})
