// The realm of the tests: two people, clients that log them in, exchange their tokens and stand at the far end.

/** Passwords and secrets of this realm are for tests on loopback alone. */
export const secrets = { console: 'console-secret', site: 'site-secret', ada: 'ada-password', bob: 'bob-password' }

export const audience = 'urn:example:site:alpha'

const claim = (name: string, from: string, type = 'String') => ({
  name,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-usermodel-attribute-mapper',
  config: {
    'user.attribute': from,
    'claim.name': name,
    'jsonType.label': type,
    'access.token.claim': 'true',
    'id.token.claim': 'true',
  },
})

const fixedClaim = (name: string, value: string) => ({
  name: `fixed ${name}`,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-hardcoded-claim-mapper',
  config: { 'claim.name': name, 'claim.value': value, 'jsonType.label': 'String', 'access.token.claim': 'true' },
})

const meantFor = (name: string, config: Readonly<Record<string, string>>) => ({
  name: `for ${name}`,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-audience-mapper',
  config: { ...config, 'access.token.claim': 'true', 'introspection.token.claim': 'true' },
})

const toSite = meantFor('site', { 'included.custom.audience': audience })

const person = (username: string, password: string, realmRoles: string[], attributes: Record<string, string[]>) => ({
  username,
  enabled: true,
  email: `${username}@example.invalid`,
  emailVerified: true,
  firstName: username,
  lastName: 'Example',
  credentials: [{ type: 'password', value: password, temporary: false }],
  realmRoles,
  attributes,
})

const client = (clientId: string, more: Readonly<Record<string, unknown>>) => ({
  clientId,
  enabled: true,
  publicClient: false,
  standardFlowEnabled: false,
  ...more,
})

/**
 * `console` logs people in and has a service account of its own; `site` may exchange their tokens for ones that
 * `downstream` takes. Access tokens last `lifespan_s` seconds.
 */
export function realm(name: string, lifespan_s: number): Record<string, unknown> {
  return {
    realm: name,
    enabled: true,
    sslRequired: 'none',
    accessTokenLifespan: lifespan_s,
    roles: { realm: ['examiner', 'watcher', 'unheard-of'].map((role) => ({ name: role })) },
    users: [
      person('ada', secrets.ada, ['examiner', 'unheard-of'], {
        tenant: ['acme'],
        clearance: [JSON.stringify({ level: 'SECRET', categories: ['A'], nationality: 'NL' })],
      }),
      person('bob', secrets.bob, ['watcher'], { tenant: ['bravo'] }),
      {
        username: 'service-account-console',
        enabled: true,
        serviceAccountClientId: 'console',
        realmRoles: ['watcher'],
      },
    ],
    clients: [
      client('console', {
        secret: secrets.console,
        serviceAccountsEnabled: true,
        directAccessGrantsEnabled: true,
        protocolMappers: [
          claim('tenant_id', 'tenant'),
          claim('clearance', 'clearance', 'JSON'),
          toSite,
          meantFor('exchange', { 'included.client.audience': 'site' }),
        ],
      }),
      client('robot', {
        secret: secrets.console,
        serviceAccountsEnabled: true,
        protocolMappers: [fixedClaim('tenant_id', 'acme'), fixedClaim('roles', 'watcher'), toSite],
      }),
      client('site', {
        secret: secrets.site,
        serviceAccountsEnabled: true,
        attributes: { 'standard.token.exchange.enabled': 'true' },
        protocolMappers: [
          claim('tenant_id', 'tenant'),
          meantFor('downstream', { 'included.client.audience': 'downstream' }),
        ],
      }),
      client('downstream', {}),
    ],
  }
}
