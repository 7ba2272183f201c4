// One version, that of package.json, on every surface of the executable: a role has none of its own.
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { everyRole } from '../../daemon/every-role.ts'
import manifest from '../../package.json' with { type: 'json' }
import { runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { sendMcpRequest } from '../support/mcp/mcp-client.ts'
import { everyRoleSections, startSingleClusterSite } from '../support/site/single-cluster-site.ts'

const { version } = manifest

test('service-info, OpenAPI, tools and metrics of each role show the version of the executable', async () => {
  const site = await startSingleClusterSite(everyRoleSections)
  onTestFinished(() => site.close())
  const token = await site.token({ roles: ['admin'] })
  const read = async (role: string, path: string) => (await site.request(role, { method: 'GET', path, token })).text
  for (const { name: role, operations } of everyRole) {
    expect(JSON.parse(await read(role, '/service-info')), role).toMatchObject({ version })
    expect(JSON.parse(await read(role, '/openapi.json')).info, role).toMatchObject({ version })
    expect(await read(role, '/metrics'), role).toContain(`platform_build_info{version="${version}"} 1`)
    const hasTools = Object.values(operations).some((verbs) => Object.values(verbs).some(({ tool }) => tool))
    if (!hasTools) continue
    const { text } = await sendMcpRequest(site.port(role), 'server/discover', {}, { token })
    expect(text, role).toContain(`"version":"${version}"`)
  }
})

test('so do the commands', async () => {
  expect(await runJsonCommand(['version'])).toMatchObject({ version })
  expect(JSON.parse((await runCommand(['openapi', 'consensus'])).stdout).info).toMatchObject({ version })
})

test('and each request of this executable, as its user agent', async () => {
  const seen: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers)
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await runCommand(['signal', 'list', '--url', url, '--token', 'x'])
  expect(seen[0]?.['user-agent']).toBe(`platform/${version}`)
})
