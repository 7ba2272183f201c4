// A backup of a whole site: one command makes it, without a key in the open; one restores it, and the site serves and sends.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('site-backup')
const at = (name: string) => path.join(dir, name)
const passphraseFile = at('passphrase')
const passphrase = ['--passphrase-file', passphraseFile]
const waitOptions = { timeout: 60_000 }

beforeAll(async () => {
  writeFileSync(passphraseFile, 'a passphrase of the backup', { mode: 0o600 })
  for (const name of ['alpha', 'bravo']) {
    await runJsonCommand(['init', '--site', at(name), '--profile', 'demo'])
    await runCommand(['keys', 'export', '--site', at(name), '--out', at(`${name}.json`)])
  }
  const file = at('bravo.json')
  const { keys } = JSON.parse(readFileSync(file, 'utf8'))
  const named = keys.flatMap((key: Record<string, string>) =>
    key.platform_use === 'token' ? [] : [key.platform_fingerprint],
  )
  const pin = ['--keys', file, '--tenant', 'bravo', '--ceiling', 'RESTRICTED', '--fingerprint', named.join(',')]
  await runJsonCommand(['peers', 'add', 'bravo', '--site', at('alpha'), ...pin])
  const running = await serveSite(at('alpha'))
  try {
    await runJsonCommand(send('alpha'), { input: '{"number":1}' })
    await waitForReady('alpha', 1)
    await runJsonCommand(['site', 'backup', at('backup'), '--site', at('alpha'), ...passphrase])
  } finally {
    await running.stop()
  }
})
afterAll(() => remove())

function send(site: string): string[] {
  const message = ['--kind', 'contribution', '--schema', 'consensus.contribution/1', '--releasable-to', 'alpha,bravo']
  return ['filedrop', 'send', 'bravo', '--site', at(site), ...message]
}

function listReady(site: string): string[] {
  return readdirSync(at(`${site}/filedrop/bravo/out/ready`)).filter((name) => name.endsWith('.env.json'))
}

async function waitForReady(site: string, epoch: number): Promise<string> {
  const prefix = String(epoch).padStart(8, '0')
  return await vi.waitFor(() => {
    const name = listReady(site).findLast((each) => each.startsWith(prefix))
    if (!name) throw new Error('nothing is ready yet')
    return path.join(at(site), 'filedrop/bravo/out/ready', name)
  }, waitOptions)
}

/** Every file below a folder, with its path from there. */
function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)))
    .sort()
}

const restore = (from: string, to: string, ...more: string[]) =>
  runCommand(['site', 'restore', at(from), '--site', at(to), ...(more.length > 0 ? more : passphrase)])

test('the backup is for its owner alone, and holds no private key in the open', () => {
  expect(listFiles(at('backup'))).toEqual(expect.arrayContaining(['manifest.json', 'site.db', 'site.jwe']))
  const secrets = readdirSync(at('alpha/keys'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(at(`alpha/keys/${name}`), 'utf8')).private_jwk.d as string)
  expect(secrets.length).toBeGreaterThan(2)
  expect(statSync(at('backup')).mode & 0o777).toBe(0o700)
  for (const name of listFiles(at('backup'))) {
    const file = at(`backup/${name}`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const text = readFileSync(file, 'latin1')
    for (const secret of secrets) expect(text.includes(secret)).toBe(false)
  }
})

test('a backup never goes into a folder that exists, and a failed one leaves nothing', async () => {
  const words = ['site', 'backup', at('backup'), '--site', at('alpha'), ...passphrase]
  expect(await runCommand(words)).toMatchObject({ exit: 3, stderr: expect.stringContaining('already exists') })
  expect(existsSync(at('backup/manifest.json'))).toBe(true)
  mkdirSync(at('keyless'))
  cpSync(at('alpha'), at('keyless/alpha'), { recursive: true, filter: (file) => !file.includes('message-') })
  const failed = await runCommand(['site', 'backup', at('failed'), '--site', at('keyless/alpha'), ...passphrase])
  expect([failed.exit === 0, existsSync(at('failed'))]).toEqual([false, false])
})

test.for<[string, string, (backup: string) => void, number]>([
  ['a database was changed', 'does not match its digest', (backup) => flip(path.join(backup, 'site.db')), 5],
  ['the encrypted file was changed', 'does not match its digest', (backup) => flip(path.join(backup, 'site.jwe')), 5],
  [
    'a message was changed',
    'is not what the site stored',
    (backup) => flip(path.join(backup, 'filedrop/bravo/out/ready/00000001-0000000000000001.body.json')),
    5,
  ],
  ['the manifest was changed', '', (backup) => changeManifest(path.join(backup, 'manifest.json')), 5],
  ['it holds the databases alone', 'databases alone', (backup) => dropSiteFiles(path.join(backup, 'manifest.json')), 5],
])('nothing appears when %s', async ([, message, change, exit], { task }) => {
  const name = `changed-${task.id}`
  cpSync(at('backup'), at(name), { recursive: true })
  change(at(name))
  const before = readdirSync(dir)
  expect(await restore(name, 'nowhere')).toMatchObject({ exit, stderr: expect.stringContaining(message) })
  expect(readdirSync(dir)).toEqual(before)
})

function flip(file: string): void {
  const bytes = readFileSync(file)
  const middle = bytes.length >> 1
  bytes[middle] = (bytes[middle] ?? 0) ^ 1
  writeFileSync(file, bytes)
}

function changeManifest(file: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"made": "20../, '"made": "2020'))
}

function dropSiteFiles(file: string): void {
  const { site_files: _, ...manifest } = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify(manifest))
}

test('a wrong passphrase, and a folder that is not empty, are refused before anything changes', async () => {
  writeFileSync(at('wrong'), 'another passphrase', { mode: 0o600 })
  const before = readdirSync(dir)
  expect(await restore('backup', 'nowhere', '--passphrase-file', at('wrong'))).toMatchObject({ exit: 3 })
  expect(await restore('backup', 'bravo')).toMatchObject({ exit: 3, stderr: expect.stringContaining('is not empty') })
  expect(readdirSync(dir)).toEqual(before)
})

test('the site is restored onto an empty folder, serves, and sends after its next epoch', async () => {
  // The machine is lost.
  renameSync(at('alpha'), at('lost'))
  mkdirSync(at('alpha'))
  const { exit, stderr } = await restore('backup', 'alpha')
  expect([exit, stderr.includes('platform filedrop epoch bravo')]).toEqual([0, true])
  const kept = (file: string) => /^(?:profile|keys|identity|peers|filedrop)/.test(file) && !/(?:^|\/)lock$/.test(file)
  expect(listFiles(at('alpha')).filter(kept)).toEqual(listFiles(at('lost')).filter(kept))
  expect((await runCommand(['doctor', '--site', at('alpha')])).stdout).not.toMatch(/is missing|reached by others/)
  const running = await serveSite(at('alpha'))
  try {
    const { items } = await runJsonCommand(['filedrop', 'status', '--site', at('alpha')])
    expect(items.map(({ state }: { state: string }) => state)).toEqual(['frozen', 'open'])
    await runJsonCommand(['filedrop', 'epoch', 'bravo', '--site', at('alpha'), '--yes'])
    await runJsonCommand(send('alpha'), { input: '{"number":2}' })
    const sent = await waitForReady('alpha', 2)
    expect(await runJsonCommand(['filedrop', 'verify', sent, '--keys', at('alpha.json')])).toMatchObject({ ok: true })
    expect(await runCommand(['audit', 'verify', '--site', at('alpha')])).toMatchObject({ exit: 0 })
  } finally {
    await running.stop()
  }
})
