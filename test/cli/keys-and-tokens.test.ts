// Keys, tokens and peers by hand: changes take effect at once, faults are refused, and no secret is ever printed.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'
import { readSecrets } from '../support/keys/read-secrets.ts'

const { dir, remove } = createScratchFolder('keys')
const alpha = path.join(dir, 'alpha')
const bravo = path.join(dir, 'bravo')
const at = { env: { PLATFORM_SITE: alpha } }

beforeAll(async () => {
  await runJsonCommand(['init', '--site', alpha, '--tenant', 'acme', '--profile', 'demo'])
  await runJsonCommand(['init', '--site', bravo, '--tenant', 'bravo', '--profile', 'demo'])
})
afterAll(remove)

const mintToken = (...more: string[]) =>
  runJsonCommand(['token', 'mint', '--subject', 'alice', '--roles', 'analyst', ...more], at)

describe('tokens', () => {
  test('prints a minted token alone to stdout, with the requested claims', async () => {
    const words = ['token', 'mint', '--subject', 'alice', '--roles', 'analyst', '--clearance', 'SECRET', '--ttl', '8h']
    const ended = await runCommand(words, at)
    expect(ended.exit).toBe(0)
    expect(ended.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    expect(ended.stderr).not.toContain(ended.stdout.trim())
    const seen = await runJsonCommand(['token', 'inspect'], { ...at, input: ended.stdout })
    expect(seen).toMatchObject({
      state: 'valid',
      claims: { sub: 'alice', tenant_id: 'acme', roles: ['analyst'], clearance: { level: 'SECRET' } },
    })
    expect(seen.claims.exp - seen.claims.iat).toBe(8 * 3_600)
  })

  test('inspect tells revoked, foreign and damaged ones apart, and ends with 5', async () => {
    const { token, jti } = await mintToken()
    const foreign = await runJsonCommand(['token', 'mint', '--site', bravo, '--subject', 'eve', '--roles', 'admin'])
    expect((await runCommand(['token', 'inspect'], { ...at, input: foreign.token })).exit).toBe(5)
    const damaged = await runCommand(['token', 'inspect'], { ...at, input: `${token.slice(0, -6)}AAAAAA` })
    expect(damaged).toMatchObject({ exit: 5, stdout: expect.stringContaining('not valid') })
    await runJsonCommand(['token', 'revoke', jti], at)
    const ended = await runCommand(['token', 'inspect', '--json'], { ...at, input: token })
    expect([ended.exit, JSON.parse(ended.stdout).state]).toEqual([5, 'revoked'])
  })

  test('a token on stdin is revoked by its id; a whole token as an argument is refused', async () => {
    const { token, jti } = await mintToken()
    expect((await runCommand(['token', 'revoke', token], at)).exit).toBe(2)
    expect((await runJsonCommand(['token', 'revoke'], { ...at, input: token })).revoked).toEqual({ jti })
  })

  test('revoking a subject voids what it holds, and nobody else’s', async () => {
    const [hers, his] = [
      await mintToken(),
      await runJsonCommand(['token', 'mint', '--subject', 'bob', '--roles', 'analyst'], at),
    ]
    await runJsonCommand(['token', 'revoke', '--subject', 'alice'], at)
    expect((await runCommand(['token', 'inspect'], { ...at, input: hers.token })).exit).toBe(5)
    expect((await runCommand(['token', 'inspect'], { ...at, input: his.token })).exit).toBe(0)
  })

  test('an unknown role or level is a usage error', async () => {
    const base = ['token', 'mint', '--subject', 'a', '--roles']
    expect((await runCommand([...base, 'emperor'], at)).exit).toBe(2)
    expect((await runCommand([...base, 'analyst', '--clearance', 'COSMIC'], at)).exit).toBe(2)
    expect((await runCommand([...base, 'analyst', '--categories', 'X'], at)).exit).toBe(2)
    expect((await runCommand([...base, 'analyst', '--ttl', 'soon'], at)).exit).toBe(2)
  })

  test.each([
    [['token', 'mint', '--subject', '', '--roles', 'analyst'], 'sub: must not be empty'],
    [['token', 'mint', '--subject', 'a', '--tenant', '', '--roles', 'analyst'], 'tenant_id: must not be empty'],
    [['token', 'revoke', '--subject', ''], 'subject: must not be empty'],
    [['token', 'revoke', 'x'.repeat(129)], 'jti: must have at most 128 characters'],
  ])('%j is refused in one plain line', async (words, pattern) => {
    const ended = await runCommand(words, at)
    expect(ended).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringMatching(/^error: [^{[]+\n$/) })
    expect(ended.stderr).toContain(pattern)
  })
})

describe('keys', () => {
  test('export is a JWKS of public keys alone', async () => {
    const { keys } = await runJsonCommand(['keys', 'export'], at)
    expect(keys.length).toBe(3)
    for (const key of keys) {
      expect(key).toMatchObject({ kty: 'OKP', crv: 'Ed25519', kid: expect.any(String) })
      expect(key).not.toHaveProperty('d')
    }
  })

  test('no command prints a private key', async () => {
    const commands = [['keys', 'list'], ['keys', 'export'], ['doctor'], ['profile', 'explain'], ['peers', 'list']]
    const results = await Promise.all(
      commands.flatMap((words) => [runCommand(words, at), runCommand([...words, '--json'], at)]),
    )
    const all = results.map(({ stdout, stderr }) => stdout + stderr).join('')
    const secrets = readSecrets(path.join(alpha, 'keys'))
    expect(secrets.length).toBe(4)
    for (const secret of secrets) expect(all).not.toContain(secret)
  })

  test('export writes a new file, never over one that is there', async () => {
    const file = path.join(dir, 'alpha-keys.json')
    expect((await runCommand(['keys', 'export', '--out', file], at)).exit).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await runCommand(['keys', 'export', '--out', file], at)).exit).toBe(3)
  })

  test('export to a file says in JSON which file, and how many keys it holds', async () => {
    const file = path.join(dir, 'message-keys.json')
    const exported = await runJsonCommand(['keys', 'export', '--out', file, '--use', 'message'], at)
    expect(exported).toEqual({ file, keys: 1 })
    expect(JSON.parse(readFileSync(file, 'utf8')).keys).toHaveLength(1)
  })

  test.each(['Ed25519', 'ES384', 'ML-DSA-87'])('a %s key is generated, rotated and revoked', async (algorithm) => {
    const { kid } = await runJsonCommand(['keys', 'generate', '--use', 'personal', '--algorithm', algorithm], at)
    const { created } = await runJsonCommand(['keys', 'rotate', kid], at)
    expect((await runCommand(['keys', 'rotate', kid], at)).exit).toBe(3)
    expect((await runCommand(['keys', 'revoke', created.kid], at)).exit).toBe(3)
    expect(await runJsonCommand(['keys', 'revoke', created.kid, '--yes'], at)).toMatchObject({ status: 'revoked' })
    const { items } = await runJsonCommand(['keys', 'list'], at)
    const states = Object.fromEntries(items.map((key: { kid: string; status: string }) => [key.kid, key.status]))
    expect(states).toMatchObject({ [kid]: 'retired', [created.kid]: 'revoked' })
  })

  test.each(['token', 'message'])(
    'a site without an active %s key does not start, and says what to do',
    async (use) => {
      const site = path.join(dir, `without-${use}`)
      const around = { env: { PLATFORM_SITE: site } }
      await runJsonCommand(['init', '--site', site, '--profile', 'demo'])
      const { items } = await runJsonCommand(['keys', 'list'], around)
      const { kid } = items.find((key: { use: string }) => key.use === use)
      await runJsonCommand(['keys', 'revoke', kid, '--yes'], around)
      const refused = await runCommand(['serve'], around)
      expect(refused).toMatchObject({ exit: 3, stdout: '' })
      expect(refused.stderr).toContain(`no active ${use} key: run \`platform keys generate --use ${use}\``)
      const consensus = await serveSite(site, { ...around, env: { ...around.env, PLATFORM_ROLES: 'consensus' } })
      await consensus.stop()
      await runJsonCommand(['keys', 'generate', '--use', use], around)
      const running = await serveSite(site, around)
      await running.stop()
    },
  )

  test('records changes of keys in the audit chain, and the chain is whole', async () => {
    const ended = await runCommand(['audit', 'export', '--role', 'site'], at)
    const actions = ended.stdout
      .trim()
      .split('\n')
      .flatMap((line) => JSON.parse(line).event?.action ?? [])
    expect(actions).toEqual(expect.arrayContaining(['site.key.rotate', 'site.key.revoke', 'site.token.revoke']))
    expect((await runJsonCommand(['audit', 'verify'], at)).whole).toBe(true)
  })
})

