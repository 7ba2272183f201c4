// A client requests one role, which requests another: in one process, in two, and on two machines, all that belongs to a request arrives.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import * as http from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { systemRandom } from '../../adapters/host/random/system-random.ts'
import { type RoleDirectory, roleCaller } from '../../daemon/boot/role-caller.ts'
import { SiteRoleClients } from '../../daemon/boot/role-clients.ts'
import { roleSocketFile, siteFolder } from '../../daemon/boot/storage/site-folder.ts'
import { everyOperation } from '../../daemon/every-role.ts'
import type { Transport } from '../../daemon/kernel/messaging/transport.ts'
import { type AddressedOperation, operation } from '../../daemon/kernel/operation/operation.ts'
import type { RoleContext } from '../../daemon/kernel/operation/role-context.ts'
import type { PartKey } from '../../daemon/kernel/role/part.ts'
import type { Trace } from '../../daemon/kernel/telemetry/trace.ts'
import { messageKinds } from '../../daemon/message-kinds.ts'
import { messageKindsPart } from '../../daemon/roles/site/parts.ts'
import { sendMessage } from '../../daemon/shared/site-message/site-message.ts'
import { echoRole } from '../support/echo/echo-role.ts'
import { adminHeaders, startEchoServer } from '../support/echo/echo-server.ts'
import { certifyRoles } from '../support/keys/certified-roles.ts'
import { sampleTrace } from '../support/trace/sample-trace.ts'

