// Two processes of the gateway that share a real Redis: a caller has one rate and one quota at both together.
import { afterAll, beforeAll, expect } from 'vitest'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import { check } from '../../../daemon/roles/gateway/guardrail/check.ts'
import { list } from '../../../daemon/roles/gateway/quota/list.ts'
import { type Redis, redis, redisRequirement } from '../../support/engines/redis.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'

const test = whenPresent(redisRequirement)
const limits = { answer_ms: 10_000, answer_bytes: 16_777_216, depth: 128, tools: 2_000 }
const client = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule: addressRule(['127.0.0.0/8']) })
const tool = 'intelligence-service__signal_list'
const rules = [
  { name: 'year', kinds: ['tool'], calls_per_day: 1_000 },
  { name: 'pace', kinds: ['tool'], subjects: ['sam', 'sue'], calls_per_minute: 5 },
]

let server: Redis
const gateways: TestSite[] = []
beforeAll(async () => {
  if (!redisRequirement.isPresent) return
  server = await redis()
  await server.start()
  const kv = { host: '127.0.0.1', port: server.port, verify: false, password: server.password }
  for (let at = 0; at < 2; at += 1)
    gateways.push(
      await startTestSite({
        profile: {
          platform: { roles: ['site', 'intelligence', 'gateway'], deployment_profile: 'single_cluster' },
          ...{ intelligence: { port: 0 }, gateway: { port: 0 }, guardrails: { rules }, kv },
        },
      }),
    )
})
afterAll(async () => {
  for (const site of gateways) await site.end()
  await server?.end()
  const errors = gateways.flatMap(({ loggedErrors }) => loggedErrors)
  expect(errors.filter((error) => !error.startsWith('platform.keyvalue.lost'))).toEqual([])
})

async function callTool(site: TestSite, subject: string): Promise<'answered' | 'refused'> {
  const token = await site.token({ subject, roles: ['analyst'] })
  const url = new URL('/agentspace', site.url('gateway'))
  const connection = await client.connect({ url, token: async () => token })
  try {
    return (await connection.callTool({ name: tool, input: {}, timeout_ms: 10_000 })).is_error ? 'refused' : 'answered'
  } finally {
    await connection.close()
  }
}
const callBoth = async (subject: string, times: number) =>
  await Promise.all(Array.from({ length: times }, (_, at) => callTool(gateways[at % 2] as TestSite, subject)))
const admin = (site: TestSite) => site.as({ subject: 'pat', roles: ['admin'] })
const rowOf = async (site: TestSite, subject: string) =>
  await waitUntil(async () => {
    site.wakeWorker('gateway', 'keep-usage')
    return (await (await admin(site)).ok(list, { subject, limit: 500 })).items[0]
  })

test('calls at both at once have one limit, and both show the same use', async () => {
  const outcomes = await callBoth('sam', 12)
  expect(outcomes.filter((each) => each === 'answered')).toHaveLength(5)
  for (const site of gateways) {
    expect(await rowOf(site, 'sam')).toMatchObject({
      ...{ calls: 5, refused: 7, left: 0 },
      quotas: [
        { guardrail: 'year', used: 5, left: 995 },
        { guardrail: 'pace', used: 5, left: 0 },
      ],
    })
    const checked = { kind: 'tool', subject: 'sam', tool } as const
    expect(await (await admin(site)).ok(check, checked)).toMatchObject({ outcome: 'refused', guardrail: 'pace' })
  }
})

test('without Redis neither counts alone: a call with a limit is refused until it is back', async () => {
  await server.kill()
  expect(await callBoth('sue', 4)).toEqual(['refused', 'refused', 'refused', 'refused'])
  await server.start()
  const checked = { kind: 'tool', subject: 'sue', tool } as const
  for (const site of gateways)
    await waitUntil(async () => (await (await admin(site)).call(check, checked)).status === 200)
  const outcomes = await callBoth('sue', 10)
  expect(outcomes.filter((each) => each === 'answered')).toHaveLength(5)
})
