// Holds what keeps a site from starting: each refusal with the setting that causes it, and none for a sound profile.
import { describe, expect, test } from 'vitest'
import { resolveProfileSettings } from '../../daemon/boot/profile.ts'
import { findStartProblems, isLoopback, type StartCheckInput } from '../../daemon/boot/start-checks.ts'
import type { PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'
import type { Role } from '../../daemon/kernel/role/role.ts'
import { consensus } from '../../daemon/roles/consensus/role.ts'
import { site } from '../../daemon/roles/site/role.ts'
import { findSiteProblems, type SiteStartFacts } from '../../daemon/runtime/site/start-checks.ts'

type ProfileSections = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const all = [site, consensus]
const noon_ms = Date.parse('2026-03-02T12:00:00Z')

function listProblems(
  sections: ProfileSections,
  more: Partial<StartCheckInput> & Partial<SiteStartFacts> = {},
): string[] {
  const platform = { name: 'vault', tenant_id: 't', ...sections.platform }
  const resolved = resolveProfileSettings(all, { ...sections, platform }, {}, {}, '/')
  expect(resolved.problems).toEqual([])
  const input = { resolved, known_roles: all, starting: all, peers: [], now: noon_ms, ...more }
  const found = [...findStartProblems(input), ...(input.starting.includes(site) ? findSiteProblems(input) : [])]
  return found.map(({ path, message }) => `${path}: ${message}`)
}

const openProfile = { platform: { deployment_profile: 'single_cluster' } }
const tlsFiles = { tls_cert_file: 'c.pem', tls_key_file: 'k.pem' }

test('a profile with nothing but a name may start, as classified_airgapped', () => {
  expect(listProblems({})).toEqual([])
})

test('roles that there are not are named, beside those that there are', () => {
  const platform = { ...openProfile.platform, roles: ['site', 'consensu'] }
  expect(listProblems({ platform })).toEqual([
    'platform.roles: the role "consensu" does not exist; known: site, consensus',
  ])
})

test('a token goes to the gateway of another machine by TLS alone, in the profiles that refuse plain text', () => {
  const consensus = { public_url: 'https://consensus.example' }
  const refused = (deployment_profile: string) => [
    `gateway_client.url: gateway.example is not loopback: ${deployment_profile} refuses tokens without TLS (https)`,
  ]
  const check = (deployment_profile: string, url: string, more: object = { consensus }) =>
    listProblems({ platform: { deployment_profile }, gateway_client: { url }, ...more }, { starting: [all[1] as Role] })
  for (const profile of ['classified_airgapped', 'coalition_federated']) {
    expect(check(profile, 'http://gateway.example:8001')).toEqual(refused(profile))
    for (const url of ['https://gateway.example', 'http://localhost:8001', 'http://[::1]:8001', 'http://127.0.0.1'])
      expect(check(profile, url)).toEqual([])
    // No role registers.
    expect(check(profile, 'http://gateway.example:8001', {})).toEqual([])
  }
  expect(check('single_cluster', 'http://gateway.example:8001')).toEqual([])
})

describe('in classified_airgapped', () => {
  test.each(['0.0.0.0', '::', '192.0.2.7', 'host.example', '127.0.0.1.example', '0127.0.0.1'])(
    '%s is not allowed as a listen address without TLS',
    (listen) => {
      expect(listProblems({ site: { listen } })).toEqual([
        expect.stringMatching(/^site\.listen: .*site\.tls_cert_file/),
      ])
      expect(listProblems({ site: { listen, ...tlsFiles } })).toEqual([])
    },
  )

  test('the internal listener never has TLS, so it stays on loopback', () => {
    const metrics_listen = '0.0.0.0:9400'
    expect(listProblems({ consensus: { metrics_listen, ...tlsFiles } })).toEqual([
      expect.stringMatching(/^consensus\.metrics_listen: 0\.0\.0\.0 is not loopback/),
    ])
    expect(listProblems({ consensus: { metrics_listen: 'localhost:9400' } })).toEqual([])
  })

  test('only the listeners of the roles that start count', () => {
    expect(listProblems({ site: { listen: '0.0.0.0' } }, { starting: [consensus] })).toEqual([])
  })

  const accredited = (valid_until: string) => ({
    site: { accreditations: { bravo: { authority: 'Board', reference: 'AB-1', valid_until } } },
  })

  test.each([
    ['2026-03-01', [expect.stringMatching(/^site\.accreditations\.bravo: .*ended on 2026-03-01/)]],
    ['2026-03-02', []],
    ['2026-03-03', []],
  ])('a channel accredited until %s, on the second', (until, found) => {
    expect(listProblems(accredited(until), { peers: ['bravo'] })).toEqual(found)
  })

  test('each channel needs one of its own, wherever the site role runs', () => {
    const peers = ['bravo', 'charlie', 'constructor']
    expect(listProblems(accredited('2030-01-01'), { peers })).toEqual([
      expect.stringMatching(/^site\.accreditations\.charlie: .*no accreditation/),
      expect.stringMatching(/^site\.accreditations\.constructor: .*no accreditation/),
    ])
    expect(listProblems({}, { peers, starting: [consensus] })).toEqual([])
  })
})

describe('elsewhere', () => {
  test.each(['single_cluster', 'multi_tenant_cloud', 'customer_onprem', 'coalition_federated'])(
    '%s leaves listeners and channels to the operator',
    (deployment_profile) => {
      const sections = { platform: { deployment_profile }, site: { listen: '0.0.0.0', metrics_listen: '0.0.0.0:1' } }
      expect(listProblems(sections, { peers: ['bravo'] })).toEqual([])
    },
  )
})

test.each([
  ['tls_cert_file', 'tls_key_file'],
  ['tls_key_file', 'tls_cert_file'],
])('%s alone would leave the listener without TLS', (setting, missing) => {
  for (const sections of [openProfile, {}]) {
    expect(listProblems({ ...sections, site: { [setting]: 'x.pem', listen: '0.0.0.0' } })).toContain(
      `site.${missing}: TLS needs both files, and only site.${setting} is given`,
    )
  }
})

test('consensus does not start where the customer only looks up', () => {
  const consensusSection = { matching_pattern: 'lookup_only' }
  const sections = { platform: { deployment_profile: 'customer_onprem' }, consensus: consensusSection }
  expect(listProblems(sections)).toEqual([expect.stringMatching(/^consensus: .*full-lens profile/)])
  expect(listProblems(sections, { starting: [site] })).toEqual([])
  expect(listProblems({ ...openProfile, consensus: consensusSection })).toEqual([])
})

test('an unknown default level, and an invalid schedule', () => {
  expect(listProblems({ ...openProfile, labels: { levels: ['LOW', 'HIGH'], default_level: 'MIDDLE' } })).toEqual([
    'labels.default_level: "MIDDLE" is not one of labels.levels',
  ])
  for (const backup_cron of ['every night', '61 2 * * *', '0 0 30 2 *', '@reboot', '']) {
    expect(listProblems({ ...openProfile, site: { backup_cron } })).toEqual([
      expect.stringMatching(/^site\.backup_cron: The expression is not a schedule: .*, such as 0 3 \* \* \*$/),
    ])
  }
})

describe('the site’s keys', () => {
  const key = (use: PublicKey['use'], more: Partial<PublicKey> = {}): PublicKey => ({
    ...{ kid: use, algorithm: 'Ed25519', fingerprint: 'f'.repeat(43), use, status: 'active' },
    ...{ created: '2026-01-01T00:00:00Z', jwk: {} },
    ...more,
  })
  const missing = (use: string) =>
    `keys: the site has no active ${use} key: run \`platform keys generate --use ${use}\``

  test.each<[string, PublicKey[], string[]]>([
    ['one of each', [key('message'), key('token')], []],
    ['none', [], ['message', 'token']],
    [
      'a retired and a revoked one',
      [key('message', { status: 'retired' }), key('token', { status: 'revoked' })],
      ['message', 'token'],
    ],
    ['one that has ended', [key('message'), key('token', { not_after: '2026-03-02T11:59:59Z' })], ['token']],
    ['one that is about to end', [key('message'), key('token', { not_after: '2026-03-02T12:00:00Z' })], []],
    ['others', [key('root'), key('personal'), key('token')], ['message']],
  ])('%s', (_what, keys, uses) => {
    expect(listProblems({}, { keys })).toEqual(uses.map(missing))
    expect(listProblems({}, { keys, starting: [consensus] })).toEqual([])
  })
})

test('reports every fault at once', () => {
  const sections = { site: { listen: '0.0.0.0', backup_cron: 'every night' }, labels: { default_level: 'NONE' } }
  expect(listProblems(sections, { peers: ['bravo'] })).toHaveLength(4)
})

test.each([
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['::1', true],
  ['localhost', true],
  ['127.1', false],
  ['127.0.0.1x', false],
  ['::ffff:127.0.0.1', false],
  ['localhost.example', false],
  ['0.0.0.0', false],
  ['', false],
])('whether %s is loopback: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected)
})

