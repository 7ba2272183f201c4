// The profile of a public proxy alone: its roles as shipped, and each condition under which it must not start.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { sendExactRequest } from '../support/http/send-exact-request.ts'
import { createPackagedSite, type PackagedSite, type ServedSite } from '../support/site/packaged-site.ts'

let site: PackagedSite
let served: ServedSite | undefined
afterEach(async () => {
  await served?.stop()
  served = undefined
  site?.remove()
})

test('as it is shipped it lets nobody through, and runs no other role', async () => {
  site = createPackagedSite('public-proxy', 'door')
  served = await site.serve()
  expect(Object.keys(served.ports)).toEqual(['proxy'])
  const ask = (path: string) => sendExactRequest({ port: served?.ports.proxy ?? 0, method: 'GET', path })
  // Token requests have no client yet.
  expect((await ask('/health')).json).toEqual({ status: 'degraded', service: 'public-proxy' })
  for (const path of ['/public-api/api/v1/report', '/metrics', '/openapi.json', '/api/v2/health']) {
    expect((await ask(path)).status, path).toBe(404)
  }
  const inside = { port: served.internal.proxy ?? 0, method: 'GET', path: '/metrics' }
  expect((await sendExactRequest(inside)).status).toBe(401)
  const minted = site.run(['token', 'mint', '--subject', 'ada', '--roles', 'auditor', '--json'])
  const { token } = JSON.parse(minted.stdout) as { token: string }
  expect((await sendExactRequest({ ...inside, token })).text).toContain('# TYPE proxy_request_total counter')
  expect(served.log()).not.toContain('"level":"error"')
  const status = site.run(['status', '--json'])
  expect(status.exit, status.stderr).toBe(0)
})

/** Public, so that nothing but the condition under test is wrong; no server answers there. */
const at = 'http://1.1.1.1'

/** Setting by environment, as a deployment gives it; what the refusal must say: the setting and the remedy. */
const fatal: [name: string, env: Record<string, string>, says: RegExp][] = [
  ['a depth of none', { TRUSTED_PROXY_DEPTH: '0' }, /TRUSTED_PROXY_DEPTH must be 1 or more/],
  ['a depth that is not a number', { TRUSTED_PROXY_DEPTH: 'one' }, /TRUSTED_PROXY_DEPTH must be a whole number/],
  ['an edge node', { EDGE_NODE: 'True' }, /EDGE_NODE .*unset it/],
  [
    'a method that may not be listed',
    { ALLOWLIST: 'GET /a\nPUT /b' },
    /ALLOWLIST, line 2, "PUT \/b".*GET, HEAD and POST/,
  ],
  [
    'a rule that nobody can read',
    { ALLOWLIST: 'GET a' },
    /ALLOWLIST, line 1, "GET a": the path must begin with a slash/,
  ],
  ['a platform that is not a URL', { PLATFORM_API_URL: 'platform' }, /PLATFORM_API_URL must be a URL such as/],
  ['a platform of another scheme', { PLATFORM_API_URL: 'ftp://platform' }, /PLATFORM_API_URL must begin with http/],
  [
    'a loopback platform',
    { PLATFORM_API_URL: 'http://127.0.0.1:1' },
    /PLATFORM_API_URL .*127\.0\.0\.1.*proxy\.trusted_networks/,
  ],
  [
    'a private platform',
    { PLATFORM_API_URL: 'http://10.1.2.3' },
    /PLATFORM_API_URL .*10\.1\.2\.3.*proxy\.trusted_networks/,
  ],
  ['a platform whose name leads inside', { PLATFORM_API_URL: 'http://localhost' }, /PLATFORM_API_URL .*localhost/],
  [
    'a link-local IPv6 platform',
    { PLATFORM_API_URL: 'http://[fe80::1]' },
    /PLATFORM_API_URL .*proxy\.trusted_networks/,
  ],
  [
    'a mapped loopback platform',
    { PLATFORM_API_URL: 'http://[::ffff:127.0.0.1]' },
    /PLATFORM_API_URL .*trusted_networks/,
  ],
  ['a loopback token endpoint', { SSO_TOKEN_URL: 'http://[::1]/token' }, /SSO_TOKEN_URL .*proxy\.trusted_networks/],
  ['a token endpoint that is not a URL', { SSO_TOKEN_URL: 'token' }, /SSO_TOKEN_URL .*must be a URL/],
  ['a token endpoint that is not verified', { SSO_TLS_VERIFY: 'false' }, /SSO_TLS_VERIFY must be true/],
  ['the same by its other name', { SSO_VERIFY: 'false' }, /SSO_TLS_VERIFY must be true/],
  ['a token endpoint of another scheme', { SSO_TOKEN_URL: 'ftp://idp.example/t' }, /SSO_TOKEN_URL .*begin with http/],
  [
    'a platform with credentials in it',
    { PLATFORM_API_URL: 'http://a:b@203.0.113.7' },
    /PLATFORM_API_URL .*credentials/,
  ],
  [
    'counters by no authority',
    { KV_HOST: '203.0.113.9', KV_VERIFY: '/nowhere/ca.pem' },
    /kv\.verify: \/nowhere\/ca\.pem .*PEM/,
  ],
  ['authorities of the provider that are not there', { SSO_CA_FILE: '/nowhere/ca.pem' }, /sso\.ca_file: .*PEM/],
  [
    'the platform’s own client',
    { SSO_CLIENT_ID: 'one', PUBLIC_SSO_CLIENT_ID: 'one' },
    /PUBLIC_SSO_CLIENT_ID .*limited/,
  ],
  ['a prefix that is not a path', { PUBLIC_PATH_PREFIX: 'open' }, /PUBLIC_PATH_PREFIX must be a path such as/],
  ['an empty limit', { RATE_LIMIT_PER_MIN: '0' }, /RATE_LIMIT_PER_MIN must be 1 or more/],
  ['authorities that are not there', { PLATFORM_API_CA_FILE: '/nowhere/ca.pem' }, /platform_api_ca_file: .*PEM/],
  ['counters in the clear', { KV_HOST: '203.0.113.9', KV_VERIFY: 'false' }, /kv\.verify: .*TLS/],
]

