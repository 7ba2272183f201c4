// The realm of the tests: two people, clients that log them in, exchange their tokens and stand at the far end.

/** Passwords and secrets of this realm are for tests on loopback alone. */
export const keycloakSecrets = {
  console: 'console-secret',
  site: 'site-secret',
  ada: 'ada-password',
  bob: 'bob-password',
}

export const keycloakAudience = 'urn:example:site:alpha'

const attributeMapper = (name: string, from: string, type = 'String') => ({
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

const fixedClaimMapper = (name: string, value: string) => ({
  name: `fixed ${name}`,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-hardcoded-claim-mapper',
  config: { 'claim.name': name, 'claim.value': value, 'jsonType.label': 'String', 'access.token.claim': 'true' },
})

const audienceMapper = (name: string, config: Readonly<Record<string, string>>) => ({
  name: `for ${name}`,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-audience-mapper',
  config: { ...config, 'access.token.claim': 'true', 'introspection.token.claim': 'true' },
})

const siteAudienceMapper = audienceMapper('site', { 'included.custom.audience': keycloakAudience })

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
export function buildKeycloakRealm(name: string, lifespan_s: number): Record<string, unknown> {
  return {
    realm: name,
    enabled: true,
    sslRequired: 'none',
    accessTokenLifespan: lifespan_s,
    roles: { realm: ['examiner', 'watcher', 'unheard-of'].map((role) => ({ name: role })) },
    users: [
      person('ada', keycloakSecrets.ada, ['examiner', 'unheard-of'], {
        tenant: ['acme'],
        clearance: [JSON.stringify({ level: 'SECRET', categories: ['A'], nationality: 'NL' })],
      }),
      person('bob', keycloakSecrets.bob, ['watcher'], { tenant: ['bravo'] }),
      {
        username: 'service-account-console',
        enabled: true,
        serviceAccountClientId: 'console',
        realmRoles: ['watcher'],
      },
    ],
    clients: [
      client('console', {
        secret: keycloakSecrets.console,
        serviceAccountsEnabled: true,
        directAccessGrantsEnabled: true,
        protocolMappers: [
          attributeMapper('tenant_id', 'tenant'),
          attributeMapper('clearance', 'clearance', 'JSON'),
          siteAudienceMapper,
          audienceMapper('exchange', { 'included.client.audience': 'site' }),
        ],
      }),
      client('robot', {
        secret: keycloakSecrets.console,
        serviceAccountsEnabled: true,
        protocolMappers: [
          fixedClaimMapper('tenant_id', 'acme'),
          fixedClaimMapper('roles', 'watcher'),
          siteAudienceMapper,
        ],
      }),
      client('site', {
        secret: keycloakSecrets.site,
        serviceAccountsEnabled: true,
        attributes: { 'standard.token.exchange.enabled': 'true' },
        protocolMappers: [
          attributeMapper('tenant_id', 'tenant'),
          audienceMapper('downstream', { 'included.client.audience': 'downstream' }),
        ],
      }),
      client('downstream', {}),
    ],
  }
}
