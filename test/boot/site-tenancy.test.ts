// The site role belongs to the site's own tenant, and what acts for every tenant is the site's own hand alone.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningSite, serve } from '../../daemon/boot/serve.ts'
import { problem } from '../../daemon/kernel/error/problem.ts'
import { hasBody, isRouted } from '../../daemon/kernel/operation/operation.ts'
import { operationsOf } from '../../daemon/kernel/role/built-in-operations.ts'
import { roleCalls } from '../../daemon/role-calls.ts'
import { consensus } from '../../daemon/roles/consensus/role.ts'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { list as listSessions } from '../../daemon/roles/consensus/session/list.ts'
import { site } from '../../daemon/roles/site/role.ts'
import { roles } from '../../daemon/roles.ts'
import {
  buildOpinionInput,
  createOperator,
  openSession,
  startConsensusSite,
  waitUntilDelivered,
} from '../roles/consensus/consensus-site.ts'
import { createCheckedClient } from '../support/http/checked-client.ts'
import { sendHttpRequest } from '../support/http/send-http-request.ts'
import { createTestSite, type TestSite, type TokenHolder } from '../support/site/test-site.ts'

let world: TestSite
beforeAll(async () => {
  world = await startConsensusSite({ contributors: ['c1'] })
})
afterAll(async () => {
  await world?.end()
  expect(world?.loggedErrors ?? []).toEqual([])
})

const guarded = [site, consensus].flatMap((role) =>
  operationsOf(role)
    .filter(isRouted)
    .filter(({ operation }) => operation.allow !== 'public'),
)
const ofSite = guarded.filter(({ role }) => role === 'site')

/** Status and code, with input that would be refused anyway: the caller is checked before the input. */
async function requestAs({ role, operation }: (typeof guarded)[number], who: TokenHolder): Promise<string> {
  const at = operation.path.replaceAll(/\{\w+\}/g, 'x')
  const body = hasBody(operation.method) ? {} : undefined
  const token = await world.token(who)
  const { status, json } = await world.call(role, operation.method, at, body, { token })
  const refused = problem.safeParse(json)
  return refused.success ? `${status} ${refused.data.code}` : `${status}`
}

const strangers: [string, TokenHolder][] = [
  ['an operator of another tenant', { tenant: 'tenant-b', roles: ['operator'] }],
  ['an administrator of another tenant', { tenant: 'tenant-b', roles: ['admin'] }],
  ['a tenant of nearly the same name', { tenant: 'tenant-A', roles: ['admin'] }],
  ['somebody who calls themselves a service of another tenant', { tenant: 'tenant-b', subject: 'role:consensus' }],
]
const pretenders: [string, TokenHolder][] = [
  ['an administrator of every tenant', { tenant: '*', roles: ['admin'] }],
  ['somebody with the role of services', { tenant: '*', subject: 'svc:gateway', roles: ['service'] }],
  ['somebody nearly called like a role', { tenant: '*', subject: 'Role:site', roles: ['admin'] }],
  ['somebody with a role in their name', { tenant: '*', subject: 'x role:site', roles: ['admin'] }],
]

describe.each([...strangers, ...pretenders])('%s', (_, who) => {
  test.each(ofSite.map((target) => [target.address, target] as const))('is refused %s', async (_address, target) => {
    expect(await requestAs(target, who)).toBe('403 forbidden')
  })

  test('learns no more of its health than anybody', async () => {
    const { status, json } = await world.call('site', 'GET', '/health', undefined, { token: await world.token(who) })
    expect({ status, json }).toEqual({ status: 200, json: { status: 'ok', service: 'site-service' } })
  })
})

describe.each(pretenders)('%s', (_, who) => {
  test('is refused every operation of consensus', async () => {
    for (const target of guarded) expect(await requestAs(target, who), target.address).toBe('403 forbidden')
  })
})

test('the operations include what matters most', () => {
  const addresses = ofSite.map(({ address }) => address)
  for (const address of ['peer.list', 'channel.list', 'quarantine.list', 'token.revoke', 'message.send', 'key.list']) {
    expect(addresses).toContain(`site.${address}`)
  }
})

test('an administrator of the site’s own tenant is refused nothing for being who they are', async () => {
  for (const target of ofSite.filter(({ operation }) => operation.allow !== 'role'))
    expect(await requestAs(target, { roles: ['admin'] }), target.address).not.toMatch(/^40[13]/)
})

test('another tenant has its own sessions, and sees its own alone', async () => {
  const theirs = await world.as({ tenant: 'tenant-b', subject: 'bea', roles: ['operator'] })
  const { id } = await openSession(theirs, { m: 1, n: 1 })
  expect((await theirs.ok(listSessions, {})).items.map((each) => each.id)).toEqual([id])
  expect((await (await createOperator(world)).ok(listSessions, {})).items).toEqual([])
})

test('the token of a role opens exactly what that role requests', async () => {
  for (const role of roles.map(({ name }) => name)) {
    const who: TokenHolder = { tenant: '*', subject: `role:${role}`, roles: ['service'] }
    const responses = guarded.map(async (target) => [target.address, await requestAs(target, who)] as const)
    const open = (await Promise.all(responses)).filter(([, answer]) => !answer.startsWith('403'))
    const requested = [...(roleCalls.get(role) ?? [])].filter((address) => /^(site|consensus)\./.test(address))
    expect(open.map(([address]) => address).sort(), role).toEqual(requested.sort())
  }
})

test('the token of a role opens nothing over a network', async () => {
  const token = await world.token({ tenant: '*', subject: 'role:consensus', roles: ['service'] })
  for (const address of roleCalls.get('consensus') ?? []) {
    const target = ofSite.find((each) => each.address === address)
    if (!target) continue
    const path = target.operation.path.replaceAll(/\{\w+\}/g, 'x')
    const body = target.operation.method === 'GET' ? undefined : {}
    const { status, json } = await sendHttpRequest(world.url('site'), target.operation.method, path, body, { token })
    expect({ status, json }, address).toMatchObject({
      status: 403,
      json: { detail: expect.stringContaining('local socket') },
    })
  }
})

describe('roles apart', () => {
  let apart: TestSite
  const running: RunningSite[] = []
  beforeAll(async () => {
    const contributors = { c1: { signer_keys: ['c1-1'], spoken_for_by: ['olga'] } }
    apart = await createTestSite({ profile: { consensus: { contributors } } })
    const silent = () => undefined
    const log = { debug: silent, info: silent, warn: silent, error: silent }
    const { folder, clock } = apart
    for (const role of ['site', 'consensus']) running.push(await serve({ folder, env: {}, clock, log, roles: [role] }))
  })
  afterAll(async () => {
    for (const each of running.toReversed()) await each.stop()
    await apart?.end()
  })

  test('consensus has its evidence signed by the site role, over the socket, by its own token', async () => {
    const url = (role: string) =>
      running.flatMap(({ urls }) => urls[role] ?? []).find((each) => /^http/.test(each)) ?? ''

    const token = await apart.token({ subject: 'olga', roles: ['operator'] })
    const person = createCheckedClient(
      { call: (role, method, at, body, options) => sendHttpRequest(url(role), method, at, body, options) },
      token,
      () => 'consensus',
    )
    const { id } = await openSession(person, { m: 1, n: 1 })
    await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
    expect(await waitUntilDelivered(person, id)).toMatchObject({
      state: 'RATIFIED',
      evidence_block_id: expect.any(String),
    })
  })
})
