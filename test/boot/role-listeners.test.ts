// A role with two listeners: each rule for listeners knows both, and boot opens no other.
import { describe, expect, test } from 'vitest'
import { requireDeclaredListeners } from '../../daemon/boot/open-listener.ts'
import { resolveProfileSettings } from '../../daemon/boot/profile.ts'
import { buildListeners, formatListenerUrl } from '../../daemon/boot/role-listeners.ts'
import { findStartProblems } from '../../daemon/boot/start-checks.ts'
import { siteFolder } from '../../daemon/boot/storage/site-folder.ts'
import { listListeners } from '../../daemon/kernel/role/configured-listener.ts'
import { outline, type Role, role } from '../../daemon/kernel/role/role.ts'
import {
  type ListenerDeclaration,
  listenerFields,
  serviceListenerFields,
} from '../../daemon/kernel/settings/listener-settings.ts'
import { traceFields } from '../../daemon/kernel/settings/platform-settings.ts'
import { settingsBlock } from '../../daemon/kernel/settings/settings.ts'
import { site } from '../../daemon/roles/site/role.ts'

const listener: ListenerDeclaration<''> = { prefix: '', env: 'EDGE', port: 8080 }
const secure: ListenerDeclaration<'secure_'> = { prefix: 'secure_', env: 'EDGE_SECURE', port: 8443 }

const edge: Role = role(
  outline({
    name: 'edge',
    purpose: 'Routes requests to their owners',
    listeners: [listener, secure],
    serves: 'tenants',
    api_prefix: '/api/v2',
    needs: [],
    settings: [
      settingsBlock('edge', { ...serviceListenerFields(listener), ...listenerFields(secure), ...traceFields('EDGE') }),
    ],
    takes: {},
    load: async () => edge,
  }),
  { collections: [], metrics: [], workers: [], operations: {}, messages: {}, serviceInfo: () => ({ name: 'edge' }) },
)

function resolve(section: Readonly<Record<string, unknown>> = {}, env: Readonly<Record<string, string>> = {}) {
  const platform = { name: 'vault', tenant_id: 't', roles: ['edge'] }
  const resolved = resolveProfileSettings([site, edge], { platform, edge: section }, env, {}, '/')
  expect(resolved.problems).toEqual([])
  return resolved
}

const listProblems = (section: Readonly<Record<string, unknown>>) =>
  findStartProblems({ resolved: resolve(section), known_roles: [edge], starting: [edge] }).map(
    ({ path, message }) => `${path}: ${message}`,
  )

describe('settings', () => {
  test('each listener has its own port and variables', () => {
    expect(listListeners(edge, resolve()).map(({ name, host, port }) => [name, host, port])).toEqual([
      ['tcp', '127.0.0.1', 8080],
      ['secure', '127.0.0.1', 8443],
      ['internal', '127.0.0.1', 9080],
    ])
    const env = { EDGE_HOST: '192.0.2.1', EDGE_SECURE_HOST: '192.0.2.2', EDGE_SECURE_PORT: '443' }
    expect(listListeners(edge, resolve({ metrics_listen: '127.0.0.1:9400' }, env))).toMatchObject([
      { host: '192.0.2.1', port: 8080, settings: ['edge.listen', 'edge.port'] },
      { host: '192.0.2.2', port: 443, settings: ['edge.secure_listen', 'edge.secure_port'] },
      { name: 'internal', host: '127.0.0.1', port: 9400, settings: ['edge.metrics_listen'], tls: undefined },
    ])
  })
})

