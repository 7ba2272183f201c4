// Limits of tool servers that the gateway runs, what another server is, and settings that are refused.
import { expect, test } from 'vitest'
import { stdioServer, stdioServerUrl } from './model.ts'
import { findWeakness, limitsOf, probeLimits } from './rules.ts'

const parse = (fields: object) => stdioServer.parse({ command: ['/usr/bin/maps'], ...fields })

test('the machine must be able to set the highest limit of all servers', () => {
  const servers = [parse({ memory_mb: 100, processes: 9 }), parse({ memory_mb: 50, processes: 20, open_files: 1_000 })]
  expect(probeLimits(servers)).toMatchObject({ memory_bytes: 100 * 2 ** 20, processes: 20, open_files: 1_000 })
  expect(limitsOf(parse({ memory_mb: 100 })).memory_bytes).toBe(104_857_600)
})

test('only a sandbox that hides files and network holds a server', () => {
  expect(findWeakness({ isolation: 'namespaces', shortfalls: ['memory is summed'] })).toBeUndefined()
  expect(findWeakness({ isolation: 'limits', shortfalls: ['no namespaces'] })).toMatch(
    /no server is started: no namespaces/,
  )
})

test('a server with another command, files, variables or network is another one; with other limits it is the same', () => {
  const url = stdioServerUrl('maps', parse({}))
  expect(url).toMatch(/^stdio:\/\/maps\/[0-9a-f]{32}$/)
  expect(new URL(url).hostname).toBe('maps')
  for (const change of [
    { command: ['/usr/bin/maps', '--all'] },
    { visible: ['/srv/maps'] },
    { env: { A: '1' } },
    { secret_env: { A: '/etc/a' } },
    { network: 'machine' },
  ])
    expect(stdioServerUrl('maps', parse(change))).not.toBe(url)
  expect(stdioServerUrl('maps', parse({ memory_mb: 64, idle_s: 5 }))).toBe(url)
})

test.each([
  { command: [] },
  { command: ['maps'] },
  { command: ['/usr/bin/maps', 'a\0b'] },
  { visible: ['/srv/'] },
  { env: { PATH: '/x' } },
  { env: { LD_PRELOAD: '/x.so' } },
  { secret_env: { 'A=B': '/etc/a' } },
  { secret_env: { A: 'etc/a' } },
  { network: 'internet' },
])('settings that are refused: %j', (fields) => {
  expect(stdioServer.safeParse({ command: ['/usr/bin/maps'], ...fields }).success).toBe(false)
})
