// The packaged public door with its counters in a real Redis over TLS: shared by processes, verified, and missed at once when away.
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { redisKeyValue } from '../../../adapters/keyvalue/redis/redis-keyvalue.ts'
import type { KeyValue } from '../../../daemon/kernel/keyvalue.ts'
import { type Redis, redis, redisWanted } from '../../support/engines/redis.ts'
import { type Certificates, serverCertificates } from '../../support/engines/server-certificates.ts'
import type { Served } from '../../support/packaged-site.ts'
import { ask, type Door, publicDoor, reasonsOf, recorded, serviceToken } from '../../support/public-door.ts'
import { whenPresent } from '../../support/requires.ts'

const test = whenPresent(redisWanted)
const patience = { timeout: 60_000 }
const report = '/public-api/api/v1/report'

let server: Redis
let certificates: Certificates
let others: Certificates
let door: Door
const doors: Door[] = []
let client: KeyValue | undefined
const running: Served[] = []

beforeAll(async () => {
  if (!redisWanted.isPresent) return
  certificates = serverCertificates('server')
  others = serverCertificates('stranger')
  server = await redis(certificates.of('server'))
  await server.start()
})
afterAll(async () => {
  await client?.close()
  await server?.end()
  certificates?.dispose()
  others?.dispose()
})
afterEach(async () => {
  for (const served of running.splice(0)) await served.stop()
  for (const one of doors.splice(0)) await one.close()
})

const named = () => ({
  ...{ KV_HOST: '127.0.0.1', KV_PORT: String(server.port), KV_PASSWORD: server.password },
  KV_VERIFY: certificates.of('server').ca,
})

/** A site of its own. */
async function open(rules: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  door = await publicDoor(rules, env)
  doors.push(door)
}

async function serve(): Promise<Served> {
  const served = await door.serve()
  running.push(served)
  return served
}

/** Every token is at its end when it comes, so that the provider's count says who went on to ask for one. */
function withoutKeptTokens(): void {
  door.provider.answer = (_, response) =>
    response.end(JSON.stringify({ access_token: serviceToken, token_type: 'Bearer', expires_in: 0 }))
}

const status = async (at: Served, source: string, sent = {}) => (await ask(at, report, { source, ...sent })).status

test('requests are counted in Redis, under the keys of the interface, for all processes together', async () => {
  await open(['GET /api/v1/report', 'POST /api/v1/report'], { RATE_LIMIT_PER_MIN: '6', ...named() })
  const one = await serve()
  await open(['GET /api/v1/report'], { RATE_LIMIT_PER_MIN: '6', ...named() })
  const two = await serve()
  for (const at of [one, two]) await expect.poll(() => status(at, '198.51.100.1'), patience).toBe(200)
  const statuses = []
  for (let turn = 0; turn < 4; turn += 1) for (const at of [one, two]) statuses.push(await status(at, '192.0.2.1'))
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429])
  expect(await status(one, '192.0.2.2', { method: 'POST', body: 'a' })).toBe(200)
  const { port, password } = server
  client = redisKeyValue({
    ...{ host: '127.0.0.1', port, password, database: 0, prefix: '', chance: () => 0.5, told: () => undefined },
    tls: { ca_file: certificates.of('server').ca },
  })
  const store = client
  await expect.poll(async () => (await store.health()).ok, patience).toBe(true)
  expect(await store.get('proxy:rl:192.0.2.1')).toBe('8')
  expect(await store.get('proxy:rl:192.0.2.2')).toBe('1')
  expect(await store.get('proxy:rl:w:192.0.2.2')).toBe('1')
  const { left_ms } = await store.increment('proxy:rl:192.0.2.1', 1, 3_600_000)
  expect(left_ms).toBeGreaterThan(0)
  expect(left_ms).toBeLessThanOrEqual(60_000)
})

test.each(['killed', 'standing still'])(
  'while it is %s the door answers 503, asks for no token, and recovers',
  async (how) => {
    await open(['GET /api/v1/report'], named())
    withoutKeptTokens()
    const at = await serve()
    await expect.poll(() => status(at, '192.0.2.3'), patience).toBe(200)
    if (how === 'killed') await server.kill()
    else server.freeze()
    // What it had not noticed yet may still be on its way; from the first 503 on there is no other answer.
    await expect.poll(() => status(at, '192.0.2.4'), patience).toBe(503)
    const before = [door.provider.asked.length, door.platform.asked.length]
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(at, report, { source: '192.0.2.5' })))
    expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(503))
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['{"status":503,"title":"Service Unavailable"}']))
    expect((await ask(at, '/public-api/api/v1/other')).status).toBe(404)
    expect([door.provider.asked.length, door.platform.asked.length]).toEqual(before)
    if (how === 'killed') await server.start()
    else server.thaw()
    await expect.poll(() => status(at, '192.0.2.6'), patience).toBe(200)
    await expect.poll(() => at.log()).toContain('proxy.counters.lost')
    expect(at.log()).not.toContain(server.password)
  },
)

const wrong: [name: string, env: () => Record<string, string>, says: RegExp][] = [
  ['another authority', () => ({ KV_VERIFY: others.of('stranger').ca }), /SELF_SIGNED|UNABLE_TO|CERT/],
  ['a wrong password', () => ({ KV_PASSWORD: 'guessed-password' }), /WRONGPASS|password/],
]

test.each(wrong)('with %s nothing is counted, so nothing goes on', async (_, env, says) => {
  await open(['GET /api/v1/report'], { ...named(), ...env() })
  const at = await serve()
  await expect.poll(() => at.log(), patience).toMatch(says)
  expect(await status(at, '192.0.2.7')).toBe(503)
  expect([door.platform.asked, door.provider.asked]).toEqual([[], []])
  expect(reasonsOf(await recorded(door, 1))).toEqual({ counter_unavailable: 1 })
  expect(at.log()).not.toMatch(new RegExp(`${server.password}|guessed-password`))
})

test('a file of authorities that is not there is told at the start', async () => {
  await open(['GET /api/v1/report'], { ...named(), KV_VERIFY: '/nowhere/ca.pem' })
  const { status, stderr } = door.site.run(['serve'], door.env)
  expect(status).not.toBe(0)
  expect(stderr).toMatch(/kv\.verify.*\/nowhere\/ca\.pem/)
  expect(stderr).not.toMatch(/ {4}at |node:internal/)
})
