// Tool servers that the gateway runs itself, as processes in the sandbox: one for all callers, started when it is needed.
import { randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { ToolProgress } from '../../../daemon/kernel/tools/tool-service.ts'
import { accept } from '../../../daemon/roles/gateway/service-tool/accept.ts'
import { review } from '../../../daemon/roles/gateway/service-tool/review.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type GatewaySite, startGatewaySite } from './gateway-site.ts'
import { filesystemServer, libraryServer, stdioWorld } from './stdio-world.ts'

const secret = `secret-${randomUUID()}`
const mark = `mark-${randomUUID()}`
const dir = fs.mkdtempSync(path.join(tmpdir(), 'stdio-test-'))

let world: GatewaySite
let stage: ReturnType<typeof stdioWorld>
beforeAll(async () => {
  fs.chmodSync(dir, 0o755)
  fs.writeFileSync(path.join(dir, 'key'), `${secret}\n`, { mode: 0o600 })
  fs.mkdirSync(path.join(dir, 'shown'))
  fs.writeFileSync(path.join(dir, 'shown/plan.txt'), 'the plan')
  world = await startGatewaySite(
    {
      stdio_servers: {
        tools: libraryServer([mark], { env: { LEVEL: 'high' }, secret_env: { API_KEY: path.join(dir, 'key') } }),
        files: filesystemServer(path.join(dir, 'shown')),
        sleepy: libraryServer([`idle-${mark}`], { idle_s: 1 }),
      },
    },
    {
      profile: {
        guardrails: { rules: [{ name: 'low', tools: ['tools__fail'], label_ceiling: 'RESTRICTED' }] },
      },
    },
  )
  stage = stdioWorld(world.site)
})
afterAll(async () => {
  await world?.site.end()
  fs.rmSync(dir, { recursive: true, force: true })
  expect(world?.site.loggedErrors ?? []).toEqual([])
  expect(stage.isRunning(mark)).toBe(false)
})

test('a server is in the registry from the start, and runs once somebody needs it', async () => {
  await waitUntil(async () => ((await stage.find('tools')) as { state?: string })?.state === 'live')
  expect(await stage.find('tools')).toMatchObject({ source: 'stdio', url: expect.stringMatching(/^stdio:\/\/tools\//) })
  expect(stage.isRunning(mark)).toBe(false)
  const { authentication, tools } = await stage.readReview('tools')
  expect([authentication, tools.map(({ name, state }) => `${name} ${state}`)[0]]).toEqual(['none', 'count new'])
  expect(stage.isRunning(mark)).toBe(true)
})

test('no token of a caller goes to it', async () => {
  const admin = await stage.admin()
  const reviewed = await admin.call(review, { name: 'tools', authentication: 'delegated' })
  expect(reviewed).toMatchObject({ status: 422, problem: { errors: [{ path: 'authentication' }] } })
  const { url } = await stage.readReview('tools')
  const tools = [{ name: 'echo', sha256: '0'.repeat(64) }]
  const accepted = await admin.call(accept, { name: 'tools', url, authentication: 'delegated', tools })
  expect(accepted.status).toBe(422)
})

test('accepted tools are called by name, several at a time over one process', async () => {
  await stage.acceptTools('tools')
  const answers = await Promise.all([1, 2, 3, 4].map((n) => stage.call('tools__echo', { n })))
  expect(answers.map(({ structured_content }) => structured_content)).toEqual([1, 2, 3, 4].map((n) => ({ n })))
  expect(JSON.stringify(await stage.call('tools__fail'))).toContain('takes no token')
})

test('it gets its variables and secrets, and the trace of its caller', async () => {
  const { structured_content: seen } = await stage.call('tools__look')
  expect(seen).toMatchObject({ API_KEY: secret, LEVEL: 'high', HOME: '/tmp', args: [mark] })
  expect(seen?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-\d\d$/)
})

test('it sees neither files of the site nor the network, and can write only its own folder', async () => {
  const server = createServer((socket) => socket.end())
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  const { profile, keys, data } = world.site.folder
  const files = [profile, keys, data, path.join(dir, 'key'), '/etc/shadow', '/root', '/proc/1/root/root']
  const { port } = server.address() as { port: number }
  const { structured_content } = await stage.call('tools__read', { files, port })
  expect(structured_content).toEqual({ found: [], connected: false, written: false })
})

test('progress and cancellation reach it', async () => {
  const seen: ToolProgress[] = []
  const onProgress = (progress: ToolProgress) => void seen.push(progress)
  await stage.call('tools__count', { n: 1 }, { onProgress })
  expect(seen.at(-1)).toEqual({ progress: 3, total: 3 })
  const ending = new AbortController()
  const waiting = stage.call('tools__wait', {}, { cancelled: ending.signal })
  ending.abort()
  await expect(waiting).rejects.toThrow(/cancelled/)
  const connection = await stage.connect()
  const later = new AbortController()
  const open = connection.callTool({ name: 'tools__wait', input: {}, timeout_ms: 60_000, cancelled: later.signal })
  await connection.callTool({ name: 'tools__echo', input: {}, timeout_ms: 60_000 })
  later.abort()
  await expect(open).rejects.toThrow(/cancelled/)
  await waitUntil(async () => ((await stage.call('tools__look')).structured_content?.cancelled as number) > 0)
  await connection.close()
})

test('a tool whose definition changes is held', async () => {
  await stage.call('tools__define', { name: 'echo', description: 'Another one' })
  await waitUntil(async () => (await stage.states('tools')).includes('echo held'))
  await expect(stage.call('tools__echo')).rejects.toThrow(/Unknown tool/)
})

test('after its death it is started again, and its secrets are in no line of the log', async () => {
  const before = world.events.length
  expect(JSON.stringify((await stage.call('tools__crash')).content)).toContain('SIGKILL')
  expect((await stage.call('tools__count', { n: 2 })).structured_content).toEqual({ n: 2 })
  const lines = world.events.slice(before)
  await waitUntil(() => world.events.some((line) => line.startsWith('gateway.stdio_server.ended')))
  expect(world.events.join('\n')).not.toContain(secret)
  expect(lines.length).toBeGreaterThan(0)
})

test('what it has started ends with it', async () => {
  const seconds = `${200_000 + Math.floor(Math.random() * 100_000)}.5`
  await stage.call('tools__fork', { mark: seconds })
  await waitUntil(() => stage.isRunning(seconds))
  await stage.call('tools__crash')
  await waitUntil(() => !stage.isRunning(seconds))
})

test('a published server serves its files', async () => {
  await stage.acceptTools('files', 'read_text_file', 'write_file')
  const plan = path.join(dir, 'shown/plan.txt')
  expect(JSON.stringify((await stage.call('files__read_text_file', { path: plan })).content)).toContain('the plan')
  const changed = await stage.call('files__write_file', { path: plan, content: 'another plan' })
  expect(changed.is_error).toBe(true)
  expect(fs.readFileSync(plan, 'utf8')).toBe('the plan')
})

test('a server that nobody calls is ended, and started again by the next call', async () => {
  await stage.acceptTools('sleepy', 'echo')
  await waitUntil(() => !stage.isRunning(`idle-${mark}`))
  expect(await stage.states('sleepy')).toContain('echo offered')
  expect((await stage.call('sleepy__echo', { n: 3 })).structured_content).toEqual({ n: 3 })
  expect(world.events.filter((line) => line.includes('stopped') && line.includes('sleepy')).length).toBeGreaterThan(0)
})

test('no other service takes its name', async () => {
  const taken = await world.register('svc', 'sleepy', 'http://127.0.0.1:9')
  expect(taken).toMatchObject({ status: 403, problem: { detail: expect.stringContaining('gateway.stdio_servers') } })
})
