// The authority and the certificates of a site as an operator makes, renews and looks at them; the private halves never show.
import { X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('certificates')
afterAll(remove)
const at = (...names: string[]) => path.join(dir, ...names)
const passphrase = 'nine herons above the reeds'
const secret = at('passphrase')
const medium = at('medium')

beforeAll(async () => {
  fs.writeFileSync(secret, `${passphrase}\n`, { mode: 0o600 })
  for (const name of ['alpha', 'bravo']) {
    await runJsonCommand(['init', '--site', at(name), '--name', name, '--profile', 'demo', '--port-base', '0', '--yes'])
  }
})

const readCertificate = (site: string) => fs.readFileSync(at(site, 'keys', 'certificates', 'site.pem'), 'utf8')
const readRefusal = async (...words: string[]) => {
  const { exit, stderr } = await runCommand(words)
  return `${exit} ${stderr.replaceAll('error: ', '').replaceAll('\n', ' ')}`
}

describe('an authority in the site', () => {
  test('there is nothing to show or sign with before it is made', async () => {
    for (const words of [
      ['ca', 'show'],
      ['cert', 'issue'],
      ['cert', 'show'],
      ['cert', 'renew'],
    ]) {
      expect(await readRefusal('keys', ...words, '--site', at('alpha'))).toMatch(
        /^1 .*platform keys (ca init|cert issue)/,
      )
    }
  })

  test('signs the site’s certificate, which says the site and the hosts, for its owner alone', async () => {
    const made = await runJsonCommand(['keys', 'ca', 'init', '--site', at('alpha')])
    const issued = await runJsonCommand([
      'keys',
      'cert',
      'issue',
      '--site',
      at('alpha'),
      '--hosts',
      'a.example,192.0.2.7',
    ])
    expect(issued).toMatchObject({
      site: 'alpha',
      names: 'URI:urn:platform:site:alpha, DNS:a.example, IP Address:192.0.2.7',
    })
    await runJsonCommand(['keys', 'ca', 'show', '--site', at('alpha'), '--out', at('alpha-ca.pem')])
    const authority = new X509Certificate(fs.readFileSync(at('alpha-ca.pem')))
    expect(made.fingerprint).toBe(authority.fingerprint256)
    expect(new X509Certificate(readCertificate('alpha')).verify(authority.publicKey)).toBe(true)
    const folder = at('alpha', 'keys', 'certificates')
    for (const name of fs.readdirSync(folder)) expect(fs.statSync(path.join(folder, name)).mode & 0o077).toBe(0)
    expect((await runJsonCommand(['keys', 'ca', 'show', at('alpha-ca.pem')])).items).toEqual([made])
  })

  test('is renewed with another key and the same names, and the audit chain says so', async () => {
    const before = await runJsonCommand(['keys', 'cert', 'show', '--site', at('alpha')])
    const after = await runJsonCommand(['keys', 'cert', 'renew', '--site', at('alpha'), '--days', '30'])
    expect(after).toMatchObject({ site: 'alpha', names: before.names, issuer: before.issuer })
    expect(after.key).not.toBe(before.key)
    const { stdout } = await runCommand(['audit', 'export', '--site', at('alpha')])
    expect(stdout).toContain('site.certificate.issue')
    expect(stdout).toContain(after.key)
  })

  test('replaces it only on demand, and peers then pin both', async () => {
    const init = ['keys', 'ca', 'init', '--site', at('alpha')]
    expect(await readRefusal(...init)).toMatch(/^3 the authority .* already exists/)
    const before = (await runJsonCommand(['keys', 'ca', 'show', '--site', at('alpha')])).items
    const replaced = await runJsonCommand([...init, '--replace'])
    const after = (await runJsonCommand(['keys', 'ca', 'show', '--site', at('alpha')])).items
    expect(after).toEqual([...before, replaced])
    await runJsonCommand(['keys', 'cert', 'renew', '--site', at('alpha')])
    expect(new X509Certificate(readCertificate('alpha')).issuer).toContain(replaced.authority)
  })

  test('is among the keys, and in no JWKS that others verify with', async () => {
    const { items } = await runJsonCommand(['keys', 'list', '--site', at('alpha')])
    const uses = (items as { use: string; status: string }[]).filter(({ use }) => use === 'authority')
    expect(uses.map(({ status }) => status).sort()).toEqual(['active', 'retired'])
    expect((await runCommand(['keys', 'export', '--site', at('alpha')])).stdout).not.toContain('authority')
    const kid =
      (items as { use: string; kid: string; status: string }[]).find(
        ({ use, status }) => use === 'authority' && status === 'active',
      )?.kid ?? ''
    expect(await readRefusal('keys', 'rotate', kid, '--site', at('alpha'))).toContain('keys ca init --replace')
  })
})

describe('an authority on a medium that is never connected', () => {
  const at_medium = ['--dir', medium, '--passphrase-file', secret]

  test('is made under a passphrase, and signs what the site asks for, whose key stays there', async () => {
    await runJsonCommand(['keys', 'ca', 'init', '--name', 'coalition', ...at_medium])
    const [key = ''] = fs.readdirSync(medium).filter((name) => name.endsWith('.json'))
    expect(fs.readFileSync(path.join(medium, key), 'utf8')).not.toContain('"d"')
    await runJsonCommand(['keys', 'cert', 'request', '--site', at('bravo'), '--out', at('request.pem')])
    expect(fs.readFileSync(at('request.pem'), 'utf8')).not.toContain('PRIVATE')
    const issue = ['keys', 'cert', 'issue', at('request.pem'), '--out', at('bravo.pem')]
    expect(await readRefusal(...issue, ...at_medium)).toMatch(/^3 .*must be confirmed/)
    expect(await readRefusal(...issue, '--dir', medium, '--yes')).toMatch(/^3 .*passphrase/)
    await runJsonCommand([...issue, ...at_medium, '--yes'])
    expect(await runJsonCommand(['keys', 'cert', 'install', at('bravo.pem'), '--site', at('bravo')])).toMatchObject({
      site: 'bravo',
      issuer: expect.stringContaining('CN=coalition authority-'),
    })
    expect(readCertificate('bravo')).toContain('BEGIN PRIVATE KEY')
  })

  test('refuses to install an unrequested certificate, or one for another key or site', async () => {
    const install = (file: string) => readRefusal('keys', 'cert', 'install', file, '--site', at('bravo'))
    const before = readCertificate('bravo')
    expect(await install(at('bravo.pem'))).toMatch(/^3 no certificate was requested/)
    await runJsonCommand(['keys', 'cert', 'request', '--site', at('bravo'), '--out', at('second.pem')])
    expect(await install(at('bravo.pem'))).toMatch(/^3 the certificate is not for the key/)
    expect(await install(secret)).toMatch(/^[23] /)
    expect(readCertificate('bravo')).toBe(before)
  })

  test('refuses to sign an invalid request, or one changed on the way', async () => {
    const lines = fs.readFileSync(at('second.pem'), 'utf8').split('\n')
    const changed = lines.map((line, at) =>
      at === 2 ? line.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A')) : line,
    )
    fs.writeFileSync(at('odd.pem'), changed.join('\n'))
    for (const file of [at('odd.pem'), secret, at('bravo.pem')]) {
      const words = ['keys', 'cert', 'issue', file, '--out', at('never.pem'), '--yes', ...at_medium]
      expect(await readRefusal(...words)).toMatch(/^2 the file is not a certificate request/)
    }
    expect(fs.existsSync(at('never.pem'))).toBe(false)
  })
})

test('where the profile names a passphrase, the key of the certificate lies under it too', async () => {
  const profile = at('bravo', 'profile.yaml')
  fs.appendFileSync(profile, `\nidentity:\n  keys_passphrase_file: ${secret}\n`)
  await runJsonCommand(['keys', 'ca', 'init', '--site', at('bravo')])
  await runJsonCommand(['keys', 'cert', 'issue', '--site', at('bravo')])
  expect(readCertificate('bravo')).toContain('BEGIN ENCRYPTED PRIVATE KEY')
  fs.appendFileSync(profile, `\nmtls:\n  peers:\n    alpha: { url: "https://127.0.0.1:9", ca_file: ../alpha-ca.pem }\n`)
  const { stdout } = await runCommand(['doctor', '--site', at('bravo')])
  expect(stdout).toMatch(/ok +mtls +the certificate of this site lasts until/)
  expect(stdout).toMatch(/problem +mtls +alpha is not a pinned peer/)
  expect(stdout).toMatch(/warning +mtls +alpha cannot be reached/)
})
