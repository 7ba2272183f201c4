// A role that acts for somebody has no tools: a model would choose what the role requests in that name.
import { expect, test } from 'vitest'
import { echoRole } from '../../../test/support/echo/echo-role.ts'
import type { Caller } from '../identity/identity.ts'
import { surfaceTools } from './surface-tools.ts'

const { operations } = echoRole({ count: () => {}, set: () => {}, observe: () => {}, text: async () => '' })
const admin: Caller = {
  subject: 'ann',
  tenant_id: 't',
  roles: ['admin'],
  permissions: new Set(['*']),
  clearance: undefined,
}

async function useTools(caller: Caller) {
  const performed: string[] = []
  const tools = surfaceTools('admin_chat', operations, caller, async ({ address }) => {
    performed.push(address)
    return { status: 200, body: {} }
  })
  await tools.perform('echo_report', {})
  return { listed: tools.list().length, performed }
}

test('an administrator has the tools of the surface', async () => {
  expect(await useTools(admin)).toEqual({ listed: 3, performed: ['test.echo.report'] })
})

test.each<[string, Partial<Caller>]>([
  ['a role in the name of an administrator', { actor: 'role:gateway' }],
  ['a client in the name of a role that acts for an administrator', { actor: 'svc:portal', is_role_acting: true }],
])('%s has none', async (_, acting) => {
  expect(await useTools({ ...admin, ...acting })).toEqual({ listed: 0, performed: [] })
})

test('a client in the name of an administrator has those of the administrator', async () => {
  expect(await useTools({ ...admin, actor: 'svc:portal' })).toMatchObject({ listed: 3 })
})

test('a service of the site has none', async () => {
  const service = { ...admin, subject: 'role:gateway', tenant_id: '*', permissions: new Set<string>() }
  expect((await useTools({ ...service, permissions: new Set(['test.echo.report']) })).performed).toEqual([])
})
