// From the journal into the store: each record once, however often its segment is brought, and unreadable lines are reported.
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sha256 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { createServiceCall } from '../../../daemon/kernel/operation/perform-operation.ts'
import type { PartKey } from '../../../daemon/kernel/role/part.ts'
import { newTrace } from '../../../daemon/kernel/telemetry/trace.ts'
import { type AuditJournal, auditJournalPart } from '../../../daemon/roles/proxy/parts.ts'
import { requestRecords, type StoredRequestRecord, shippedSegments } from '../../../daemon/roles/proxy/record/model.ts'
import { formatRecordLine, type RequestAuditEntry } from '../../../daemon/roles/proxy/record/record-line.ts'
import { ship } from '../../../daemon/roles/proxy/workers/ship.ts'
import {
  everyRoleSections,
  type SingleClusterSite,
  startSingleClusterSite,
} from '../../support/site/single-cluster-site.ts'

let site: SingleClusterSite
beforeAll(async () => {
  const { proxy, sso } = everyRoleSections
  site = await startSingleClusterSite({ platform: { roles: ['site', 'proxy'] }, proxy, sso })
})
afterAll(() => site?.close())

const buildRecordLine = (path: string, more: Partial<RequestAuditEntry> = {}) =>
  formatRecordLine({
    ...{ at: Date.UTC(2026, 0, 1), source: '192.0.2.9', method: 'GET', path, reason: 'no_rule', status: 404 },
    ...{ upstream_status: null, rule: undefined, ...more },
  })

/** Resolves once the segments were brought in. */
async function importSegments(segments: Readonly<Record<string, string>>): Promise<void> {
  const dir = join(site.folder.data, 'proxy', 'audit')
  const files = Object.entries(segments).map(([name, content]) => [join(dir, `${name}.lines`), content] as const)
  for (const [file, content] of files) {
    writeFileSync(`${file}.new`, content)
    renameSync(`${file}.new`, file)
  }
  await expect.poll(() => files.some(([file]) => existsSync(file)), { timeout: 60_000 }).toBe(false)
}

async function fetchRecords(path: string): Promise<Record<string, unknown>[]> {
  const token = await site.token({ roles: ['auditor'] })
  const { json } = await site.request('proxy', { method: 'GET', path, token })
  return (json as { items: Record<string, unknown>[] }).items
}

function findProxyService({ running }: SingleClusterSite) {
  const found = running.services.find(({ role }) => role.name === 'proxy')
  if (!found) throw new Error('the proxy does not run')
  return found
}

const store = () => findProxyService(site).context.store

const list = (more = '') => fetchRecords(`/api/v2/proxy/record?limit=500${more}`)

