// Every condition that prevents a start names its setting and the remedy, and so does an invalid setting.
import { describe, expect, test } from 'vitest'
import { parseWithSchema } from '../../kernel/error/parsing.ts'
import { resolveSettings } from '../../kernel/settings/settings.ts'
import { findOriginFault, parseOrigin } from './platform-origin.ts'
import { settings } from './settings.ts'
import { findStartFaults } from './start-faults.ts'

const validSettings = { platform_api_url: 'https://platform.example', trusted_proxy_depth: 1, allowlist: 'GET /a' }
const sso = { token_url: 'https://idp.example/token', client_id: 'platform' }
const startFaultsWith = (change: object, sso_settings = sso) =>
  findStartFaults(settings.schema.parse({ ...validSettings, ...change }), sso_settings)

/** Problems of the settings themselves, by environment names. */
const settingProblems = (env: Readonly<Record<string, string>>) =>
  resolveSettings([settings], {
    profile: {},
    env,
    flags: {},
    resolvePath: (path) => path,
    readSecret: () => '',
    needsSecrets: () => true,
  }).problems.map(({ path, message }) => `${path}: ${message}`)

test('the proxy starts with valid settings', () => {
  expect(startFaultsWith({})).toEqual([])
})

describe('it does not start', () => {
  test.each([
    [{ edge_node: true }, /^EDGE_NODE .* unset it/],
    [{ edge_node: 'True' }, /^EDGE_NODE/],
    [{ trusted_proxy_depth: undefined }, /^TRUSTED_PROXY_DEPTH .* not set: set the number/],
    [{ platform_api_url: undefined }, /^PLATFORM_API_URL .* not set: set its/],
    [{ platform_api_url: 'http://127.0.0.1:9001' }, /^PLATFORM_API_URL .*127\.0\.0\.1.*proxy\.trusted_networks/],
    [{ platform_api_url: 'http://localhost:9001' }, /^PLATFORM_API_URL .*localhost/],
    [{ platform_api_url: 'http://api.localhost.' }, /^PLATFORM_API_URL/],
    [{ platform_api_url: 'http://[::1]' }, /^PLATFORM_API_URL/],
    [{ platform_api_url: 'http://[::ffff:10.0.0.1]' }, /^PLATFORM_API_URL/],
    [{ platform_api_url: 'http://0x7f.1' }, /^PLATFORM_API_URL/],
    [{ platform_api_url: 'http://2130706433' }, /^PLATFORM_API_URL/],
    [{ platform_api_url: 'http://192.168.7.7' }, /^PLATFORM_API_URL/],
    [{ platform_api_url: 'http://172.20.0.1' }, /^PLATFORM_API_URL/],
    [{ platform_api_url: 'http://169.254.169.254' }, /^PLATFORM_API_URL/],
    [{ platform_api_url: 'http://[fd00::1]' }, /^PLATFORM_API_URL/],
    [{ platform_api_url: 'http://[fe80::1]' }, /^PLATFORM_API_URL/],
    [{ public_sso_client_id: 'platform' }, /^PUBLIC_SSO_CLIENT_ID .* limited client/],
  ])('with %j', (change, message) => {
    expect(startFaultsWith(change)).toEqual([expect.stringMatching(message)])
  })

  test.each([
    [undefined, /^SSO_TOKEN_URL .* not set/],
    ['http://10.1.2.3/token', /^SSO_TOKEN_URL .*trusted_networks/],
    ['ftp://idp.example', /^SSO_TOKEN_URL .* http/],
    ['not a url', /^SSO_TOKEN_URL .* must be a URL/],
  ])('with the token endpoint %j', (token_url, message) => {
    expect(findStartFaults(settings.schema.parse(validSettings), { token_url })).toEqual([
      expect.stringMatching(message),
    ])
  })

  test('with several faults, and reports all of them', () => {
    expect(
      startFaultsWith({ edge_node: true, trusted_proxy_depth: undefined, platform_api_url: undefined }),
    ).toHaveLength(3)
  })
})

test('networks that the profile names are trusted, and no others', () => {
  const trusting = { trusted_networks: ['10.1.2.0/24', '127.0.0.1'] }
  expect(
    startFaultsWith({ ...trusting, platform_api_url: 'http://10.1.2.3' }, { ...sso, token_url: 'http://127.0.0.1:1' }),
  ).toEqual([])
  expect(startFaultsWith({ ...trusting, platform_api_url: 'http://localhost' })).toEqual([])
  expect(startFaultsWith({ ...trusting, platform_api_url: 'http://10.1.3.1' })).toHaveLength(1)
  expect(startFaultsWith({ ...trusting, platform_api_url: 'http://127.0.0.2' })).toHaveLength(1)
})

