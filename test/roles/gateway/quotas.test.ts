// Calls are counted by caller and tool, quotas show what is left, and every denial by a guardrail is in the audit log.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import { check } from '../../../daemon/roles/gateway/guardrail/check.ts'
import { list } from '../../../daemon/roles/gateway/quota/list.ts'
import { callUsages } from '../../../daemon/roles/gateway/quota/model.ts'
import { createTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'

const limits = { answer_ms: 10_000, answer_bytes: 16_777_216, depth: 128, tools: 2_000 }
const services = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule: addressRule(['127.0.0.0/8']) })
const signal_list = 'intelligence-service__signal_list'
const insight_list = 'intelligence-service__insight_list'
const rules = [
  { name: 'pace', kinds: ['tool'], subjects: ['sam'], calls_per_minute: 3, calls_per_day: 100 },
  { name: 'no-insights', subjects: ['bob'], tools: ['*__insight_*'], deny: true },
  { name: 'short', kinds: ['chat'], max_body_bytes: 100 },
  { name: 'talk', kinds: ['chat'], calls_per_day: 50 },
  { name: 'once', kinds: ['tool'], subjects: ['dan'], calls_per_minute: 9, calls_per_day: 1 },
]

let world: TestSite
beforeAll(async () => {
  world = await createTestSite({
    profile: {
      platform: { roles: ['site', 'intelligence', 'gateway'], deployment_profile: 'single_cluster' },
      ...{ intelligence: { port: 0 }, gateway: { port: 0 }, guardrails: { rules } },
    },
  })
  await world.start()
})
afterAll(async () => {
  await world?.end()
  expect(world?.loggedErrors ?? []).toEqual([])
})

const callTool = async (subject: string, name: string) => {
  const token = await world.token({ subject, roles: ['analyst'] })
  const connection = await services.connect({
    url: new URL('/agentspace', world.url('gateway')),
    token: async () => token,
  })
  try {
    return (await connection.callTool({ name, input: {}, timeout_ms: 10_000 })).is_error ? 'refused' : 'answered'
  } finally {
    await connection.close()
  }
}
const say = async (subject: string, message: string) => {
  const token = await world.token({ subject, roles: ['analyst'] })
  return (await world.call('gateway', 'POST', '/api/v1/chat', { message }, { token })).status
}
const admin = () => world.as({ subject: 'pat', roles: ['admin'] })
const quotasOf = async (subject: string) => (await (await admin()).ok(list, { subject, limit: 500 })).items
const waitForRows = (subject: string, count: number) =>
  waitUntil(async () => {
    world.wakeWorker('gateway', 'keep-usage')
    return (await quotasOf(subject)).length === count
  })
const denials = async () => {
  const token = await world.token({ subject: 'al', roles: ['auditor'] })
  const at = '/api/v2/gateway/audit?limit=500&action=gateway.guardrail.denied'
  const { json } = await world.call('gateway', 'GET', at, undefined, { token })
  return (json as { items: { event: { subject: string; target: string; detail: object } }[] }).items.map(
    ({ event: { subject, target, detail } }) => ({ subject, target, ...detail }),
  )
}

test('a caller is counted by tool, with what is left of each quota', async () => {
  expect([await callTool('sam', signal_list), await callTool('sam', signal_list)]).toEqual(['answered', 'answered'])
  expect(await callTool('sam', insight_list)).toBe('answered')
  await waitForRows('sam', 2)
  const rows = await quotasOf('sam')
  const quotas = [
    { guardrail: 'pace', window_s: 60, limit: 3, used: 3, left: 0, resets_at: expect.any(String) },
    { guardrail: 'pace', window_s: 86_400, limit: 100, used: 3, left: 97, resets_at: expect.any(String) },
  ]
  expect(rows).toHaveLength(2)
  expect(rows).toContainEqual({
    ...{ subject: 'sam', kind: 'tool', target: signal_list, calls: 2, refused: 0, left: 0, quotas },
  })
  expect(rows).toContainEqual(expect.objectContaining({ target: insight_list, calls: 1, quotas }))
  for (let beyond = 0; beyond < 3; beyond += 1) expect(await callTool('sam', signal_list)).toBe('refused')
  expect((await quotasOf('sam')).find(({ target }) => target === signal_list)).toMatchObject({ calls: 2, refused: 3 })
})