test('reports each fatal condition at the start, with its setting and the remedy', () => {
  site = createPackagedSite('public-proxy', 'door')
  for (const [name, env, says] of fatal) {
    const { exit, stderr } = site.run(['serve'], { PLATFORM_API_URL: at, SSO_TOKEN_URL: `${at}/token`, ...env })
    expect(stderr, name).toMatch(says)
    expect([1, 3], name).toContain(exit)
    expect(stderr).not.toMatch(/ {4}at |node:internal/)
  }
}, 300_000)

test('reports each invalid value, by its setting and the allowed values', () => {
  site = createPackagedSite('public-proxy', 'door')
  const { exit, stderr } = site.run(['serve'], {
    ...{ CORS_ALLOW_ORIGIN: 'city.example', CACHE_MAX_MB: '-1', CACHE_TTL_S: '86401' },
    ...{ RATE_LIMIT_PER_MIN: '0', WRITE_RATE_LIMIT_PER_MIN: 'few', WRITE_MAX_BODY_BYTES: 'large' },
  })
  expect(exit).toBe(1)
  for (const says of [
    'CORS_ALLOW_ORIGIN must be * or an origin',
    'proxy.cache_max_mb: must be at least 0',
    'proxy.cache_ttl_s: must be at most 86400',
    'RATE_LIMIT_PER_MIN must be 1 or more',
    'proxy.write_rate_limit_per_min: must be a number',
    'proxy.write_max_body_bytes: must be a number',
  ])
    expect(stderr).toContain(says)
})

test('a profile without what it needs says all of it at once', () => {
  site = createPackagedSite('public-proxy', 'door')
  site.edit('  trusted_proxy_depth: 1', '  # depth')
  site.edit('  platform_api_url:', '  # platform_api_url:')
  site.edit('  token_url:', '  # token_url:')
  const { exit, stderr } = site.run(['serve'])
  expect(exit).toBe(3)
  for (const name of ['TRUSTED_PROXY_DEPTH', 'PLATFORM_API_URL', 'SSO_TOKEN_URL']) expect(stderr).toContain(`${name} (`)
})

test('networks are trusted by the profile alone', () => {
  site = createPackagedSite('public-proxy', 'door')
  const env = {
    PLATFORM_API_URL: 'http://10.1.2.3',
    TRUSTED_NETWORKS: '10.0.0.0/8',
    PROXY_TRUSTED_NETWORKS: '10.0.0.0/8',
  }
  expect(site.run(['serve'], env).stderr).toContain('proxy.trusted_networks')
  expect(readFileSync(site.profile, 'utf8')).toContain('# trusted_networks')
})

test('reports an occupied address, also where threads could share it', async () => {
  site = createPackagedSite('public-proxy', 'door')
  const other = createServer()
  await new Promise<void>((resolve) => other.listen({ host: '127.0.0.1', port: 0 }, resolve))
  const { port } = other.address() as { port: number }
  const { exit, stderr } = site.run(['serve'], { PROXY_PORT: String(port), PROXY_WORKERS: '2' })
  expect(stderr).toContain('EADDRINUSE')
  expect(exit).not.toBe(0)
  await new Promise((resolve) => other.close(resolve))
})
