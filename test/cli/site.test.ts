// Making a site and maintaining it without a running daemon: private files, refusals and messages.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('site')
const alpha = path.join(dir, 'alpha')
const at = { env: { PLATFORM_SITE: alpha } }

beforeAll(async () => {
  await runJsonCommand(['init', '--site', alpha, '--tenant', 'acme', '--port-base', '0', '--yes'])
})
afterAll(remove)

function listPaths(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name)
    return entry.isDirectory() ? [file, ...listPaths(file)] : [file]
  })
}

describe('init', () => {
  test('makes folders 0700 and files 0600, and nothing else', () => {
    const modes = [alpha, ...listPaths(alpha)].map((file) => {
      const found = lstatSync(file)
      return [file, found.isDirectory(), found.mode & 0o777] as const
    })
    expect(modes.length).toBeGreaterThan(10)
    for (const [file, isFolder, mode] of modes) expect([file, mode]).toEqual([file, isFolder ? 0o700 : 0o600])
  })

  test('refuses to touch a site that exists', async () => {
    const before = readFileSync(path.join(alpha, 'profile.yaml'), 'utf8')
    const again = await runCommand(['init', '--site', alpha, '--tenant', 'other', '--yes'])
    expect(again).toMatchObject({ exit: 3, stdout: '' })
    expect(again.stderr).toContain('already contains a site')
    expect(readFileSync(path.join(alpha, 'profile.yaml'), 'utf8')).toBe(before)
  })

  test('refuses a name that peers could not use, and an unknown profile, and makes nothing', async () => {
    const site = path.join(dir, 'none')
    expect((await runCommand(['init', '--site', site, '--name', 'Not A Name'])).exit).toBe(2)
    const unknown = await runCommand(['init', '--site', site, '--profile', 'nope'])
    expect(unknown.exit).toBe(2)
    expect(unknown.stderr).toContain('classified-airgapped')
    expect(existsSync(site)).toBe(false)
  })

  test('leaves a folder alone that holds something else', async () => {
    const site = path.join(dir, 'shared')
    mkdirSync(site, { mode: 0o755 })
    writeFileSync(path.join(site, 'note.txt'), 'mine')
    expect((await runCommand(['init', '--site', site])).exit).toBe(3)
    expect([lstatSync(site).mode & 0o777, readdirSync(site)]).toEqual([0o755, ['note.txt']])
  })

  test('places roles and their inner listeners from a port base on, and keeps comments', async () => {
    const site = path.join(dir, 'ports')
    const made = await runJsonCommand([
      'init',
      '--site',
      site,
      '--port-base',
      '9500',
      '--profile',
      'coalition_federated',
    ])
    expect(made.ports).toMatchObject({ site: 9500, consensus: 9501 })
    const text = readFileSync(path.join(site, 'profile.yaml'), 'utf8')
    expect(text).toContain('metrics_listen: "127.0.0.1:9511"')
    expect(text).toContain('# internal listener for metrics; the public listener serves none')
    expect((await runJsonCommand(['profile', 'validate', '--site', site])).valid).toBe(true)
  })

  test('runs the chosen roles, each with listeners like those of the profile', async () => {
    const site = path.join(dir, 'chosen')
    await runJsonCommand(['init', '--site', site, '--roles', 'site,hub,resolution'])
    const text = readFileSync(path.join(site, 'profile.yaml'), 'utf8')
    expect(text).toContain('roles: [site, hub, resolution]')
    expect(text).toContain('hub:\n  listen: "127.0.0.1"\n  port: 8410\n  metrics_listen: "127.0.0.1:9410"\n')
    expect((await runJsonCommand(['profile', 'validate', '--site', site])).valid).toBe(true)
  })

  test.each([
    ['site,consensu', 'did you mean "consensus"?'],
    ['consensus,hub', 'use --roles site,consensus,hub'],
    ['site,site', 'named twice'],
  ])('refuses the roles %s, and makes nothing', async (roles, reason) => {
    const site = path.join(dir, 'refused')
    const refused = await runCommand(['init', '--site', site, '--roles', roles])
    expect(refused.exit).toBe(2)
    expect(refused.stderr).toContain(reason)
    expect(existsSync(site)).toBe(false)
  })

  test('says what to do next on stderr, so that stdout stays the result', async () => {
    const ended = await runCommand(['init', '--site', path.join(dir, 'next')])
    expect(ended.stderr).toContain('platform serve --site')
    expect(ended.stdout).not.toContain('platform serve')
  })
})

