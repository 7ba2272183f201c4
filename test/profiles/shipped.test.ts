// Every shipped profile makes the packaged executable serve what that profile allows, and nothing more.
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import * as http from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyRole } from '../../daemon/every-role.ts'
import { offeredTools } from '../../daemon/kernel/api/mcp-tools.ts'
import { hasBody, isInside, isRouted } from '../../daemon/kernel/operation/operation.ts'
import { operationsOf } from '../../daemon/kernel/role/built-in-operations.ts'
import type { DeploymentProfile } from '../../daemon/kernel/role/site.ts'
import { expectProblem } from '../support/every-operation/expect-problem.ts'
import { sendExactRequest } from '../support/http/send-exact-request.ts'
import { createPackagedSite, type PackagedSite, type ServedSite } from '../support/site/packaged-site.ts'

const sessions = '/api/v2/consensus/session'
const sessionBody = { lens_id: 'l', lens_version: '1', policy: { m: 1, n: 1 }, classification: 'UNCLASSIFIED' }

type AllowedSurface = {
  readonly deployment_profile: DeploymentProfile
  readonly metricsOutside: boolean
  readonly internal: boolean
  /** Its roles, where they are not the four that a site's users need. */
  readonly roles?: readonly string[]
}

/** The promise of each profile, by document 000 and the decisions of section 0. */
const shipped: Readonly<Record<string, AllowedSurface>> = {
  'single-cluster': { deployment_profile: 'single_cluster', metricsOutside: true, internal: false },
  'multi-tenant-cloud': { deployment_profile: 'multi_tenant_cloud', metricsOutside: true, internal: false },
  'customer-onprem': { deployment_profile: 'customer_onprem', metricsOutside: true, internal: false },
  'coalition-federated': { deployment_profile: 'coalition_federated', metricsOutside: false, internal: true },
  'classified-airgapped': { deployment_profile: 'classified_airgapped', metricsOutside: false, internal: true },
  demo: {
    deployment_profile: 'coalition_federated',
    metricsOutside: false,
    internal: false,
    roles: ['site', 'consensus', 'resolution'],
  },
}

/** It runs one role, and none of those of the others: see public-listener.test.ts. */
const proxyOnlyProfile = 'public-proxy'

test('each shipped profile has its promises here', () => {
  const files = readdirSync(path.resolve(import.meta.dirname, '../../profiles'))
  expect(files.map((file) => path.basename(file, '.yaml')).sort()).toEqual(
    [...Object.keys(shipped), proxyOnlyProfile].sort(),
  )
})

const usualRoles = ['site', 'consensus', 'resolution', 'intelligence']

describe.each(Object.entries(shipped))('%s', (name, surface) => {
  const { deployment_profile, metricsOutside, internal } = surface
  const running = everyRole.filter((role) => (surface.roles ?? usualRoles).includes(role.name))
  let site: PackagedSite
  let served: ServedSite
  let token: string
  beforeAll(async () => {
    site = createPackagedSite(name)
    served = await site.serve()
    const minted = site.run(['token', 'mint', '--subject', 'ada', '--roles', 'admin', '--json'])
    token = (JSON.parse(minted.stdout) as { token: string }).token
  })
  afterAll(() => site?.remove())

  test('runs these roles, and no other', () => {
    expect(Object.keys(served.ports).sort()).toEqual(running.map(({ name }) => name).sort())
  })

  test.each(running.map((role) => [role.name, role] as const))('serves the operations of %s', async (_, role) => {
    const port = served.ports[role.name] ?? 0
    for (const { operation } of operationsOf(role).filter(isRouted)) {
      const isServed = metricsOutside || !isInside(operation)
      const answer = await sendExactRequest({
        port,
        method: operation.method,
        path: operation.path.replaceAll(/\{\w+\}/g, 'x'),
      })
      if (!isServed) expectProblem(answer, [404])
      else if (operation.allow !== 'public') expectProblem(answer, [401])
      else if (!hasBody(operation.method)) expect(answer.status, operation.path).toBe(200)
    }
  })

  test.each(running.map((role) => role.name))(
    '%s says where it is deployed, and how many tools it offers there',
    async (role) => {
      const port = served.ports[role] ?? 0
      const info = (await sendExactRequest({ port, method: 'GET', path: '/service-info' })).json as Record<
        string,
        unknown
      >
      const declared = everyRole.find(({ name }) => name === role)
      if (!declared) throw new Error(`no role is named ${role}`)
      const deployment = { deployment_profile, settings: { values: new Map() } }
      const offered = offeredTools({ role: declared, deployment }, operationsOf(declared))
      expect(info).toMatchObject({ deployment_profile, tools_count: offered.length })
      const posted = await sendExactRequest({ port, method: 'POST', path: '/agentspace' })
      if (offered.length > 0) {
        expect(info.mcp_path).toBe('/agentspace')
        expectProblem(posted, [401])
        return
      }
      expect(info).not.toHaveProperty('mcp_path')
      expectProblem(posted, [404])
      for (const method of ['GET', 'DELETE'])
        expectProblem(await sendExactRequest({ port, method, path: '/agentspace', token }), [404])
    },
  )

  test.each(running.map((role) => role.name))('%s gives its metrics where they belong', async (role) => {
    const outside = await sendExactRequest({ port: served.ports[role] ?? 0, method: 'GET', path: '/metrics', token })
    if (metricsOutside) expect(outside.text).toContain('# TYPE http_requests_total counter')
    else expectProblem(outside, [404])
    const port = served.internal[role]
    expect(port !== undefined).toBe(internal)
    if (port === undefined) return
    expectProblem(await sendExactRequest({ port, method: 'GET', path: '/metrics' }), [401])
    const inside = await sendExactRequest({ port, method: 'GET', path: '/metrics', token })
    expect(inside.text).toContain('# TYPE http_requests_total counter')
    expectProblem(await sendExactRequest({ port, method: 'GET', path: '/openapi.json', token }), [404])
  })

  test('answers requests under way at a stop signal, and ends with 0', async () => {
    const port = served.ports.consensus ?? 0
    const text = JSON.stringify(sessionBody)
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'content-length': text.length,
    }
    const halfSent = http.request({ host: '127.0.0.1', port, method: 'POST', path: sessions, headers })
    const answered = once(halfSent, 'response') as Promise<[http.IncomingMessage]>
    halfSent.write(text.slice(0, 10))
    // An answer on a later connection: by now the head of the first has been read.
    expect((await sendExactRequest({ port, method: 'POST', path: sessions, token, body: sessionBody })).status).toBe(
      201,
    )
    const ended = served.stop()
    await expect.poll(() => served.log(), { timeout: 60_000 }).toContain('"platform.stopping"')
    halfSent.end(text.slice(10))
    const [answer] = await answered
    answer.resume()
    expect(answer.statusCode).toBe(201)
    expect(await ended).toBe(0)
    await expect.poll(() => served.log()).toContain('"platform.stopped"')
    await expect(sendExactRequest({ port, method: 'GET', path: '/health' })).rejects.toThrow(/ECONNREFUSED/)
  })

  test('has kept every acknowledged write, and starts again', async () => {
    const again = await site.serve()
    const list = await sendExactRequest({ port: again.ports.consensus ?? 0, method: 'GET', path: sessions, token })
    expect((list.json as { items: unknown[] }).items).toHaveLength(2)
    expect(await again.stop()).toBe(0)
  })
})
