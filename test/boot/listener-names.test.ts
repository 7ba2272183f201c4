// Each role's listener is set by the environment under the names of the interface documents, and by ours.
import { expect, test } from 'vitest'
import { resolveProfileSettings } from '../../daemon/boot/profile.ts'
import { everyRole } from '../../daemon/every-role.ts'
import { everyRoleSections } from '../support/site/single-cluster-site.ts'

const profile = { ...everyRoleSections, platform: { name: 'alpha', tenant_id: 'alpha' } }

function readListener(role: string, env: Readonly<Record<string, string>>) {
  const resolved = resolveProfileSettings(everyRole, profile, env, {}, '/nowhere')
  expect(resolved.problems).toEqual([])
  const { listen, port } = resolved.values.get(role) ?? {}
  return { listen, port }
}

test.each(everyRole.map(({ name, listeners: [{ env }] }) => [name, env] as const))(
  '%s by %s_HOST and _PORT, and by _LISTEN',
  (role, prefix) => {
    expect(readListener(role, {}).listen).toBe('127.0.0.1')
    expect(readListener(role, { [`${prefix}_HOST`]: '192.0.2.1', [`${prefix}_PORT`]: '8123' })).toEqual({
      listen: '192.0.2.1',
      port: 8123,
    })
    const both = { [`${prefix}_HOST`]: '192.0.2.1', [`${prefix}_LISTEN`]: '192.0.2.2' }
    expect(readListener(role, { [`${prefix}_LISTEN`]: '192.0.2.2' }).listen).toBe('192.0.2.2')
    expect(readListener(role, both).listen).toBe('192.0.2.1')
  },
)