describe('profile', () => {
  test.each(readdirSync('profiles').filter((file) => file.endsWith('.yaml')))(
    '%s is valid as shipped',
    async (file) => {
      expect((await runJsonCommand(['profile', 'validate', path.resolve('profiles', file)])).problems).toEqual([])
    },
  )

  test('explain tells value, origin and meaning of each setting, and of one', async () => {
    const all = await runJsonCommand(['profile', 'explain'], { env: { ...at.env, LOG_LEVEL: 'debug' } })
    const level = all.settings.find((row: { setting: string }) => row.setting === 'platform.log_level')
    expect(level).toMatchObject({ value: 'debug', origin: 'environment LOG_LEVEL', doc: expect.any(String) })
    const one = await runJsonCommand(['profile', 'explain', 'platform.name'], at)
    expect(one.settings).toMatchObject([{ setting: 'platform.name', value: 'alpha', origin: 'profile' }])
  })

  test.each([
    ['platform.log_levle', 'platform.log_level'],
    ['consensu.port', 'consensus.port'],
    ['consensu', 'consensus'],
    ['log_level', 'platform.log_level'],
    ['platform.', 'platform.name'],
  ])('explain of the unknown %s is a usage error that names the nearest setting', async (wanted, meant) => {
    for (const json of [[], ['--json']]) {
      const ended = await runCommand(['profile', 'explain', wanted, ...json], at)
      expect(ended).toMatchObject({ exit: 2, stdout: '' })
      expect(ended.stderr).toContain(`did you mean "${meant}"?`)
    }
  })

  test('validate names a fault with its place and the nearest known key, and ends with 5', async () => {
    const file = path.join(dir, 'bad.yaml')
    writeFileSync(file, 'platform:\n  name: a\n  tenant_id: t\n  log_levle: info\n')
    const ended = await runCommand(['profile', 'validate', file])
    expect(ended.exit).toBe(5)
    expect(ended.stdout).toContain('platform.log_levle: unknown field; did you mean "log_level"?')
  })

  test.each([
    [
      'in a list',
      'identity:\n  clients:\n    - client_id: a\n      secret_file: f\n      clearance: { levle: SECRET }\n',
      'identity.clients.0.clearance.levle',
      'level',
    ],
    [
      'in a record',
      'site:\n  accreditations:\n    bravo: { authorty: x, reference: y, valid_until: "2030-01-01" }\n',
      'site.accreditations.bravo.authorty',
      'authority',
    ],
  ])('an unknown key %s of a profile names the nearest as well', async (_where, text, place, meant) => {
    const file = path.join(dir, 'nested.yaml')
    writeFileSync(file, `platform:\n  name: a\n  tenant_id: t\n${text}`)
    const { exit, stdout } = await runCommand(['profile', 'validate', file])
    expect(exit).toBe(5)
    expect(stdout).toContain(`${place}: unknown field; did you mean "${meant}"?`)
    expect(stdout).not.toMatch(/Invalid|expected|received/)
  })

  test('reports faults in plain words', async () => {
    const file = path.join(dir, 'faults.yaml')
    writeFileSync(file, 'platform: { name: "Not A Name", drain_ms: x, log_level: loud }\nsite: { port: 70000 }\n')
    const { stdout } = await runCommand(['profile', 'validate', file])
    expect(stdout.trim().split('\n')).toEqual([
      'platform.name: must be lower-case letters, digits and hyphens, at most 63',
      'platform.tenant_id: is required',
      'platform.log_level: must be one of debug, info, warn, error',
      'platform.drain_ms: must be a number',
      'site.port: must be at most 65535',
    ])
  })

  test('schema is a JSON Schema with every section', async () => {
    const schema = await runJsonCommand(['profile', 'schema'])
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(['platform', 'labels', 'site', 'consensus']))
    const { mcp, mcp_enabled } = schema.properties.resolution.properties
    expect(mcp).toEqual({ type: 'object', properties: { enabled: mcp_enabled }, additionalProperties: false })
  })
})

