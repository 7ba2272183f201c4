// A changed profile: what is gone by at once, what waits for a restart, and a fault that changes nothing.
import { expect, test } from 'vitest'
import { resolveProfileSettings } from '../../../boot/profile.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { ProfileError } from '../../../kernel/settings/profile-error.ts'
import { roles } from '../../../roles.ts'
import { reloadSettings } from './reload-settings.ts'

const profile = (proxy: Record<string, unknown>, drain_ms = 1_000) =>
  resolveProfileSettings(roles, { platform: { name: 'a', tenant_id: 'a', drain_ms }, proxy }, {}, {}, '/')

test('limits and rules are in force at once; a port, a secret and another section want a restart', async () => {
  const running = profile({ allowlist: 'GET /a', rate_limit_per_min: 5, trusted_proxy_depth: 1 })
  const next = profile(
    { allowlist: ['GET /a', 'GET /b'], trusted_proxy_depth: 1, port: 9, public_sso_client_secret: 'new' },
    2_000,
  )
  const found = await reloadSettings(running, async () => next)
  if (isRefusal(found)) throw found
  expect(found.applied).toEqual(['proxy.allowlist', 'proxy.rate_limit_per_min'])
  expect(found.needs_restart).toEqual(['platform.drain_ms', 'proxy.port', 'proxy.public_sso_client_secret'])
  expect(found.resolved.values.get('proxy')).toMatchObject({
    allowlist: 'GET /a\nGET /b',
    rate_limit_per_min: 60,
    port: 8012,
  })
  expect(found.resolved.values.get('platform')).toMatchObject({ drain_ms: 1_000 })
  const again = await reloadSettings(found.resolved, async () => next)
  expect(again).toMatchObject({ applied: [] })
})

test('a fault is a refusal with its place; what should not happen is none', async () => {
  const problems = [{ path: 'proxy.allowlist', message: 'no rule' }]
  const refused = await reloadSettings(profile({}), () => Promise.reject(new ProfileError(problems)))
  expect(refused).toMatchObject({ code: 'invalid', errors: problems })
  await expect(reloadSettings(profile({}), () => Promise.reject(new Error('the disk')))).rejects.toThrow('the disk')
})