test('a segment that comes again, as after a death between its last two steps, adds nothing', async () => {
  const content = `${buildRecordLine('/one')}\n${buildRecordLine('/two')}\n`
  for (let time = 0; time < 3; time += 1) await importSegments({ 'segment-a': content })
  const records = await list('&source=192.0.2.9')
  expect(records.map(({ path }) => path).toSorted()).toEqual(['/one', '/two'])
  const chain = await fetchRecords('/api/v2/audit?action=proxy.record.ship')
  expect(chain.map(({ event }) => event)).toEqual([
    expect.objectContaining({
      target: 'segment-a',
      detail: { records: 2, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    }),
  ])
})

test('reports unreadable lines, and stores all the others', async () => {
  await importSegments({ 'segment-b': `${buildRecordLine('/three')}\nnonsense\n${buildRecordLine('/four')}\n["torn` })
  expect((await list()).map(({ path }) => path)).toEqual(expect.arrayContaining(['/three', '/four']))
  const logged = site.logged.find((line) => line.includes('proxy.audit.unreadable'))
  expect(logged).toContain('"segment":"segment-b","lines":1,"isTorn":true')
})

/** Page after page, as somebody reads who wants them all. */
async function listAllRecords(query: string): Promise<Record<string, unknown>[]> {
  const token = await site.token({ roles: ['auditor'] })
  const items: Record<string, unknown>[] = []
  let cursor: string | undefined
  do {
    const path = `/api/v2/proxy/record?${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`
    const { json } = await site.request('proxy', { method: 'GET', path, token })
    const page = json as { items: Record<string, unknown>[]; next_cursor?: string }
    items.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== undefined)
  return items
}

/** Segments of threads that overlap in time, as if a clock had jumped in one; times come more than once. */
const overlappingSegments = Array.from({ length: 40 }, (_, segment) =>
  Array.from({ length: 1 + ((segment * 7) % 60) }, (_, at): Partial<RequestAuditEntry> & { path: string } => ({
    path: `/o/${segment}/${at}`,
    at: Date.UTC(2026, 1, 1) + (segment % 5) * 400 + ((at * 37) % 250) * (segment === 7 ? 90 : 1),
    source: `198.51.100.${(segment * at) % 9}`,
    ...(at % 3 === 0 ? {} : { reason: 'forwarded' as const, status: 200, upstream_status: 200 }),
  })),
)
const expectedRecords = overlappingSegments.flat()
const sortPaths = (of: readonly { readonly path?: unknown }[]) => of.map(({ path }) => String(path)).toSorted()

test('lists over many segments are whole, in order of time, and without a record twice', async () => {
  const lines = overlappingSegments.map((each) =>
    each.map(({ path, ...more }) => `${buildRecordLine(path, more)}\n`).join(''),
  )
  await importSegments(Object.fromEntries(lines.map((content, at) => [`segment-o-${at}`, content])))
  const isDenied = ({ reason }: Partial<RequestAuditEntry>) => reason === undefined
  const cases: [string, (each: Partial<RequestAuditEntry>) => boolean][] = [
    ['limit=60', () => true],
    ['limit=500', () => true],
    ['limit=90&verdict=denied', isDenied],
    ['limit=50&verdict=allow', (each) => !isDenied(each)],
    ['limit=15&source=198.51.100.4', ({ source }) => source === '198.51.100.4'],
    ['limit=11&source=198.51.100.2&verdict=denied', (each) => each.source === '198.51.100.2' && isDenied(each)],
    ['limit=19&source=198.51.100.2&verdict=allow', (each) => each.source === '198.51.100.2' && !isDenied(each)],
    ['limit=3&source=198.51.100.44', () => false],
  ]
  for (const [query, fits] of cases) {
    const found = (await listAllRecords(query)).filter(({ path }) => String(path).startsWith('/o/'))
    const times = found.map(({ at }) => String(at))
    expect(times, query).toEqual(times.toSorted().reverse())
    expect(sortPaths(found), query).toEqual(sortPaths(expectedRecords.filter(fits)))
  }
})

test('finds a rare record among many, however many segments hold none of it', async () => {
  const since = Date.UTC(2026, 2, 1)
  const often = Array.from({ length: 70 }, (_, at) =>
    buildRecordLine('/often', { at: since + at, source: '203.0.113.5' }),
  )
  const rare = buildRecordLine('/rare', { at: since - 1, source: '203.0.113.5', reason: 'forwarded', status: 200 })
  await importSegments(Object.fromEntries([rare, ...often].map((line, at) => [`segment-r-${at}`, `${line}\n`])))
  expect((await listAllRecords('source=203.0.113.5&verdict=allow')).map(({ path }) => path)).toEqual(['/rare'])
})

test('a cursor of another list is refused', async () => {
  const token = await site.token({ roles: ['auditor'] })
  const ask = (path: string) => site.request('proxy', { method: 'GET', path, token })
  const { json } = await ask('/api/v2/proxy/record?limit=1')
  const { next_cursor } = json as { next_cursor: string }
  const forged = Buffer.from(JSON.stringify(['0123456789abcdef', 1, 'x'])).toString('base64url')
  for (const cursor of [`${next_cursor}&verdict=denied`, `before.${next_cursor}`, forged, 'before.x']) {
    expect((await ask(`/api/v2/proxy/record?limit=1&cursor=${cursor}`)).status).toBe(400)
  }
})

test('a stored segment equals its file, as the audit chain has its digest', async () => {
  const content = `${buildRecordLine('/five')}\nnonsense\n${buildRecordLine('/six/ü')}\n["torn`
  await importSegments({ 'segment-d': content })
  const stored = await store().get(shippedSegments, 'segment-d')
  expect(stored?.value).toMatchObject({ lines: content, records: 2, sha256: sha256(content) })
})

test('records that were documents of their own before the site moved are listed after those that came since', async () => {
  const record = {
    at: '2025-01-01T00:00:00.000Z',
    source: '192.0.2.77',
    method: 'GET',
    path: '/former',
    verdict: 'denied',
  }
  const value = {
    ...record,
    upstream_status: null,
    status: 404,
    reason: 'no_rule',
    tenant_id: 'alpha',
    expires_ts: 9e12,
  }
  for (const at of [1, 2, 3])
    await store().create(requestRecords, `former-${at}`, { ...value, path: `/former/${at}` } as StoredRequestRecord)
  const since = ['/since/1', '/since/2'].map((path) => `${buildRecordLine(path, { source: '192.0.2.77' })}\n`)
  await importSegments({ 'segment-e': since.join('') })
  for (const limit of [1, 2, 3, 50]) {
    const found = (await listAllRecords(`limit=${limit}&source=192.0.2.77`)).map(({ path }) => path)
    expect(found).toEqual(['/since/2', '/since/1', '/former/3', '/former/2', '/former/1'])
  }
})

test('where others search the store, each record is a document of its own', async () => {
  const { context } = findProxyService(site)
  const call = createServiceCall(
    context,
    'proxy',
    'test',
    newTrace(context.environment.random),
    AbortSignal.timeout(60_000),
  )
  const lines = Array.from(
    { length: 1_203 },
    (_, at) => `${buildRecordLine(`/many/${at}`, { source: '192.0.2.88' })}\n`,
  )
  const bytes = Buffer.from([...lines, 'nonsense\n'].join(''))
  const journal: AuditJournal = {
    ...call.part(auditJournalPart),
    sealed: async () => ['segment-f'],
    read: async () => ({ bytes, text: bytes.toString(), isTorn: false }),
    remove: async () => undefined,
    storesWholeSegments: false,
  }
  const part = <P>(key: PartKey<P>) => (key.name === auditJournalPart.name ? (journal as P) : call.part(key))
  for (let time = 0; time < 2; time += 1) await ship.run(Object.assign(Object.create(call), { part }) as Call)
  expect(await store().count(requestRecords, { source: '192.0.2.88' })).toBe(1_203)
  const stored = await store().get(shippedSegments, 'segment-f')
  expect(stored?.value).toMatchObject({ records: 1_203, sha256: sha256(bytes) })
  expect(stored?.value.lines).toBeUndefined()
})

test('the people of another tenant see none of it', async () => {
  const token = await site.token({ tenant_id: 'bravo', roles: ['admin'] })
  const answer = await site.request('proxy', { method: 'GET', path: '/api/v2/proxy/record', token })
  expect(answer.status).toBe(403)
})
