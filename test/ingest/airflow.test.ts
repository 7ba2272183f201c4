// Airflow as a scheduler, against a server that answers as it likes: what is sent, what is repeated, and what no answer can do.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { airflowScheduler } from '../../adapters/workflow/airflow/airflow-scheduler.ts'
import type { ManagedName } from '../../adapters/workflow/airflow/dag-names.ts'
import { isRefusal, refuse } from '../../daemon/kernel/error/errors.ts'
import type { Call } from '../../daemon/kernel/operation/call.ts'

type Answer = { readonly status?: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }

const received: { method: string; url: string; authorization: string | undefined; body: string }[] = []
let answers: (Answer | ((response: ServerResponse) => void))[] = []
let server: Server
let base_url = ''
beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close().closeAllConnections())
beforeEach(() => {
  received.length = 0
  audited.length = 0
  watched.length = 0
  answers = []
  tokens = 0
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const { method = '', url = '', headers } = request
  received.push({ method, url, authorization: headers.authorization, body: Buffer.concat(parts).toString() })
  const next = answers.shift() ?? { status: 404, body: { detail: 'none' } }
  if (typeof next === 'function') return next(response)
  const { status = 200, body } = next
  response.writeHead(status, { 'content-type': 'application/json', ...next.headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

let tokens = 0
const label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'a' }
const managed: ManagedName = { dag_id: 'people', uid: 'pl_1', tenant_id: 'a', label, dag_digest: 'd'.repeat(64) }
const audited: unknown[] = []
const watched: string[] = []
const asCall = (token: () => unknown): Call =>
  ({
    ...{ signal: new AbortController().signal, address: 'ingest.dag-run.trigger' },
    delegation: () => ({ token: async () => token() }),
    audited: (...event: unknown[]) => event,
    record: async (events: unknown[]) => void audited.push(...events),
  }) as unknown as Call
const ann = asCall(() => ({ token: `token-${++tokens}`, expires_ts: 0 }))

function schedulerOf(version: 'v1' | 'v2' = 'v2', timeout_ms = 20_000) {
  return airflowScheduler({
    ...{ base_url, verify: true, audience: 'airflow', timeout_ms, version },
    watch: {
      begin: async (_call, { uid }, { dag_run_id }) => void watched.push(`begin ${uid} ${dag_run_id}`),
      stop: async (_call, { uid }, id) => watched.push(`stop ${uid} ${id}`) > 0,
      goOn: async (_call, { uid }, id) => void watched.push(`go on ${uid} ${id}`),
      look: async (_call, { uid }, id) => void watched.push(`look ${uid} ${id}`),
      settle: async (_call, { uid }, { run: { dag_run_id } }) => void watched.push(`settle ${uid} ${dag_run_id}`),
    },
    folder: { put: async () => undefined, putScheduler: async () => undefined, remove: async () => undefined },
    names: {
      find: async (_call, { dag_id }) => (dag_id === 'people' ? managed : undefined),
      async *list() {
        yield managed
      },
    },
  })
}
const acting = (version?: 'v1' | 'v2', timeout_ms?: number) => schedulerOf(version, timeout_ms).actFor(ann)
const people = { dag_id: 'people' }
const run = { dag_id: 'people.pl_1', dag_run_id: 'manual__1', state: 'queued', conf: { a: 1 } }
const dag = { dag_id: 'people.pl_1', is_paused: false, is_stale: false, tags: [{ name: `v-${'d'.repeat(16)}` }] }
const codeOf = async (answered: Promise<unknown>) => {
  const value = await answered.catch((error: unknown) => error)
  return isRefusal(value) ? value.code : value
}

describe('the token', () => {
  test('is one of the caller for Airflow, requested for each request, and never of basic authentication', async () => {
    answers = [{ body: dag }, { body: dag }]
    const scheduler = acting()
    await scheduler.findDag(people)
    await scheduler.findDag(people)
    expect(received.map(({ authorization }) => authorization)).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(received[0]?.url).toBe('/api/v2/dags/people.pl_1')
  })

  test('of a caller without rights sends no request; health needs none', async () => {
    const scheduler = schedulerOf()
    const eve = scheduler.actFor(asCall(() => refuse('forbidden', 'eve is revoked')))
    expect(await codeOf(eve.findDag(people))).toBe('forbidden')
    expect(received).toEqual([])
    answers = [{ body: { metadatabase: { status: 'healthy' }, scheduler: { status: null } } }]
    expect(await scheduler.health(new AbortController().signal)).toEqual({
      scheduler: 'unhealthy',
      metadatabase: 'healthy',
    })
    expect(received).toMatchObject([{ url: '/api/v2/monitor/health', authorization: undefined }])
  })

  test('is not sent to where a redirect leads', async () => {
    answers = [{ status: 302, headers: { location: `${base_url}/stolen` } }]
    expect(await codeOf(acting().findDag(people))).toBe('unavailable')
    expect(received).toHaveLength(1)
  })
})

describe('connections', () => {
  const connection = { id: 'conn_1', conn_type: 'postgres', config: { host: 'db' }, secret: '{"password":"hidden"}' }
  const kept = {
    ...{ connection_id: 'platform_conn_1', conn_type: 'generic', description: 'Made by platform: postgres' },
    ...{ password: connection.secret, extra: '{"conn_type":"postgres","config":{"host":"db"}}' },
  }
  const { secret: _none, ...withoutSecret } = connection

  test('are changed, and made where Airflow has none of the name', async () => {
    answers = [{ body: {} }, { status: 404 }, { body: {} }]
    const { connections } = acting()
    expect(await connections?.put(connection)).toBeUndefined()
    expect(await connections?.put(withoutSecret)).toBeUndefined()
    expect(received.map(({ method, url, body }) => [method, url, JSON.parse(body)])).toEqual([
      ['PATCH', '/api/v2/connections/platform_conn_1', kept],
      ['PATCH', '/api/v2/connections/platform_conn_1', { ...kept, password: '{}' }],
      ['POST', '/api/v2/connections', { ...kept, password: '{}' }],
    ])
    expect(new Set(received.map(({ authorization }) => authorization)).size).toBe(3)
  })

  test('that another request makes meanwhile are changed', async () => {
    answers = [{ status: 404 }, { status: 409, body: { detail: 'exists' } }, { body: {} }]
    expect(await acting('v1').connections?.put(connection)).toBeUndefined()
    expect(received.map(({ method, url }) => [method, url])).toEqual([
      ['PATCH', '/api/v1/connections/platform_conn_1'],
      ['POST', '/api/v1/connections'],
      ['PATCH', '/api/v1/connections/platform_conn_1'],
    ])
    answers = [{ status: 404 }, { status: 409 }, { status: 404 }]
    expect(await codeOf(acting().connections?.put(connection) ?? Promise.resolve())).toBe('unavailable')
  })

  test('are refused with a secret that Airflow cannot keep, before anything is sent', async () => {
    const secret = JSON.stringify({ password: 'ü'.repeat(1_800) })
    const refused = await acting().connections?.put({ ...connection, secret })
    expect(isRefusal(refused) && [refused.code, refused.message]).toEqual([
      'invalid',
      'Airflow keeps secrets of at most 3600 bytes',
    ])
    expect(received).toEqual([])
  })

  test('that are gone are removed; no answer has their secret', async () => {
    const { connections } = acting()
    answers = [{ status: 204, body: '' }, { status: 404 }, { status: 403 }]
    expect(await connections?.remove('conn_1')).toBeUndefined()
    expect(await connections?.remove('conn_1')).toBeUndefined()
    expect(await codeOf(connections?.remove('conn_1') ?? Promise.resolve())).toBe('forbidden')
    answers = [{ status: 400, body: { detail: 'no such type' } }]
    const refused = await connections?.put(connection)
    expect(isRefusal(refused) && refused.message).toBe('Airflow refused: 400 no such type')
  })

  test.each<[string, unknown, string]>([
    [
      'a fault with all that was sent',
      [{ type: 'missing', loc: ['body', 'host'], msg: 'Field required', input: kept }],
      '422 body.host: Field required',
    ],
    ['a text with the password', "'hidden' is not of type 'object'", '422'],
    ['a fault whose text has it', [{ loc: ['body', 'password'], msg: 'Value error, hidden' }], '422'],
    ['a list of another form', [null, 'hidden'], '422 the request: is refused; the request: is refused'],
  ])('whose refusal has the secret: %s', async (_, detail, expected) => {
    answers = [{ status: 422, body: { detail } }]
    const refused = await acting().connections?.put(connection)
    expect(isRefusal(refused) && refused.message).toBe(`Airflow refused: ${expected}`)
  })
})

describe('names', () => {
  test('of runs and tasks lead nowhere else', async () => {
    const scheduler = acting()
    for (const name of ['..', '.', '~', '']) {
      expect(await codeOf(scheduler.deleteRun(people, name)), name).toBe('not_found')
      expect(await codeOf(scheduler.listTasks(people, name)), name).toBe('not_found')
    }
    expect(received).toEqual([])
    await scheduler.findRun(people, '../../../connections?x=1#y')
    expect(received[0]?.url).toBe('/api/v2/dags/people.pl_1/dagRuns/..%2F..%2F..%2Fconnections%3Fx%3D1%23y')
  })

  test('of DAGs that the site manages are hidden from who does not see their objects', async () => {
    const dags = [dag, { ...dag, dag_id: 'people.pl_2' }, { ...dag, dag_id: 'by_hand' }, { ...dag, dag_id: '0 odd' }]
    answers = [{ body: { dags, total_entries: 4 } }]
    const listed = await acting().listDags({ active_only: false })
    expect(listed.map(({ dag_id }) => dag_id)).toEqual(['people', 'by_hand'])
    expect(await codeOf(acting().trigger({ dag_id: 'people.pl_2' }, { dag_run_id: 'x', conf: {} }))).toBe('not_found')
    expect(received).toHaveLength(1)
  })

  test('a DAG is active once Airflow has read its newest version', async () => {
    answers = [{ body: { ...dag, tags: [{ name: 'v-old' }] } }, { body: dag }]
    expect(await acting().findDag(people)).toMatchObject({ is_active: false })
    expect(await acting().findDag(people)).toMatchObject({ is_active: true, dag_id: 'people', next_run: null })
  })
})

describe('a request', () => {
  test('that reads is repeated while Airflow has no room; one that changes is not', async () => {
    answers = [{ status: 503 }, { status: 500 }, { body: dag }]
    expect(await acting().findDag(people)).toMatchObject({ is_active: true })
    answers = [{ status: 503 }, { body: dag }]
    expect(await codeOf(acting().setPaused(people, true))).toBe('unavailable')
    expect(received.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'PATCH'])
  })

  test('for a run that is there already answers with that run, also when another came first', async () => {
    const trigger = { dag_run_id: 'manual__1', conf: { a: 1 } }
    answers = [{ body: run }]
    expect(await acting().trigger(people, trigger)).toMatchObject({ dag_run_id: 'manual__1', state: 'queued' })
    answers = [{ status: 404 }, { status: 409, body: { detail: 'exists' } }, { body: run }]
    expect(await acting().trigger(people, trigger)).toMatchObject({ dag_run_id: 'manual__1', dag_id: 'people' })
    const event = ['ingest.dag-run.trigger', 'pl_1', { dag_id: 'people', dag_run_id: 'manual__1' }, label]
    expect(audited).toEqual([event])
    expect(received.at(2)).toMatchObject({
      method: 'POST',
      body: JSON.stringify({ ...trigger, logical_date: null }),
    })
    answers = [{ status: 404 }, { body: run }, { body: run }]
    await acting('v1').trigger(people, trigger)
    expect(received.at(-2)).toMatchObject({ url: '/api/v1/dags/people.pl_1/dagRuns', body: JSON.stringify(trigger) })
  })

  test('is watched before it is sent; what the site does to a run is seen at once', async () => {
    const trigger = { dag_run_id: 'manual__1', conf: {} }
    answers = [{ status: 404 }, { status: 503 }, { status: 404 }]
    expect(await codeOf(acting().trigger(people, trigger))).toBe('unavailable')
    expect(watched).toEqual(['begin pl_1 manual__1'])
    watched.length = 0
    const over = { ...run, state: 'failed' }
    const none = { body: { task_instances: [], total_entries: 0 } }
    answers = [{ body: run }, { body: over }, { body: over }, none, { status: 204, body: '' }]
    expect(await acting().deleteRun(people, 'manual__1')).toBeUndefined()
    expect(watched).toEqual(['stop pl_1 manual__1', 'look pl_1 manual__1', 'settle pl_1 manual__1'])
    watched.length = 0
    answers = [{ body: run }, { status: 409, body: { detail: 'locked' } }]
    expect(await codeOf(acting().stopRun(people, 'manual__1'))).toBe('unavailable')
    expect(watched).toEqual(['stop pl_1 manual__1', 'go on pl_1 manual__1'])
    watched.length = 0
    answers = [{ status: 404 }, { body: {} }, { body: run }]
    await acting().trigger({ dag_id: 'by_hand' }, trigger)
    expect(watched).toEqual([])
  })

  test('for a run again names the former one in its note, from which it is read', async () => {
    const trigger = { dag_run_id: 'manual__2', conf: { a: 1 } }
    const repeats = { dag_run_id: 'manual__1', code: 'latest' } as const
    const again = { ...run, dag_run_id: 'manual__2', note: 'Repeats manual__1 with the latest code' }
    for (const version of ['v1', 'v2'] as const) {
      answers = [{ status: 404 }, { body: run }, { body: again }, { body: again }]
      expect(await acting(version).trigger(people, { ...trigger, repeats })).toMatchObject({ conf: { a: 1 }, repeats })
      expect(JSON.parse(received.at(-2)?.body ?? '')).toMatchObject({ ...trigger, note: again.note })
    }
    answers = [{ body: { ...run, note: 'Repeats after me' } }, { body: { ...run, note: null } }]
    expect(await acting().findRun(people, 'manual__1')).not.toHaveProperty('repeats')
    expect(await acting().findRun(people, 'manual__1')).not.toHaveProperty('repeats')
    received.length = 0
    audited.length = 0
    answers = [{ status: 404 }, { status: 404 }]
    expect(await codeOf(acting().trigger(people, { ...trigger, repeats }))).toBe('not_found')
    expect(received.map(({ method }) => method)).toEqual(['GET', 'GET'])
    expect(await codeOf(acting().trigger(people, { ...trigger, repeats: { ...repeats, code: 'pinned' } }))).toBe(
      'invalid',
    )
    expect(received).toHaveLength(2)
    expect(audited).toEqual([])
  })

  test.each([
    [{ status: 401 }, 'forbidden', 'token'],
    [{ status: 403 }, 'forbidden', 'permit'],
    [{ status: 404 }, 'not_found', 'no DAG'],
    [{ status: 409, body: { detail: 'busy' } }, 'wrong_state', 'busy'],
    [{ status: 422, body: { detail: [{ loc: ['x'] }] } }, 'invalid', '422 x: is refused'],
    [{ status: 400, body: { title: `Bad\n\u001b${'x'.repeat(9_000)}` } }, 'invalid', 'Bad'],
    [{ status: 500, body: '<html>' }, 'unavailable', '500'],
  ] as const)('that is refused (%j) is %s', async (refused, code, text) => {
    answers = [refused]
    const value = await acting()
      .setPaused(people, true)
      .catch((error: unknown) => error)
    expect(value).toMatchObject({ code, message: expect.stringContaining(text) })
    expect((value as Error).message.length).toBeLessThan(700)
    expect((value as Error).message).not.toMatch(/\n|127\.0\.0\.1|token-/)
  })

  test('ends at its time limit, and with the end of its caller', async () => {
    // On a busy machine a request may arrive when its time is over: it takes an answer that is meant for the next.
    const always = (each: (response: ServerResponse) => void) => Array.from({ length: 8 }, () => each)
    answers = always(() => undefined)
    expect(await codeOf(acting('v2', 300).findDag(people))).toBe('unavailable')
    answers = always((response) => {
      response.writeHead(200)
      response.write('{"dag_id":')
    })
    expect(await codeOf(acting('v2', 300).findDag(people))).toBe('unavailable')
  })
})

describe('an answer', () => {
  test.each([
    ['is no JSON', 'oops'],
    ['is of another shape', { dag_id: 7 }],
    ['is null', null],
    ['is a list', []],
    ['has dates that are none', { ...dag, next_dagrun: 'soon' }],
  ])('that %s is an outage, without its content', async (_name, body) => {
    answers = [{ body }]
    const value = await acting()
      .findDag(people)
      .catch((error: unknown) => error)
    expect(value).toMatchObject({ code: 'unavailable' })
    expect((value as Error).message).not.toMatch(/oops|soon/)
  })

  test('that does not end is not kept', async () => {
    const flood = (response: ServerResponse) => {
      response.writeHead(200)
      const piece = Buffer.alloc(1 << 20, 32)
      const more = () => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', more)
      more()
    }
    answers = [flood]
    expect(await codeOf(acting().findDag(people))).toBe('unavailable')
    const task = { task_id: 'read', state: 'failed', try_number: 1 }
    answers = [{ body: { task_instances: [task], total_entries: 1 } }, flood]
    const log = await acting('v1').readLog(people, 'manual__1', 'read')
    expect((log as string).length).toBeLessThanOrEqual(262_144)
  })

  test('with pages that never end, or say that they do, ends', async () => {
    answers = Array.from({ length: 90 }, () => ({ body: { dags: [], total_entries: 1_000_000 } }))
    expect(await acting().listDags({ active_only: false })).toEqual([])
    expect(received.length).toBeLessThanOrEqual(50)
    answers = [{ body: { dag_runs: [], total_entries: 9 } }]
    expect(await acting().listRuns(people, { limit: 500 })).toEqual({ runs: [], isWhole: true })
  })

  test('with a result of a task that is not one of a step has no lineage', async () => {
    const task = { task_id: 'read', state: 'success', try_number: 1 }
    const page = { body: { task_instances: [task], total_entries: 1 } }
    for (const value of ['{"lineage": {"rows_out": -1}}', 'None', 7, '{"lineage":', '"\\"\\""']) {
      answers = [page, { body: { value } }]
      const [shown] = (await acting().listTasks(people, 'manual__1')) as readonly object[]
      expect(shown).not.toHaveProperty('lineage')
    }
  })

  test('with states of a later release is read as what is not over', async () => {
    answers = [{ body: { ...run, state: 'pondering' } }]
    expect(await acting().findRun(people, 'manual__1')).toMatchObject({ state: 'running' })
  })
})