describe('acknowledgements to a peer', () => {
  const acknowledging = (valid_until?: string) => ({
    ...openProfile,
    filedrop: { acknowledgements: { bravo: { every_s: 60 } } },
    site: valid_until ? { accreditations: { bravo: { authority: 'Board', reference: 'AB-1', valid_until } } } : {},
  })

  test.each([
    ['no accreditation', undefined, [expect.stringMatching(/^filedrop\.acknowledgements\.bravo: .*no accreditation/)]],
    ['one that has ended', '2026-03-01', [expect.stringMatching(/acknowledgements\.bravo: .*ended on 2026-03-01/)]],
    ['one that holds', '2026-03-02', []],
  ])('with %s, in every profile', (_, valid_until, expected) => {
    expect(listProblems(acknowledging(valid_until))).toEqual(expected)
  })

  test('are the site role’s affair alone', () => {
    expect(listProblems(acknowledging(), { starting: [consensus] })).toEqual([])
  })
})

describe('identified callers', () => {
  const provider = { issuer: 'https://idp.example/realms/a' }
  const oidc = (sso: Readonly<Record<string, unknown>>) => listProblems({ identity: { provider: 'oidc' }, sso })

  test('an identity provider has a name, and is behind TLS or on this machine', () => {
    expect(oidc(provider)).toEqual([])
    expect(oidc({ issuer: 'http://127.0.0.1:8080/realms/a', tls_verify: false })).toEqual([])
    expect(oidc({})).toEqual([expect.stringMatching(/^sso\.issuer: .*is required/)])
    for (const [field, url] of [
      ['issuer', 'http://idp.example'],
      ['wellknown', 'http://10.0.0.1/.well-known/openid-configuration'],
      ['token_url', 'idp.example'],
    ] as const) {
      expect(oidc({ ...provider, [field]: url })).toEqual([
        `sso.${field}: must be an https URL, or http on this machine`,
      ])
    }
    expect(listProblems({ sso: { issuer: 'nonsense' } })).toEqual([])
  })

  test('nobody takes its certificate unseen, but on this machine', () => {
    expect(oidc({ ...provider, tls_verify: false })).toEqual([expect.stringMatching(/^sso\.tls_verify: /)])
    const away = { issuer: 'https://localhost/a', token_url: 'https://idp.example/token', tls_verify: false }
    expect(oidc(away)).toEqual([expect.stringMatching(/^sso\.tls_verify: /)])
  })

  test('its issuer may be the name of another site, where its discovery document has a URL of its own', () => {
    const wellknown = 'https://alpha.example/.well-known/openid-configuration'
    expect(oidc({ issuer: 'urn:platform:site:alpha', wellknown })).toEqual([])
    expect(oidc({ issuer: 'urn:platform:site:alpha' })).toEqual([expect.stringMatching(/^sso\.issuer: /)])
    const away = { issuer: 'urn:platform:site:alpha', wellknown, tls_verify: false }
    expect(oidc(away)).toEqual([expect.stringMatching(/^sso\.tls_verify: /)])
  })

  test('it is not the site itself', () => {
    expect(oidc({ issuer: 'urn:platform:site:vault', wellknown: 'https://idp.example/x' })).toContain(
      'sso.issuer: must differ from the site’s own issuer',
    )
  })

  test('roles named by the command must exist', () => {
    const role_map = { chief: ['admin', 'boss'], odd: ['constructor'] }
    expect(oidc({ ...provider, role_map })).toEqual([
      'sso.role_map.chief: the role "boss" is not defined',
      'sso.role_map.odd: the role "constructor" is not defined',
    ])
    const subjects = [{ dn: 'CN=Ada', subject: 'ada', tenant_id: 't', roles: ['analyst', 'chief'] }]
    expect(listProblems({ x509: { subjects } })).toEqual(['x509.subjects.0.roles: the role "chief" is not defined'])
    expect(listProblems({ identity: { audiences: { airflow: ['site', 'analyst'] } } })).toEqual([
      'identity.audiences.airflow: no role of the site is called "analyst"',
    ])
    expect(listProblems({ x509: { subjects }, identity: { roles: { chief: ['consensus:read'] } } })).toEqual([])
  })

  test('requests certificates over TLS, from named authorities', () => {
    const asking = { consensus: { tls_client_auth: 'require' } }
    expect(listProblems(asking)).toEqual([
      'consensus.tls_client_auth: client certificates need TLS: set consensus.tls_cert_file',
      'consensus.tls_client_auth: client certificates need x509.ca_file, the authorities that issue them',
    ])
    expect(listProblems({ consensus: { ...asking.consensus, ...tlsFiles }, x509: { ca_file: 'ca.pem' } })).toEqual([])
    expect(listProblems(asking, { starting: [site] })).toEqual([])
  })
})

