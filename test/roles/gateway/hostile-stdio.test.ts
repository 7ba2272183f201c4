// Tool servers of the site that hang, lie, flood or grow: each call ends within its limits, other tools go on, nothing is left.
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { review } from '../../../daemon/roles/gateway/service-tool/review.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type GatewaySite, startGatewaySite } from './gateway-site.ts'
import { hostileServer, libraryServer, stdioWorld } from './stdio-world.ts'

const mark = `hostile-${randomUUID()}`

/** By the name of the server: what it does when it is called, and what the caller reads. */
const kinds: readonly (readonly [string, string, RegExp])[] = [
  ['garbage', 'garbage', /is not JSON within 128 levels/],
  ['deep', 'deep', /is not JSON within 128 levels/],
  ['long', 'a long line', /larger than 2097152 bytes/],
  ['chatter', 'many notifications', /has written more than/],
  ['asking', 'many requests', /has written more than/],
  ['wrong', 'another id', /did not answer within/],
  ['silent', 'nothing', /did not answer within/],
  ['shut', 'a closed stream', /has closed its output|did not answer within/],
  ['ends', 'its end', /ended with exit code 7|has closed its output/],
  ['grows', 'much memory', /exceeded the limit memory_bytes|SIGKILL/],
]

let world: GatewaySite
let stage: ReturnType<typeof stdioWorld>
beforeAll(async () => {
  const fields = { env: { MARK: mark }, memory_mb: 256 }
  world = await startGatewaySite({
    tool_call_s: 8,
    stdio_servers: {
      ...Object.fromEntries(kinds.map(([name, kind]) => [name, hostileServer(kind, fields)])),
      noisy: hostileServer('errors without end', fields),
      exits: hostileServer('exit', fields),
      mute: hostileServer('mute', { ...fields, answer_s: 1 }),
      stays: hostileServer('stay', { ...fields, idle_s: 1 }),
      absent: { command: ['/usr/bin/there-is-no-such-program'] },
      sound: hostileServer('sound', fields),
      hangs: libraryServer([mark], fields),
    },
  })
  stage = stdioWorld(world.site)
})
afterAll(async () => {
  await world?.site.end()
  expect(world?.site.loggedErrors ?? []).toEqual([])
  expect(stage.isRunning('hostile-stdio-server.mjs')).toBe(false)
  expect(stage.isRunning(mark)).toBe(false)
})

const callOf = async (service: string) => JSON.stringify(await stage.call(`${service}__act`))

describe.each(kinds)('the server %s', (name, _, reason) => {
  test('fails its call, within the limits, and holds nobody up', async () => {
    await stage.acceptTools(name)
    await stage.acceptTools('sound')
    const began = performance.now()
    const failing = callOf(name)
    expect(await callOf('sound')).not.toContain('unavailable')
    expect(await failing).toMatch(reason)
    expect(performance.now() - began).toBeLessThan(60_000)
  })
})

test('errors without end are read and dropped', async () => {
  await stage.acceptTools('noisy')
  expect(await callOf('noisy')).toMatch(/did not answer within/)
  const lines = world.events.filter((line) => line.includes('stdio_server.stderr') && line.includes('"noisy"'))
  expect(lines.length).toBeGreaterThan(0)
  expect(lines.length).toBeLessThanOrEqual(200)
})

test('a server that hangs is ended, and the next call has another process', async () => {
  await stage.acceptTools('hangs', 'hang', 'echo')
  expect(JSON.stringify(await stage.call('hangs__hang'))).toContain('did not answer within')
  await waitUntil(async () => JSON.stringify(await stage.call('hangs__echo', { n: 1 })).includes('"n":1'))
})

test.each([
  ['exits', /ended with exit code 3|has closed its output/],
  ['mute', /did not answer in time/],
  ['absent', /could not be started/],
])('the server %s cannot be reviewed, and the registry says why', async (name, reason) => {
  await waitUntil(async () => (await stage.find(name)) !== undefined)
  const answer = await (await stage.admin()).call(review, { name })
  expect([answer.status >= 500, JSON.stringify(answer.problem)]).toEqual([true, expect.stringMatching(reason)])
  await waitUntil(async () => ((await stage.find(name)) as { state?: string })?.state === 'unverified')
  if (name === 'absent') expect(JSON.stringify(answer.problem)).not.toContain('/usr/bin')
})

test('a server that does not end with its input, nor by a signal, is killed', async () => {
  await stage.acceptTools('stays')
  await waitUntil(() => !stage.isRunning('hostile-stdio-server.mjs\0stay'))
})

test('a server that fails again and again is spared', async () => {
  await waitUntil(async () => (await callOf('ends')).includes('is tried again in'), 200_000)
  expect(await callOf('sound')).not.toContain('unavailable')
})