describe('the internal listener without metrics_listen', () => {
  const findAddress = (
    deployment_profile: string,
    section: Readonly<Record<string, unknown>>,
    declared: Role = edge,
  ) => {
    const platform = { name: 'vault', tenant_id: 't', roles: ['edge'], deployment_profile }
    const resolved = resolveProfileSettings([site, edge], { platform, edge: section }, {}, {}, '/')
    expect(resolved.problems).toEqual([])
    const internal = listListeners(declared, resolved).find(({ name }) => name === 'internal')
    return internal && `${internal.host}:${internal.port}`
  }
  const open = ['single_cluster', 'multi_tenant_cloud', 'customer_onprem']
  const closed = ['coalition_federated', 'classified_airgapped']

  test.each(closed)('in %s is on loopback, a thousand above the port, wherever the role listens', (profile) => {
    expect(findAddress(profile, {})).toBe('127.0.0.1:9080')
    const tls = { tls_cert_file: 'c.pem', tls_key_file: 'k.pem' }
    expect(findAddress(profile, { listen: '0.0.0.0', port: 8003, ...tls })).toBe('127.0.0.1:9003')
  })

  test.each(open)('in %s is that of a role with a public listener alone', (profile) => {
    expect(findAddress(profile, {})).toBeUndefined()
    expect(findAddress(profile, {}, { ...edge, has_public_listener: true })).toBe('127.0.0.1:9080')
  })

  test('is none where the port is free to choose, would be none, or the profile says so', () => {
    for (const section of [{ port: 0 }, { port: 65_000 }, { metrics_listen: 'none' }]) {
      expect(findAddress('classified_airgapped', section)).toBeUndefined()
    }
    expect(findAddress('classified_airgapped', { port: 64_535 })).toBe('127.0.0.1:65535')
  })
})

describe('in profile D', () => {
  test('each listener that other machines reach needs TLS of its own', () => {
    const files = { tls_cert_file: 'c.pem', tls_key_file: 'k.pem' }
    expect(listProblems({ secure_listen: '0.0.0.0', ...files })).toEqual([
      expect.stringMatching(/^edge\.secure_listen: 0\.0\.0\.0 is not loopback: .*\(edge\.secure_tls_cert_file\)/),
    ])
    const secureFiles = { secure_tls_cert_file: 'c.pem', secure_tls_key_file: 'k.pem' }
    expect(listProblems({ secure_listen: '0.0.0.0', ...secureFiles })).toEqual([])
  })

  test('client certificates at each listener need TLS and authorities', () => {
    expect(listProblems({ secure_tls_client_auth: 'require' })).toEqual([
      expect.stringMatching(/^edge\.secure_tls_client_auth: .*edge\.secure_tls_cert_file/),
      expect.stringMatching(/^edge\.secure_tls_client_auth: .*x509\.ca_file/),
    ])
  })

  test('TLS of each listener needs both files', () => {
    expect(listProblems({ secure_tls_key_file: 'k.pem' })).toEqual([
      'edge.secure_tls_cert_file: TLS needs both files, and only edge.secure_tls_key_file is given',
    ])
  })
})

test('boot opens each declared listener; the operations are at the first one alone', () => {
  const deployment = { deployment_profile: 'classified_airgapped' as const, settings: resolve(), transports: [] }
  const operations = [{ address: 'edge.a.b', role: 'edge', operation: {} as never }]
  const built = buildListeners({ role: edge, deployment, folder: siteFolder('/nowhere') }, operations, undefined)
  expect(
    built.map(({ name, prefix, operations: served, restricted }) => [name, prefix, served.length, restricted]),
  ).toEqual([
    ['edge:socket', undefined, 1, false],
    ['edge:tcp', '', 1, true],
    ['edge:secure', 'secure_', 0, true],
    ['edge:internal', undefined, 0, false],
  ])
  expect(formatListenerUrl({ host: '::1', port: 8443 }, true)).toBe('https://[::1]:8443')
})

test('a listener that is not declared, or that nobody serves, ends the start of its role', () => {
  const forward = () => () => undefined
  expect(() => requireDeclaredListeners(edge, { secure_: { forward } })).not.toThrow()
  expect(() => requireDeclaredListeners(edge, { '': { forward }, secure_: { forward } })).not.toThrow()
  expect(() => requireDeclaredListeners(edge, {})).toThrow('the listener "secure_" of the role edge is not in its wire')
  expect(() => requireDeclaredListeners(edge, { secure_: { forward }, open_: { forward } })).toThrow(
    'the listener "open_" of the role edge is not among the listeners of its outline',
  )
})