test('a check names the one of several limits that is spent', async () => {
  expect(await callTool('dan', signal_list)).toBe('answered')
  const call = { kind: 'tool', subject: 'dan', tool: signal_list } as const
  expect(await (await admin()).ok(check, call)).toMatchObject({
    ...{ outcome: 'refused', guardrail: 'once', reason: expect.stringContaining('in a day') },
    counts: [
      { guardrail: 'once', limit: 9, used: 1, window_s: 60 },
      { guardrail: 'once', limit: 1, used: 1, window_s: 86_400 },
    ],
  })
})

test('of calls beyond a rate, the first in its window is recorded', async () => {
  const ofSam = (await denials()).filter(({ subject }) => subject === 'sam')
  expect(ofSam).toEqual([
    { subject: 'sam', target: signal_list, kind: 'tool', code: 'rate_limited', guardrail: 'pace', reason: 'rate' },
  ])
})

test('a tool that reads, refused by its name, and a message that is too long are recorded too', async () => {
  expect(await callTool('bob', insight_list)).toBe('refused')
  expect(await say('bob', 'x'.repeat(200))).toBe(413)
  expect(await denials()).toEqual(
    expect.arrayContaining([
      {
        ...{ subject: 'bob', target: insight_list, kind: 'tool', code: 'forbidden' },
        ...{ guardrail: 'no-insights', reason: 'denied' },
      },
      { subject: 'bob', target: 'chat', kind: 'chat', code: 'too_large', guardrail: 'short', reason: 'too_large' },
    ]),
  )
  await waitForRows('bob', 2)
  expect(await quotasOf('bob')).toEqual(
    expect.arrayContaining([
      { subject: 'bob', kind: 'tool', target: insight_list, calls: 0, refused: 1, quotas: [] },
      expect.objectContaining({ kind: 'chat', target: 'chat', calls: 0, refused: 1 }),
    ]),
  )
})

test('the guardrails that count a later call are added to what is known of its caller', async () => {
  expect(await say('bob', 'hello')).toBe(200)
  await waitUntil(async () => {
    world.wakeWorker('gateway', 'keep-usage')
    return (await quotasOf('bob')).some(({ kind, left }) => kind === 'chat' && left === 49)
  })
})

test('filters and pages', async () => {
  const pat = await admin()
  const all = (await pat.ok(list, { limit: 500 })).items
  expect(all.length).toBeGreaterThanOrEqual(4)
  const first = await pat.ok(list, { limit: 1 })
  expect([first.items.length, first.total, first.total_is]).toEqual([1, all.length, 'exact'])
  const rest = await pat.ok(list, { limit: 500, cursor: first.next_cursor ?? '' })
  expect([...first.items, ...rest.items].map(({ target }) => target)).toEqual(all.map(({ target }) => target))
  const chats = (await pat.ok(list, { limit: 500, kind: 'chat' })).items
  expect(chats.map(({ subject }) => subject)).toEqual(['bob'])
  const tools = (await pat.ok(list, { limit: 500, target: insight_list })).items
  expect(tools.map(({ subject }) => subject).sort()).toEqual(['bob', 'sam'])
})

test('is for administrators, of their tenant', async () => {
  const operator = await world.as({ subject: 'op', roles: ['operator'] })
  expect((await operator.call(list, { limit: 50 })).status).toBe(403)
  const other = await world.as({ subject: 'pat', roles: ['admin'], tenant: 'tenant-z' })
  expect((await other.ok(list, { limit: 50 })).items).toEqual([])
})

test('a row ends a day after its last call', async () => {
  const { docs } = await world.store('gateway').list(callUsages, { limit: 10 })
  for (const { value } of docs) expect(value.expires_ts - world.clock.now()).toBeGreaterThan(86_400_000)
})

test('callers are listed by name, each with its tools by name', async () => {
  for (const subject of ['zed', 'ann-2', 'ann']) {
    expect(await callTool(subject, signal_list)).toBe('answered')
    expect(await callTool(subject, insight_list)).toBe('answered')
    await waitForRows(subject, 2)
  }
  const rows = (await (await admin()).ok(list, { kind: 'tool', limit: 500 })).items
  const shown = rows
    .map(({ subject, target }) => [subject, target])
    .filter(([subject]) => subject === 'zed' || subject?.startsWith('ann'))
  expect(shown).toEqual(
    ['ann', 'ann-2', 'zed'].flatMap((subject) => [insight_list, signal_list].map((target) => [subject, target])),
  )
})
