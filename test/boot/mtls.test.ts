// A site whose peers come over mTLS: no start without its certificate, and where it shows that it has such a carrier.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { certificatesFolder } from '../../daemon/boot/storage/site-folder.ts'
import { StartRefusal } from '../../daemon/kernel/settings/profile-error.ts'
import { createScratchFolder } from '../support/command/run-command.ts'
import { createAuthority, issueCertificate, type SiteAuthority } from '../support/keys/site-certificates.ts'
import { createTestSite, startTestSite, type TestSite, waitUntil } from '../support/site/test-site.ts'

const { dir, remove } = createScratchFolder('mtls-start')
let bravoAuthority: SiteAuthority
const worlds: TestSite[] = []
beforeAll(async () => {
  bravoAuthority = await createAuthority(dir, 'bravo')
})
afterAll(async () => {
  for (const each of worlds) await each.end()
  remove()
})

const buildMtlsProfile = (more: object = {}) => ({
  mtls: { port: 0, peers: { bravo: { url: 'https://127.0.0.1:9', ca_file: bravoAuthority.file } }, ...more },
})

test.each(['classified-airgapped', 'single-cluster'])(
  'in %s it does not start without a certificate',
  async (template) => {
    const world = await createTestSite({ template, profile: buildMtlsProfile({ listen: '0.0.0.0' }) })
    worlds.push(world)
    const refused = await world.start().catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(StartRefusal)
    expect(String(refused)).toMatch(/mtls: .*site\.pem cannot be read .*platform keys cert issue/)
  },
)

test('refuses the certificate of another site, and a pin that is not an authority', async () => {
  const made = await issueCertificate(dir, bravoAuthority, 'bravo')
  const world = await createTestSite({ profile: buildMtlsProfile({ cert_file: made.file }) })
  const pin = { bravo: { url: 'https://127.0.0.1:9', ca_file: made.file } }
  const alphas = await issueCertificate(dir, bravoAuthority, 'alpha')
  const odd = await createTestSite({ profile: buildMtlsProfile({ cert_file: alphas.file, peers: pin }) })
  worlds.push(world, odd)
  await expect(world.start()).rejects.toThrow('does not name the site alpha')
  await expect(odd.start()).rejects.toThrow('not of an authority')
})

test('refuses a peer URL that holds more than host and port', async () => {
  for (const url of [
    'http://bravo.example',
    'https://u:p@bravo.example',
    'https://bravo.example/x',
    'https://b.example?x',
  ]) {
    const world = await createTestSite({
      profile: buildMtlsProfile({ peers: { bravo: { url, ca_file: bravoAuthority.file } } }),
    })
    worlds.push(world)
    await expect(world.start(), url).rejects.toThrow('mtls.peers.bravo.url')
  }
})

test('with one it says that it has the carrier, how that is, and when certificates end', async () => {
  const world = await createTestSite({ profile: buildMtlsProfile() })
  worlds.push(world)
  const { file } = await issueCertificate(dir, await createAuthority(dir, 'alpha'), 'alpha')
  fs.mkdirSync(certificatesFolder(world.folder), { mode: 0o700 })
  fs.copyFileSync(file, path.join(certificatesFolder(world.folder), 'site.pem'))
  await world.start()
  const token = await world.token({ roles: ['admin'] })
  const info = await world.call('site', 'GET', '/service-info')
  expect(info.json).toMatchObject({ supported_transports: ['filedrop', 'mtls'] })
  const health = async () => {
    const { json } = await world.call('site', 'GET', '/health', undefined, { token })
    const { dependencies } = json as { dependencies: { name: string; state: string; detail: string }[] }
    return dependencies.find(({ name }) => name === 'transport mtls')
  }
  expect(await health()).toMatchObject({ state: 'ok' })
  const metrics = await world.call('site', 'GET', '/metrics', undefined, { token })
  expect(metrics.text).toMatch(/^mtls_certificate_end_seconds\{of="alpha"\} \d{10}/m)
  fs.writeFileSync(path.join(certificatesFolder(world.folder), 'site.pem'), 'nothing')
  await waitUntil(async () => (await health())?.detail.includes('holds no certificate'))
})

test('a site that names no peers for it has nothing of it', async () => {
  const world = await startTestSite()
  worlds.push(world)
  expect((await world.call('site', 'GET', '/service-info')).json).toMatchObject({ supported_transports: ['filedrop'] })
})
