// A support bundle of a site in use: it says what is needed, and holds no secret, wherever one was.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createScratchFolder,
  type Json,
  runCommand,
  runJsonCommand,
  serveSite,
} from '../support/command/run-command.ts'
import { readSecrets } from '../support/keys/read-secrets.ts'
import { editProfile } from '../support/site/packaged-federation.ts'

const { dir, remove } = createScratchFolder('support')
const site = path.join(dir, 'alpha')
const file = path.join(dir, 'support.json')
const log = path.join(dir, 'serve.log')
/** Where operators and callers leave secrets: settings, the environment, lines of logs of several forms. */
const canaries = {
  setting: 'canary-setting-4f1d',
  variable: 'canary-variable-77aa',
  field: 'canary-field-91bc',
  text: 'canary-text-0b2e',
  address: 'canary-address-5d8f',
}
let text: string
let bundle: Json
beforeAll(async () => {
  await runJsonCommand(['init', '--site', site, '--tenant', 'acme', '--port-base', '0', '--yes'])
  editProfile({ dir: site }, { sso: { client_secret: canaries.setting } })
  const { token } = await runJsonCommand(['token', 'mint', '--subject', 'ann', '--roles', 'analyst', '--site', site])
  const lines = [
    JSON.stringify({ level: 'info', event: 'connected', password: canaries.field, deep: { api_key: canaries.field } }),
    `sending with authorization: Bearer ${token}`,
    `{ not json, password=${canaries.text}`,
    `dialling amqps://site:${canaries.address}@broker.example:5671`,
  ]
  fs.writeFileSync(log, `${lines.join('\n')}\n`)
  const env = { KV_PASSWORD: canaries.variable }
  const { stop } = await serveSite(site)
  const ended = await runCommand(['support', '--site', site, '--out', file, '--log', log], { env })
  await stop()
  expect(ended, ended.stderr).toMatchObject({ exit: 0 })
  text = fs.readFileSync(file, 'utf8')
  bundle = JSON.parse(text)
})
afterAll(remove)

test('has each section, none of which failed', () => {
  expect(Object.keys(bundle)).toEqual([
    'format',
    'version',
    'made_at',
    'machine',
    'settings',
    'doctor',
    'keys',
    'peers',
    'files',
    'logs',
    'roles',
  ])
  expect(Object.entries(bundle).filter(([, section]) => (section as Json).failed)).toEqual([])
  expect(bundle.doctor.find(({ code }: Json) => code === 'keys.ok')).toBeDefined()
  expect(bundle.roles.consensus.metrics.join('\n')).toMatch(/^consensus_/m)
  expect(bundle.files.listed.some((each: Json) => /^keys\/message-/.test(each.path))).toBe(true)
  expect(bundle.logs[0].lines).toHaveLength(4)
})

test('holds no private key, token, passphrase or password', () => {
  const secrets = [
    ...readSecrets(path.join(site, 'keys')),
    ...readSecrets(path.join(site, 'identity')),
    ...Object.values(canaries),
  ]
  expect(secrets.length).toBeGreaterThan(Object.keys(canaries).length + 3)
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
  expect(text).not.toMatch(/eyJ[A-Za-z0-9_-]{10,}\./)
})

test('is for its owner alone, and replaces no file', async () => {
  expect(fs.statSync(file).mode & 0o777).toBe(0o600)
  expect(await runCommand(['support', '--site', site, '--out', file])).toMatchObject({ exit: 3 })
})