describe('doctor', () => {
  test('finds nothing wrong with a new site', async () => {
    const { healthy, findings } = await runJsonCommand(['doctor'], at)
    expect(findings.filter((finding: { state: string }) => finding.state !== 'ok')).toEqual([])
    expect(healthy).toBe(true)
  })

  test('finds a key that others may read, names its repair, and ends with 5', async () => {
    const site = path.join(dir, 'ill')
    await runJsonCommand(['init', '--site', site, '--port-base', '0'])
    const key = readdirSync(path.join(site, 'keys')).find((name) => name.startsWith('message-')) ?? ''
    const file = path.join(site, 'keys', key)
    chmodSync(file, 0o644)
    const ended = await runCommand(['doctor', '--site', site])
    expect(ended.exit).toBe(5)
    expect(ended.stdout).toContain(`chmod 600 ${file}`)
  })

  test('reports a fault of the whole site once for folders and once for files, with the commands that repair it', async () => {
    const site = path.join(dir, 'open')
    await runJsonCommand(['init', '--site', site, '--port-base', '0'])
    await runCommand(['token', 'mint', '--subject', 'a', '--roles', 'analyst', '--site', site])
    execFileSync('chmod', ['-R', 'a+rX', site])
    const open = listPaths(site).filter((file) => (lstatSync(file).mode & 0o077) !== 0)
    const ended = await runCommand(['doctor', '--site', site, '--json'])
    const { findings } = JSON.parse(ended.stdout) as { findings: { [name: string]: unknown; paths?: string[] }[] }
    const problems = findings.filter(({ state }) => state === 'problem')
    expect(problems.map(({ check, remedy }) => [check, String(remedy).split(' -exec ')[1]])).toEqual([
      ['permissions', 'chmod 600 {} +'],
      ['permissions', 'chmod 700 {} +'],
    ])
    const affected = problems.flatMap(({ paths = [] }) => paths)
    expect(affected).toContain(path.join(site, 'profile.yaml'))
    expect(affected.length).toBe(new Set(affected).size)
    expect(affected.toSorted()).toEqual(open.toSorted())
    // The key folder is unusable for clock, keys and the rest: the cause is reported above, once.
    const hindered = findings.filter(({ state }) => state === 'warning')
    expect(hindered).toMatchObject([{ detail: expect.stringMatching(/profile.*clock.*keys.*channels/) }])
    for (const { remedy } of problems) execFileSync('sh', ['-c', String(remedy)])
    expect((await runJsonCommand(['doctor', '--site', site])).healthy).toBe(true)
  })

  test('finds keys near their end, and accreditations that ended', async () => {
    const site = path.join(dir, 'late')
    await runJsonCommand(['init', '--site', site, '--port-base', '0'])
    const soon = new Date(Date.now() + 5 * 86_400_000).toISOString()
    const keys = path.join(site, 'keys')
    const lasting = readdirSync(keys).filter((name) => name.startsWith('message-'))
    const { kid } = await runJsonCommand(['keys', 'generate', '--use', 'message', '--not-after', soon, '--site', site])
    const whole = await runCommand(['doctor', '--site', site])
    expect(whole.stdout).not.toContain(kid)
    // Nothing goes on in its place now.
    for (const name of lasting) rmSync(path.join(keys, name))
    const early = await runCommand(['doctor', '--site', site])
    expect([early.exit, early.stdout.includes(`platform keys rotate ${kid}`)]).toEqual([0, true])
    const profile = path.join(site, 'profile.yaml')
    const held = '  accreditations: { bravo: { authority: A, reference: R, valid_until: "2020-01-01" } }'
    writeFileSync(profile, readFileSync(profile, 'utf8').replace('site:\n', `site:\n${held}\n`))
    const late = await runCommand(['doctor', '--site', site])
    expect([late.exit, late.stdout.includes('accreditation of the channel to bravo ended')]).toEqual([5, true])
  })

  test('finds a certificate without its key', async () => {
    const site = path.join(dir, 'tls')
    await runJsonCommand(['init', '--site', site, '--port-base', '0'])
    const ended = await runCommand(['doctor', '--site', site], { env: { SITE_TLS_CERT_FILE: '/nowhere/cert.pem' } })
    expect([ended.exit, ended.stdout.includes('site.tls_key_file')]).toEqual([5, true])
  })

  test('finds a port that another program has', async () => {
    const { createServer } = await import('node:net')
    const other = createServer()
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port))
    })
    const ended = await runCommand(['doctor'], { env: { ...at.env, CONSENSUS_PORT: String(port) } })
    other.close()
    expect([ended.exit, ended.stdout.includes(`127.0.0.1:${port} is in use`)]).toEqual([5, true])
  })

  test('finds that the list of token keys is gone, and that a role cannot say who it is', async () => {
    const site = path.join(dir, 'mute')
    await runJsonCommand(['init', '--site', site, '--port-base', '0'])
    const list = path.join(site, 'identity/token-keys.json')
    const content = readFileSync(list, 'utf8')
    rmSync(list)
    const without = await runCommand(['doctor', '--site', site])
    expect([without.exit, without.stdout.includes('token keys is missing')]).toEqual([5, true])
    writeFileSync(list, content.replace('role:consensus', 'role:nobody'), { mode: 0o600 })
    const mute = await runCommand(['doctor', '--site', site])
    expect([mute.exit, mute.stdout.includes('--use token --role consensus')]).toEqual([5, true])
    await runJsonCommand(['keys', 'generate', '--use', 'token', '--role', 'consensus', '--site', site])
    expect((await runCommand(['doctor', '--site', site])).exit).toBe(0)
    const wrong = await runCommand(['keys', 'generate', '--use', 'message', '--role', 'consensus', '--site', site])
    expect([wrong.exit, wrong.stderr.includes('use token')]).toEqual([2, true])
  })

  test('finds that the list of revoked tokens is gone', async () => {
    const site = path.join(dir, 'forgetful')
    await runJsonCommand(['init', '--site', site, '--port-base', '0'])
    rmSync(path.join(site, 'identity/revoked.jsonl'))
    const ended = await runCommand(['doctor', '--site', site])
    expect(ended.exit).toBe(5)
    expect(ended.stdout).toContain('revoked tokens is missing')
  })
})

describe('conventions', () => {
  test('without a site a command is refused and says how to make one', async () => {
    const ended = await runCommand(['keys', 'list'])
    expect(ended).toMatchObject({ exit: 3, stdout: '' })
    expect(ended.stderr).toContain('platform init')
  })

  test('a site that does not run is not reachable', async () => {
    const ended = await runCommand(['consensus', 'list'], at)
    expect(ended).toMatchObject({ exit: 4, stdout: '' })
    expect(ended.stderr).toContain('not running')
    const status = await runCommand(['status'], at)
    expect([status.exit, status.stdout]).toEqual([4, expect.stringContaining('127.0.0.1, any free port')])
  })

  test('nothing is coloured where nobody looks, nor where NO_COLOR is set', async () => {
    for (const env of [at.env, { ...at.env, NO_COLOR: '1' }]) {
      const ended = await runCommand(['doctor'], { env })
      expect(ended.stdout + ended.stderr).not.toContain('\u001b')
    }
  })

  test('version is quick to say who it is', async () => {
    expect(await runJsonCommand(['version'])).toMatchObject({ name: 'platform', version: expect.any(String) })
    expect((await runCommand(['--version'])).stdout).toBe((await runCommand(['version'])).stdout)
  })
})
