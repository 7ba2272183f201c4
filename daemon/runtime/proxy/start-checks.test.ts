// The addresses of a configured name decide whether the proxy starts, as far as the name resolves by then.
import { expect, test } from 'vitest'
import type { AddressResolver } from '../../../adapters/platform/address-rule/checked-lookup.ts'
import { resolveProfileSettings } from '../../boot/profile.ts'
import { roles } from '../../roles.ts'
import { findProxyStartProblems } from './start-checks.ts'

const addressesByHost: Readonly<Record<string, readonly string[]>> = {
  'outside.example': ['198.41.0.4'],
  'inside.example': ['10.1.2.3'],
  'both.example': ['198.41.0.4', 'fd00::1'],
}

const resolveByTable: AddressResolver = (host, done) => {
  const found = addressesByHost[host]
  if (!found) return done(Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' }), [])
  done(
    null,
    found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  )
}

const listProblems = (platform: string, provider: string, trusted_networks: readonly string[] = []) => {
  const platformSection = { name: 'a', tenant_id: 'a' }
  const proxy = { platform_api_url: `https://${platform}`, trusted_proxy_depth: 1, trusted_networks }
  const sso = { token_url: `https://${provider}/token` }
  return findProxyStartProblems(
    resolveProfileSettings(roles, { platform: platformSection, proxy, sso }, {}, {}, '/'),
    resolveByTable,
  )
}

test('names that lead outside, or nowhere yet, forbid nothing', async () => {
  expect(await listProblems('outside.example', 'unknown.example')).toEqual([])
})

test.each(['inside.example', 'both.example'])(
  '%s leads to an internal address, and is reported by its setting with the remedy',
  async (name) => {
    const says = (setting: string) => expect.stringMatching(`^${setting} leads inside: .*proxy\\.trusted_networks`)
    expect(await listProblems(name, name)).toEqual([
      { path: 'proxy.platform_api_url', message: says('PLATFORM_API_URL') },
      { path: 'sso.token_url', message: says('SSO_TOKEN_URL') },
    ])
  },
)

test('a network that the profile trusts may be led to', async () => {
  expect(await listProblems('inside.example', 'outside.example', ['10.1.0.0/16'])).toEqual([])
})