describe('a message broker', () => {
  const peers = { bravo: {} }
  const certificate = { tls_cert_file: 'c.pem', tls_key_file: 'k.pem' }
  const url = 'amqps://broker.example'

  test.each([
    ['with a user and a password', { url, user: 'alpha', password: 'p', peers }, []],
    ['with a certificate', { url, ...certificate, peers }, []],
    ['with a password and nobody’s name', { url, password: 'p', peers }, [/^amqp: .*without a user/]],
    ['with a name alone', { url, user: 'alpha', peers }, [/^amqp: .*neither a password .* nor a client certificate/]],
    ['with a certificate in the clear', { ...certificate, peers }, [/^amqp: .*neither a password/]],
    ['with half a certificate', { url, user: 'alpha', password: 'p', tls_key_file: 'k.pem', peers }, [/^amqp: .*both/]],
    ['that serves nobody', { url }, []],
  ])('%s', (_, amqp, expected) => {
    expect(listProblems({ ...openProfile, amqp })).toEqual(expected.map((words) => expect.stringMatching(words)))
  })

  test('and another network for the same peer: one of them goes', () => {
    const amqp = { url, ...certificate, peers }
    const mtls = { peers: { bravo: { url: 'https://bravo.example', ca_file: 'bravo-ca.pem' } } }
    expect(listProblems({ ...openProfile, amqp, mtls })).toEqual([
      'site: bravo is named by more than one network; remove it from all but one',
    ])
  })
})
