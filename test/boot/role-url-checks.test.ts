// Starts that end where a role would be requested in the clear, or without the certificates that this needs.
import * as fs from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { roleAuthoritiesFile, roleCertificateFile } from '../../daemon/boot/storage/site-folder.ts'
import { createTestSite, type ProfileSections, type TestSite } from '../support/site/test-site.ts'
import { createTwoMachines, type Machines } from '../support/site/two-machines.ts'

let machines: Machines | undefined
let world: TestSite | undefined
afterEach(async () => {
  await machines?.end()
  await world?.end()
  machines = undefined
  world = undefined
})

/** The message of the start, or `started`. */
async function start(profile: ProfileSections, env: Readonly<Record<string, string>> = {}): Promise<string> {
  world = await createTestSite({ profile: { ...profile, intelligence: { port: 0 } }, env })
  const message = await world.start().then(
    () => 'started',
    (error: unknown) => String(error),
  )
  await world.end()
  return message
}

test('a URL without TLS ends the start where a role requests the other there, and names its setting', async () => {
  const platform = { roles: ['site'] }
  const url = 'http://127.0.0.1:8002'
  expect(await start({ platform, ingress: { intelligence_url: url } })).toMatch(
    /ingress\.intelligence_url: the role site requests operations of intelligence at this URL.*https:.*ingress\.backends/,
  )
  for (const each of [url, 'HTTP://127.0.0.1:8002'])
    expect(await start({ platform }, { INTELLIGENCE_URL: each })).toContain('ingress.intelligence_url')
  expect(await start({ platform, role_calls: { urls: { intelligence: url } } })).toMatch(
    /role_calls\.urls\.intelligence: .*https:\/\//,
  )
  // In this process nothing goes to the URL, and no role of the site requests the data platform.
  const here = { platform: { roles: ['site', 'intelligence'] } }
  expect(await start({ ...here, ingress: { intelligence_url: url, data_platform_url: url } })).toBe('started')
})

test('a URL is that of a role that exists, and a listener that accepts certificates has TLS', async () => {
  const platform = { roles: ['site'] }
  const urls = { nobody: 'https://a.example' }
  expect(await start({ platform, role_calls: { urls } })).toMatch(/role_calls\.urls\.nobody: .*does not exist/)
  for (const url of ['https://u:p@a.example', 'https://a.example/x', 'https://a.example?x'])
    expect(await start({ platform, role_calls: { urls: { ingest: url } } }), url).toContain('role_calls.urls.ingest')
  expect(await start({ platform, role_calls: { accept_certificates: true } })).toMatch(
    /role_calls\.accept_certificates: no role here has a TLS listener: set tls_cert_file of site/,
  )
})

test('a role without its certificate, with that of another, or without the authorities does not start', async () => {
  machines = await createTwoMachines({ home: ['site'], away: ['intelligence'] })
  const file = roleCertificateFile(machines.folder, 'intelligence')
  const own = fs.readFileSync(file)
  fs.copyFileSync(roleCertificateFile(machines.world.folder, 'site'), file)
  await expect(machines.start('away')).rejects.toThrow(/is not the certificate of intelligence: it is that of site/)
  fs.rmSync(file)
  await expect(machines.start('away')).rejects.toThrow(
    /no certificate here; `platform keys cert issue --role intelligence`/,
  )
  fs.writeFileSync(file, own, { mode: 0o600 })
  fs.writeFileSync(roleAuthoritiesFile(machines.folder), '')
  await expect(machines.start('away')).rejects.toThrow(/lists no authorities of the site/)
})
