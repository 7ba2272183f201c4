// A service says that it is not ready before it is and once it is to end; between the two, how its parts are.

import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readProfile, resolveProfileSettings } from '../../daemon/boot/profile.ts'
import { type RunningSite, serve } from '../../daemon/boot/serve.ts'
import { openSiteRuntime, type SiteRuntime } from '../../daemon/boot/site-runtime.ts'
import { everyRole } from '../../daemon/every-role.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { problem } from '../../daemon/kernel/error/problem.ts'
import { serviceCaller } from '../../daemon/kernel/identity/admit-caller.ts'
import { emptyRequest, performOperation } from '../../daemon/kernel/operation/perform-operation.ts'
import { operationsOf } from '../../daemon/kernel/role/built-in-operations.ts'
import { sendHttpRequest } from '../support/http/send-http-request.ts'
import { createTestSite, type TestSite } from '../support/site/test-site.ts'
import { sampleTrace } from '../support/trace/sample-trace.ts'

let world: TestSite
beforeAll(async () => {
  world = await createTestSite()
})
afterAll(() => world?.end())

const silent = () => undefined
const log = { debug: silent, info: silent, warn: silent, error: silent }

async function openTestRuntime(): Promise<SiteRuntime> {
  const { folder, clock } = world
  const resolved = resolveProfileSettings(everyRole, readProfile(folder.profile), {}, {}, path.dirname(folder.profile))
  // Those of the profile.
  const starting = everyRole.filter(({ name }) => ['site', 'consensus'].includes(name))
  return openSiteRuntime({ folder, resolved, starting, clock, log, resolveSettingsAgain: async () => resolved })
}

/** The answers of the service to its two health operations, by code or by status. */
async function readHealth(runtime: SiteRuntime): Promise<string[]> {
  const answers = runtime.services.flatMap(({ role, context }) =>
    operationsOf(role)
      .filter(({ address }) => /\.service\.(live|health)$/.test(address))
      .map((target) =>
        performOperation(context, target, serviceCaller(role.name), {
          ...emptyRequest,
          trace: sampleTrace,
          signal: new AbortController().signal,
        }),
      ),
  )
  return (await Promise.all(answers)).map((answer) =>
    isRefusal(answer) ? `${answer.row.status} ${answer.message}` : `${answer.status}`,
  )
}

test('starting, ready, stopping', async () => {
  const runtime = await openTestRuntime()
  expect(runtime.services.map(({ role, phase }) => [role.name, phase()])).toEqual([
    ['site', 'starting'],
    ['consensus', 'starting'],
  ])
  expect(new Set(await readHealth(runtime))).toEqual(new Set(['503 the service is starting']))
  await runtime.open()
  expect(new Set(await readHealth(runtime))).toEqual(new Set(['200']))
  const closing = runtime.close(0)
  expect(new Set(await readHealth(runtime))).toEqual(new Set(['503 the service is stopping']))
  await closing
  expect(new Set(await readHealth(runtime))).toEqual(new Set(['503 the service is stopping']))
})

test('once it listens, over HTTP: the status for anybody, the parts for cleared callers', async () => {
  await world.start()
  expect((await world.call('consensus', 'GET', '/health')).json).toEqual({ status: 'ok', service: 'consensus-service' })
  const token = await world.token({ roles: ['operator'] })
  const { json } = await world.call('consensus', 'GET', '/health', undefined, { token })
  const { dependencies } = json as { dependencies: { name: string; state: string; latency_ms: number }[] }
  expect(dependencies).toContainEqual(expect.objectContaining({ name: 'site', state: 'ok', detail: 'ready' }))
  for (const { state, latency_ms } of dependencies) expect([state, latency_ms >= 0]).toEqual(['ok', true])
  await world.stop()
})

test('the process that it needs: absent, present, stopping', async () => {
  const { folder, clock } = world
  const start = (role: string) => serve({ folder, env: {}, clock, log, roles: [role] })
  const consensus = await start('consensus')
  const url = consensus.urls.consensus?.find((each) => each.startsWith('http')) ?? ''
  const token = await world.token({ roles: ['operator'] })
  const readRoleHealth = async () => {
    const { status, json } = await sendHttpRequest(url, 'GET', '/api/v2/health', undefined, { token })
    const report = json as { status: string; dependencies: { name: string; detail: string }[] }
    return [status, report.status, report.dependencies.find(({ name }) => name === 'site')?.detail]
  }
  // A finding answers the requests of a second.
  const seesHealth = (...expected: unknown[]) => expect.poll(readRoleHealth, { timeout: 60_000 }).toEqual(expected)
  await seesHealth(200, 'degraded', 'does not answer')
  const site: RunningSite = await start('site')
  await seesHealth(200, 'ok', 'ready in another process')
  await site.stop()
  await seesHealth(200, 'degraded', 'does not answer')
  await consensus.stop()
})

test('while a service drains, its socket says 503 as a problem or takes nobody', async () => {
  await world.start()
  const url = world.url('site')
  const stopping = world.stop()
  const answer = await sendHttpRequest(url, 'GET', '/health').catch(() => undefined)
  await stopping
  if (answer) expect([answer.status, problem.parse(answer.json).code]).toEqual([503, 'unavailable'])
  expect(world.loggedErrors).toEqual([])
})
