// The routing table of a site, printed without a daemon.
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('routes')
const at = { env: { PLATFORM_SITE: path.join(dir, 'alpha'), PLATFORM_ROLES: 'site,consensus,intelligence' } }

beforeAll(async () => {
  await runJsonCommand(['init', '--site', at.env.PLATFORM_SITE, '--tenant', 'acme', '--yes'])
})
afterAll(remove)

test('each rule has the processes of its service, those of the roles of the profile', async () => {
  const { rules } = (await runJsonCommand(['routes'], at)) as { rules: Record<string, unknown>[] }
  const find = (prefix: string) => rules.find((rule) => rule.prefix === prefix)
  expect(find('/api/v2/consensus')).toEqual({
    ...{ ingress: 'consensus-service-rest', host: null, prefix: '/api/v2/consensus', priority: 100 },
    ...{ service: 'consensus-service', is_served: true, backends: ['http://127.0.0.1:8400'] },
  })
  expect(find('/api/v1/lens')).toMatchObject({ service: 'resolution-service', is_served: false, backends: [] })
})

test('the table shows what is not served', async () => {
  const { exit, stdout } = await runCommand(['routes'], at)
  expect(exit).toBe(0)
  const lines = stdout.split('\n').map((line) => line.trim().split(/ {2,}/))
  expect(lines).toContainEqual(['HOST', 'PREFIX', 'PRIORITY', 'SERVICE', 'BACKENDS'])
  expect(lines).toContainEqual(['*', '/api/v1/signal', '100', 'intelligence-service', 'http://127.0.0.1:8002'])
  expect(lines).toContainEqual(['*', '/public-api', '100', 'public-proxy', 'no_backend'])
  expect(lines).toContainEqual(['agentspace.cluster.local', '/', '10', 'intelligence-service', 'http://127.0.0.1:8002'])
})
