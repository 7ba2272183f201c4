// The documented signing command on a real PKCS#11 module: root and message keys of P-384 that never leave SoftHSM.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { joseSignatures, verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { createScratchFolder, runJsonCommand } from '../../support/command/run-command.ts'
import { type SiteCommands, siteCommands } from '../../support/keys/root-key-ceremony.ts'
import { findTools, whenPresent } from '../../support/runner/requires.ts'

const needs = findTools('softhsm2-util', 'pkcs11-tool', 'openssl')
const test = whenPresent(needs)
const { dir, remove } = createScratchFolder('softhsm')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const module_file = '/usr/lib/softhsm/libsofthsm2.so'
const medium = at('medium')
const env = { PATH: process.env.PATH ?? '', SOFTHSM2_CONF: at('softhsm2.conf'), PIN: '59234' }
const run = (program: string, ...words: string[]) => execFileSync(program, words, { env, stdio: 'pipe' })

/** The example of the documentation with the lines changed that it names. */
function installCommand(label: string, id: string, resident: 'yes' | 'no'): string {
  const values = { MODULE: module_file, ID: id, PIN_FILE: at('pin'), RESIDENT: resident }
  const example = readFileSync('docs/examples/sign-by-softhsm.sh', 'utf8')
  const changed = Object.entries({ ...values, 'export SOFTHSM2_CONF': env.SOFTHSM2_CONF }).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^${name}=.*$`, 'm'), `${name}=${value}`),
    example,
  )
  writeFileSync(at(`sign-${label}`), changed)
  chmodSync(at(`sign-${label}`), 0o700)
  return at(`sign-${label}`)
}

function createModuleKey(label: string, id: string): string {
  const login = ['--module', module_file, '--token-label', 'platform', '--login', '--pin', 'env:PIN']
  run('pkcs11-tool', ...login, '--keypairgen', '--key-type', 'EC:secp384r1', '--label', label, '--id', id)
  writeFileSync(at(`${label}.pem`), run('docs/examples/export-softhsm-key.sh', module_file, 'platform', id))
  return at(`${label}.pem`)
}

let site: SiteCommands
beforeAll(() => {
  if (!needs.isPresent) return
  mkdirSync(at('tokens'))
  writeFileSync(env.SOFTHSM2_CONF, `directories.tokendir = ${at('tokens')}\n`)
  writeFileSync(at('pin'), `${env.PIN}\n`, { mode: 0o600 })
  run('softhsm2-util', '--init-token', '--free', '--label', 'platform', '--so-pin', '7812', '--pin', env.PIN)
  site = siteCommands(at('alpha'))
})

test('a root key in the module signs the key sets of a site, from a medium that holds its public half', async () => {
  const program = installCommand('root', '01', 'no')
  const words = ['keys', 'connect', createModuleKey('root', '01'), '--use', 'root', '--command', program]
  const { kid } = await runJsonCommand([...words, '--dir', medium])
  await runJsonCommand(['keys', 'export', '--dir', medium, '--out', at('root.json')])
  await site.answered(['init', '--name', 'alpha', '--tenant', 'alpha', '--profile', 'demo'])
  const [own] = await site.keys('root')
  const set = at('set-1.json')
  await site.answered(['keys', 'set', 'draft', '--out', set, '--roots', at('root.json'), '--retire', own.kid])
  const signed = await runJsonCommand(['keys', 'set', 'sign', set, '--dir', medium, '--yes'])
  expect(signed.signers).toEqual([kid])
  expect(await site.answered(['keys', 'set', 'publish', set, '--yes'])).toMatchObject({ version: 1 })
  for (const name of readdirSync(medium).filter((file) => file.endsWith('.json')))
    expect(readFileSync(path.join(medium, name), 'utf8')).not.toContain('private')
})

test('a message key in the module signs beside one in a file, by one process', async () => {
  const program = installCommand('message', '02', 'yes')
  const words = ['keys', 'connect', createModuleKey('message', '02'), '--use', 'message', '--resident']
  const { kid } = await site.answered([...words, '--command', program])
  const set = at('set-2.json')
  await site.answered(['keys', 'set', 'draft', '--out', set, '--message-threshold', '2'])
  await runJsonCommand(['keys', 'set', 'sign', set, '--dir', medium, '--yes'])
  expect(await site.answered(['keys', 'set', 'publish', set, '--yes'])).toMatchObject({ version: 2 })
  const rotation = await site.platform(['keys', 'rotate', kid])
  expect([rotation.exit, rotation.stderr]).toEqual([3, expect.stringContaining('signs by a command')])
  const signatures = joseSignatures({ dir: at('alpha/keys') })
  for (const text of ['first', 'second']) {
    const envelope = await signatures.sign('checkpoint', Buffer.from(text))
    const read = await verifyJws('checkpoint', envelope, signatures.publicKeys())
    expect(typeof read === 'object' && read.keys.map(({ algorithm }) => algorithm).sort()).toEqual(['ES384', 'Ed25519'])
    expect(typeof read === 'object' && read.keys.map((key) => key.kid)).toContain(kid)
  }
})