describe('an invalid setting', () => {
  test.each([
    ['TRUSTED_PROXY_DEPTH', '0', /^proxy\.trusted_proxy_depth: TRUSTED_PROXY_DEPTH must be 1 or more/],
    ['TRUSTED_PROXY_DEPTH', '-1', /^proxy\.trusted_proxy_depth: TRUSTED_PROXY_DEPTH/],
    ['TRUSTED_PROXY_DEPTH', '1.5', /^proxy\.trusted_proxy_depth: TRUSTED_PROXY_DEPTH/],
    ['TRUSTED_PROXY_DEPTH', 'all', /^proxy\.trusted_proxy_depth: /],
    ['RATE_LIMIT_PER_MIN', '0', /^proxy\.rate_limit_per_min: RATE_LIMIT_PER_MIN must be 1 or more/],
    ['ALLOWLIST', 'GET /a,PUT /b', /^proxy\.allowlist: ALLOWLIST, line 1, "PUT \/b": "PUT" may not/],
    ['ALLOWLIST', 'GET /a\nGET b', /^proxy\.allowlist: ALLOWLIST, line 2, "GET b": the path must/],
    ['PLATFORM_API_URL', 'ftp://a', /^proxy\.platform_api_url: PLATFORM_API_URL must begin with http/],
    ['PLATFORM_API_URL', 'http://u:p@a', /^proxy\.platform_api_url: PLATFORM_API_URL must not contain credentials$/],
    ['PLATFORM_API_URL', 'a', /^proxy\.platform_api_url: PLATFORM_API_URL must be a URL/],
    ['PUBLIC_PATH_PREFIX', 'public', /^proxy\.public_path_prefix: PUBLIC_PATH_PREFIX must be a path/],
    ['PUBLIC_PATH_PREFIX', '/', /^proxy\.public_path_prefix: /],
    ['PUBLIC_PATH_PREFIX', '/a//b', /^proxy\.public_path_prefix: /],
    ['PUBLIC_PATH_PREFIX', '/a/..', /^proxy\.public_path_prefix: /],
    ['PUBLIC_PATH_PREFIX', '/a%20b', /^proxy\.public_path_prefix: /],
    ['CORS_ALLOW_ORIGIN', 'https://a\r\nX: y', /^proxy\.cors_allow_origin: CORS_ALLOW_ORIGIN must be/],
  ])('%s=%j', (name, value, message) => {
    expect(settingProblems({ [name]: value })).toEqual([expect.stringMatching(message)])
  })
})

test('settings are read as the interface writes them', () => {
  const read = (env: Readonly<Record<string, string>>) => {
    const sources = {
      profile: {},
      env,
      flags: {},
      resolvePath: (path: string) => path,
      readSecret: () => 'kept',
      needsSecrets: () => true,
    }
    return resolveSettings([settings], sources).values.get('proxy')
  }
  expect(read({})).toMatchObject({
    public_path_prefix: '/public-api',
    rate_limit_per_min: 60,
    write_rate_limit_per_min: 10,
    write_max_body_bytes: 65_536,
    cors_allow_origin: '*',
    edge_node: false,
    port: 8012,
  })
  const env = {
    PUBLIC_PATH_PREFIX: '/p/',
    EDGE_NODE: 'True',
    ALLOWLIST: 'GET /a,GET /b',
    PUBLIC_SSO_CLIENT_SECRET_FILE: 'f',
  }
  expect(read(env)).toMatchObject({
    public_path_prefix: '/p',
    edge_node: true,
    allowlist: 'GET /a,GET /b',
    public_sso_client_secret: 'kept',
  })
  expect(read({ EDGE_NODE: 'false' })).toMatchObject({ edge_node: false })
  expect(settings.schema.parse({ allowlist: ['GET /a', 'GET /b limit=1'] }).allowlist).toBe('GET /a\nGET /b limit=1')
  expect(parseWithSchema(settings.schema, { allowlist: ['GET /a', 'PUT /b'] })).toMatchObject({ success: false })
})

test.each(['10.0.0.0/7', '0.0.0.0/0', '::/0', '10.0.0.1/8', 'all', ''])(
  '%j is not a network that may be trusted',
  (network) => {
    expect(parseWithSchema(settings.schema, { trusted_networks: [network] })).toMatchObject({ success: false })
  },
)

test('the environment cannot set the trusted networks', () => {
  expect(settingProblems({ PROXY_TRUSTED_NETWORKS: '10.0.0.0/8', TRUSTED_NETWORKS: 'x' })).toEqual([])
  expect(settings.shape.trusted_networks.meta()).not.toHaveProperty('env')
})

describe('the upstream', () => {
  test.each([
    ['https://a.example', { isTls: true, host: 'a.example', port: 443, authority: 'a.example', base: '' }],
    [
      'http://a.example:8080/api/',
      { isTls: false, host: 'a.example', port: 8080, authority: 'a.example:8080', base: '/api' },
    ],
    [
      'http://[2001:db8::1]:81',
      { isTls: false, host: '2001:db8::1', port: 81, authority: '[2001:db8::1]:81', base: '' },
    ],
  ])('%s', (url, origin) => {
    expect(findOriginFault(url)).toBeUndefined()
    expect(parseOrigin(url)).toEqual(origin)
  })

  test.each([
    'https://a/?b',
    'https://a/#',
    'https://a/?',
    'https://a/x y',
    'https://a//b',
    'https://a/%41',
    'javascript:1',
  ])('%s is refused', (url) => {
    expect(findOriginFault(url)).toBeDefined()
  })
})
