// Profiles that keep the packaged executable from starting: exit code, and a message that names the remedy.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createPackagedSite, type PackagedSite } from '../support/site/packaged-site.ts'

const sites: PackagedSite[] = []
afterEach(() => {
  for (const site of sites.splice(0)) site.remove()
})

function createSite(profile: string, name?: string): PackagedSite {
  const site = createPackagedSite(profile, name)
  sites.push(site)
  return site
}

/** Runs `serve`, which must end by itself: 3 for a refusal, 1 for a profile with faults. Returns its output. */
function readRefusal(site: PackagedSite, env: Readonly<Record<string, string>> = {}, code = 3): string {
  const { exit, stdout, stderr } = site.run(['serve'], env)
  expect(exit, stderr).toBe(code)
  expect(stdout).toBe('')
  expect(stderr).not.toMatch(/ {4}at |node:internal/)
  return stderr
}

test('classified_airgapped listens on loopback alone, unless it has TLS', () => {
  const site = createSite('classified-airgapped')
  site.edit('listen: 127.0.0.1', 'listen: 0.0.0.0')
  expect(readRefusal(site)).toMatch(/site\.listen: 0\.0\.0\.0 is not loopback.*tls_cert_file/)
  site.edit('listen: 0.0.0.0', 'listen: 127.0.0.1')
  expect(readRefusal(site, { CONSENSUS_LISTEN: '192.0.2.1' })).toContain('consensus.listen: 192.0.2.1 is not loopback')
  expect(readRefusal(site, { SITE_METRICS_LISTEN: '0.0.0.0:9420' })).toContain('site.metrics_listen')
})

test('classified_airgapped refuses a channel without accreditation, or with one that has ended', async () => {
  const site = createSite('classified-airgapped')
  const bravo = createSite('classified-airgapped', 'bravo')
  const keys = path.join(bravo.dir, 'keys.json')
  expect(bravo.run(['keys', 'export', '--out', keys]).exit).toBe(0)
  const { keys: shown } = JSON.parse(bravo.run(['keys', 'export', '--json']).stdout) as { keys: { kid: string }[] }
  const fingerprints = shown.filter(({ kid }) => kid.startsWith('message-')).map(readFingerprint)
  const pinned = ['peers', 'add', 'bravo', '--keys', keys, '--tenant', 'bravo', '--ceiling', 'SECRET']
  const added = site.run([...pinned, '--fingerprint', fingerprints.join(',')])
  expect(added.exit, added.stderr).toBe(0)
  expect(readRefusal(site)).toMatch(/site\.accreditations\.bravo: .*no accreditation/)
  const accreditation = (until: string) =>
    `site:\n  accreditations: { bravo: { authority: Board, reference: AB-1, valid_until: "${until}" } }`
  site.edit('site:', accreditation('2020-01-31'))
  expect(readRefusal(site)).toMatch(/its accreditation ended on 2020-01-31/)
  site.edit('2020-01-31', '2099-01-31')
  const served = await site.serve()
  expect(await served.stop()).toBe(0)
})

test.each([
  ['in the profile', {}],
  ['in the environment', { MATCHING_PATTERN: 'lookup_only' }],
])('customer_onprem with lookup_only %s does not start consensus', (where, env) => {
  const site = createSite('customer-onprem')
  if (where === 'in the profile') site.edit('matching_pattern: full_lens', 'matching_pattern: lookup_only')
  expect(readRefusal(site, env)).toContain('full-lens profile')
})

test('the environment makes any site one of customer_onprem', () => {
  const env = { PLATFORM_DEPLOYMENT_PROFILE: 'customer_onprem', MATCHING_PATTERN: 'lookup_only' }
  expect(readRefusal(createSite('single-cluster'), env)).toContain('full-lens profile')
})

test.each([
  ['consensus:', 'consensus:\n  matching_patern: full_lens', 'consensus.matching_patern', 'matching_pattern'],
  ['consensus:', 'consensu: {}\nconsensus:', 'consensu', 'consensus'],
  ['platform:', 'platform:\n  drain: 1', 'platform.drain', 'drain_ms'],
])('an unknown key is an error that names the nearest (%s, %s)', (from, to, place, nearest) => {
  const site = createSite('single-cluster')
  site.edit(from, to)
  const refusal = readRefusal(site, {}, 1)
  expect(refusal).toContain(place)
  expect(refusal).toContain(`did you mean "${nearest}"?`)
  expect(site.run(['profile', 'validate']).exit).toBe(5)
})

test('reports every fault at once', () => {
  const site = createSite('single-cluster')
  writeFileSync(site.profile, 'platform: { name: "Not A Name", deployment_profile: moon }\nsite: { port: 70000 }\n')
  const refusal = readRefusal(site, {}, 1)
  for (const place of ['platform.name', 'platform.deployment_profile', 'platform.tenant_id', 'site.port']) {
    expect(refusal).toContain(place)
  }
})

/** A key's fingerprint as its key id and its record show it. */
function readFingerprint(key: Readonly<Record<string, unknown>>): string {
  const found = Object.values(key).find((value) => typeof value === 'string' && /^[A-Za-z0-9_-]{43}$/.test(value))
  return String(key.fingerprint ?? key.platform_fingerprint ?? found)
}