describe('peers', () => {
  const file = path.join(dir, 'bravo-keys.json')
  const add = (...more: string[]) =>
    runCommand(['peers', 'add', 'bravo', '--keys', file, '--tenant', 'bravo', '--ceiling', 'RESTRICTED', ...more], at)
  const fingerprints = async (use: string) => {
    const { keys } = JSON.parse(readFileSync(file, 'utf8'))
    return keys.find((key: { platform_use: string }) => key.platform_use === use).platform_fingerprint as string
  }

  beforeAll(async () => {
    await runCommand(['keys', 'export', '--site', bravo, '--out', file])
  })

  test('without a person or --fingerprint nothing is pinned, and the fingerprints are shown', async () => {
    const ended = await add()
    expect(ended).toMatchObject({ exit: 3, stdout: '' })
    expect(ended.stderr).toContain(await fingerprints('message'))
    expect((await runJsonCommand(['peers', 'list'], at)).items).toEqual([])
  })

  test('a fingerprint that the file does not hold is refused', async () => {
    expect((await add('--fingerprint', 'A'.repeat(43))).exit).toBe(3)
    expect((await add('--fingerprint', await fingerprints('root'))).exit).toBe(3)
    expect((await runJsonCommand(['peers', 'list'], at)).items).toEqual([])
  })

  test('a confirmed peer is pinned with the confirmed keys alone, and its channel folders are made', async () => {
    const fingerprint = await fingerprints('message')
    const ended = await add('--fingerprint', fingerprint, '--json')
    expect(ended.exit, ended.stderr).toBe(0)
    expect(JSON.parse(ended.stdout).keys.map((key: { fingerprint: string }) => key.fingerprint)).toEqual([fingerprint])
    expect(statSync(path.join(alpha, 'peers/bravo.json')).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(path.join(alpha, 'filedrop/bravo/CHANNEL.json'), 'utf8')).peer).toBe('bravo')
    expect(statSync(path.join(alpha, 'filedrop/bravo/in/new')).mode & 0o777).toBe(0o700)
    expect((await add('--fingerprint', fingerprint)).exit).toBe(3)
    expect((await runJsonCommand(['doctor'], at)).healthy).toBe(true)
  })

  test('a peer whose channel was lost is a problem that the doctor names', async () => {
    const { renameSync } = await import('node:fs')
    const there = path.join(alpha, 'filedrop/bravo/CHANNEL.json')
    renameSync(there, `${there}.lost`)
    const ended = await runCommand(['doctor'], at)
    renameSync(`${there}.lost`, there)
    expect(ended.exit).toBe(5)
    expect(ended.stdout).toContain('CHANNEL.json')
  })

  test('remove needs a yes, and unpins', async () => {
    expect((await runCommand(['peers', 'remove', 'bravo'], at)).exit).toBe(3)
    expect(await runJsonCommand(['peers', 'remove', 'bravo', '--yes'], at)).toEqual({ removed: 'bravo' })
    expect((await runCommand(['peers', 'show', 'bravo'], at)).exit).toBe(1)
  })

  test('an unknown level, or a file that holds no keys, is a usage error', async () => {
    const fingerprint = await fingerprints('message')
    const words = ['peers', 'add', 'bravo', '--tenant', 'b', '--fingerprint', fingerprint]
    expect((await runCommand([...words, '--keys', file, '--ceiling', 'COSMIC'], at)).exit).toBe(2)
    const profile = path.join(alpha, 'profile.yaml')
    expect((await runCommand([...words, '--keys', profile, '--ceiling', 'SECRET'], at)).exit).toBe(2)
  })

  test('refuses a file that is not a JWKS of a site, and names the missing part', async () => {
    const odd = path.join(dir, 'odd-keys.json')
    writeFileSync(odd, JSON.stringify({ keys: [{ kty: 'OKP', alg: 7, platform_use: 'other' }] }))
    const ended = await runCommand(['peers', 'add', 'b', '--keys', odd, '--tenant', 'b', '--ceiling', 'SECRET'], at)
    expect(ended.exit).toBe(2)
    expect(ended.stderr).toContain(
      'keys.0.kid: is required; keys.0.alg: must be a string; keys.0.platform_use: must be',
    )
    expect(ended.stderr).not.toMatch(/Invalid|expected|received|✖/)
  })
})