const dir = mkdtempSync(path.join(tmpdir(), 'asking-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const folder = siteFolder(path.join(dir, 'alpha'))
mkdirSync(path.dirname(roleSocketFile(folder, 'site')), { recursive: true, mode: 0o700 })
const random = systemRandom()
const certified = await certifyRoles(dir, folder, ['site', 'consensus'])
const remote = certified.connect()
afterAll(() => remote.close())
const serviceToken = async () => 'role/consensus.service'

/** Where the requests of a role go: to contexts of its process, to a server at this URL, or to the socket. */
const directoryOf = (contexts: RoleDirectory['contexts'], url?: string): RoleDirectory => ({
  ...{ folder, contexts, serviceToken, random, remote },
  urls: new Map(url === undefined ? [] : [['site', { url, setting: 'role_calls.urls.site' }]]),
})

/** The role site, whose listener admits roles by their certificates. */
async function startRemoteSite(operations: readonly AddressedOperation[], siteContext: RoleContext): Promise<string> {
  const roleContext = { ...siteContext, identity: { ...siteContext.identity, findRole: certified.findRole } }
  return (await startEchoServer({ operations, roleContext, tls: certified.serverTls('site') })).url
}
const noMetrics = { count: () => {}, set: () => {}, observe: () => {}, text: async () => '' }
const message = {
  peer: 'bravo',
  event_id: 'e1',
  kind: 'result',
  schema: 'test/1',
  body: {},
  label: { policy: 'P', level: 'LOW', categories: [], originator: 't' },
  parent_block_ids: [],
} as const

/** The context of the site role, with a carrier that records the traces of its send calls. */
function createSiteRole(): { siteContext: RoleContext; traces: Trace[] } {
  const traces: Trace[] = []
  const carrier: Pick<Transport, 'send'> = {
    async send(_message, trace) {
      traces.push(trace)
      return { msg_id: 'msg_1', epoch: 1, seq: traces.length }
    },
  }
  const { context } = echoRole(noMetrics)
  const part = ({ name }: PartKey<unknown>) => (name === messageKindsPart.name ? messageKinds : [carrier])
  const environment = Object.assign(Object.create(context.environment), { random, part })
  return { siteContext: { ...context, environment }, traces }
}

const passOn = operation({
  summary: 'For tests',
  method: 'POST',
  path: '/pass-on',
  input: z.strictObject({ times: z.int().default(1) }),
  output: z.unknown(),
  errors: [],
  allow: 'authenticated',
  async run(call, { times }) {
    for (let time = 0; time < times; time++) await sendMessage(call, message)
    return { span_id: call.trace.span_id }
  },
})

/** A role on its own listener, which calls whichever process answers for the site role. */
async function startCallingRole(directory: RoleDirectory) {
  const { context } = echoRole(noMetrics)
  const environment = Object.assign(Object.create(context.environment), { random })
  const ask = roleCaller(directory, 'consensus')
  return startEchoServer({
    operations: [{ address: 'test.message.pass', role: 'test', operation: passOn }],
    roleContext: { ...context, environment, roles: (trace) => new SiteRoleClients(ask, trace) },
  })
}

const collectTraces = async (
  { request: ask }: Awaited<ReturnType<typeof startCallingRole>>,
  headers: Record<string, string>,
  times = 1,
) => {
  const answer = await ask(
    'POST /pass-on',
    { ...adminHeaders, 'content-type': 'application/json', ...headers },
    `{"times":${times}}`,
  )
  expect(answer).toMatchObject({ status: 200 })
  return JSON.parse(answer.body).span_id as string
}

const headers = {
  traceparent: `00-${sampleTrace.trace_id}-${sampleTrace.span_id}-01`,
  tracestate: sampleTrace.tracestate,
}

const arrangements = {
  async 'in one process'() {
    const { siteContext, traces } = createSiteRole()
    return { traces, asks: await startCallingRole(directoryOf(new Map([['site', siteContext]]))) }
  },
  async 'over the socket'() {
    const { siteContext, traces } = createSiteRole()
    const operations = everyOperation.filter(({ role }) => role === 'site')
    await startEchoServer({ operations, roleContext: siteContext, listen: { socket: roleSocketFile(folder, 'site') } })
    return { traces, asks: await startCallingRole(directoryOf(new Map())) }
  },
  async 'over TLS'() {
    const { siteContext, traces } = createSiteRole()
    const url = await startRemoteSite(
      everyOperation.filter(({ role }) => role === 'site'),
      siteContext,
    )
    return { traces, asks: await startCallingRole(directoryOf(new Map(), url)) }
  },
}

test('an operation without a path is requested neither in one process nor over a socket', async () => {
  const toolAlone = operation({
    summary: 'A tool for tests',
    method: 'POST',
    tool: 'tool_alone',
    input: z.strictObject({}),
    output: z.unknown(),
    errors: [],
    allow: 'authenticated',
    run: async () => ({}),
  })
  const target = { address: 'site.tool.alone', role: 'site', operation: toolAlone }
  for (const contexts of [new Map([['site', createSiteRole().siteContext]]), new Map()]) {
    const call = roleCaller(directoryOf(contexts), 'consensus')
    await expect(call(target, {}, sampleTrace)).rejects.toThrow('"A tool for tests" has no path')
  }
})

describe.each(['in one process', 'over the socket', 'over TLS'] as const)('%s', (where) => {
  /** The caller of a role `site` whose only operation waits for ever, whatever becomes of its signal. */
  async function callStuckRole(time_limit_ms?: number) {
    const signals: AbortSignal[] = []
    const stuck = operation({
      summary: 'For tests',
      method: 'POST',
      path: '/stuck',
      input: z.strictObject({}),
      output: z.unknown(),
      errors: [],
      allow: 'role',
      ...(time_limit_ms === undefined ? {} : { time_limit_ms }),
      run: async (call) => {
        signals.push(call.signal)
        return await new Promise(() => undefined)
      },
    })
    const target = { address: 'site.message.send', role: 'site', operation: stuck }
    const { siteContext } = createSiteRole()
    if (where === 'over the socket')
      await startEchoServer({
        operations: [target],
        roleContext: siteContext,
        listen: { socket: roleSocketFile(folder, 'site') },
      })
    const url = where === 'over TLS' ? await startRemoteSite([target], siteContext) : undefined
    const contexts = new Map(where === 'in one process' ? [['site', siteContext]] : [])
    const call = roleCaller(directoryOf(contexts, url), 'consensus')
    return { signals, call: (signal?: AbortSignal) => call(target, {}, sampleTrace, { signal }) }
  }

  test('a request ends at the time limit of its operation, and its work is aborted', async () => {
    const { call, signals } = await callStuckRole(50)
    await expect(call()).rejects.toMatchObject({ code: 'timeout' })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  test('a request ends with the call that made it, and its work is aborted', async () => {
    const { call, signals } = await callStuckRole()
    const ending = new AbortController()
    const request = call(ending.signal).catch((error: unknown) => error)
    await expect.poll(() => signals.length).toBe(1)
    ending.abort()
    expect(await request).toMatchObject({ code: 'timeout' })
    await expect.poll(() => signals[0]?.aborted).toBe(true)
    await expect(call(ending.signal)).rejects.toMatchObject({ code: 'timeout' })
    expect(signals).toHaveLength(1)
  })
})

describe.each(Object.entries(arrangements))('%s', (_where, arranged) => {
  test('the trace goes on, its state unchanged, and every question has a span of its own', async () => {
    const { traces, asks } = await arranged()
    const span = await collectTraces(asks, headers, 2)
    expect(traces).toHaveLength(2)
    for (const trace of traces)
      expect(trace).toMatchObject({ ...sampleTrace, span_id: expect.stringMatching(/^[0-9a-f]{16}$/) })
    expect(new Set([sampleTrace.span_id, span, ...traces.map(({ span_id }) => span_id)]).size).toBe(4)
  })

  test('a state that is none stays behind, the trace goes on without it', async () => {
    const { traces, asks } = await arranged()
    await collectTraces(asks, { ...headers, tracestate: 'rojo=1,Congo=2' })
    expect(traces).toMatchObject([{ trace_id: sampleTrace.trace_id, flags: '01', tracestate: '' }])
  })

  test('the longest state that is taken arrives', async () => {
    const { traces, asks } = await arranged()
    const tracestate = Array.from({ length: 31 }, (_, index) => `l${index}=${'v'.repeat(256)}`).join(',')
    await collectTraces(asks, { ...headers, tracestate })
    expect(traces).toMatchObject([{ tracestate }])
  })

  test('requests that run at the same time keep their traces apart', async () => {
    const { traces, asks } = await arranged()
    const ids = Array.from({ length: 20 }, () => random(16))
    await Promise.all(
      ids.map((id) =>
        collectTraces(asks, { traceparent: `00-${id}-${sampleTrace.span_id}-00`, tracestate: `id=${id}` }),
      ),
    )
    expect(traces.map(({ trace_id }) => trace_id).sort()).toEqual([...ids].sort())
    for (const { trace_id, tracestate } of traces) expect(tracestate).toBe(`id=${trace_id}`)
  })
})

test('over the socket the work that asks is named as the parent', async () => {
  const seen: http.IncomingHttpHeaders[] = []
  const site = http.createServer((request, response) => {
    seen.push(request.headers)
    response.writeHead(202).end(JSON.stringify({ msg_id: 'msg_1', epoch: 1, seq: 1 }))
  })
  await new Promise<void>((resolve) => site.listen(roleSocketFile(folder, 'site'), resolve))
  const span = await collectTraces(await startCallingRole(directoryOf(new Map())), headers)
  await new Promise((resolve) => site.close(resolve))
  expect(seen).toMatchObject([
    { traceparent: `00-${sampleTrace.trace_id}-${span}-01`, tracestate: sampleTrace.tracestate },
  ])
})
