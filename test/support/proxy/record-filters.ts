// Lists of audit records by every filter, on a site of any store: each is compared with the records that were written.
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { roleSocketFile } from '../../../daemon/boot/storage/site-folder.ts'
import { type ProxyReason, reasons } from '../../../daemon/roles/proxy/reasons.ts'
import { formatRecordLine, type RequestAuditEntry } from '../../../daemon/roles/proxy/record/record-line.ts'
import { sendHttpRequest } from '../http/send-http-request.ts'
import { everyRoleSections } from '../site/single-cluster-site.ts'
import type { TestSite } from '../site/test-site.ts'

export const proxySections = {
  platform: { roles: ['site', 'proxy'] },
  proxy: everyRoleSections.proxy,
  sso: everyRoleSections.sso,
}

const start = Date.UTC(2026, 3, 1)
const outcomes: readonly (readonly [ProxyReason, number, number | null])[] = [
  ['forwarded', 200, 200],
  ['forwarded', 404, 404],
  ['no_rule', 404, null],
  ['method', 404, null],
  ['rate_limited', 429, null],
]
const rules = ['GET /api/v1/report', 'GET /api/v1/report/{id}', undefined]

/** Entries of segments that overlap in time, two of them over hours, as if a clock had jumped. */
export const recordSegments: readonly (readonly RequestAuditEntry[])[] = Array.from({ length: 24 }, (_, segment) =>
  Array.from({ length: 12 }, (_, at): RequestAuditEntry => {
    const [reason, status, upstream_status] = outcomes[(segment + at) % outcomes.length] ?? ['forwarded', 200, 200]
    return {
      ...{ at: start + segment * 700 + at * (segment % 11 === 5 ? 600_000 : 90), source: `198.51.100.${at % 4}` },
      ...{ method: 'GET', path: `/s/${segment}/${at}`, reason, status, upstream_status },
      rule: rules[(segment * at) % rules.length],
    }
  }),
)
export const recordEntries = recordSegments.flat()

/** Puts the segments into the journal of the site, and waits until the role has brought them into its store. */
export async function shipSegments(site: TestSite, segments: readonly (readonly RequestAuditEntry[])[]): Promise<void> {
  const dir = join(site.folder.data, 'proxy', 'audit')
  const files = segments.map((_, at) => join(dir, `filtered-${String(at).padStart(3, '0')}.lines`))
  for (const [at, entries] of segments.entries()) {
    const file = files[at] as string
    writeFileSync(`${file}.new`, entries.map((entry) => `${formatRecordLine(entry)}\n`).join(''))
    renameSync(`${file}.new`, file)
  }
  await vi.waitFor(
    () => {
      site.wakeWorker('proxy', 'ship')
      expect(files.filter((file) => existsSync(file))).toEqual([])
    },
    { timeout: 120_000 },
  )
}

type RecordPage = { readonly items: { readonly at: string; readonly path: string }[]; readonly next_cursor?: string }

export async function listRecords(site: TestSite, filter: Readonly<Record<string, string | number>>, limit: number) {
  const token = await site.token({ roles: ['auditor'] })
  const items: RecordPage['items'] = []
  let pages = 0
  let cursor: string | undefined
  do {
    const query = new URLSearchParams({ ...filter, limit: String(limit), ...(cursor ? { cursor } : {}) } as never)
    const socket = `unix:${roleSocketFile(site.folder, 'proxy')}`
    const { status, json } = await sendHttpRequest(socket, 'GET', `/api/v2/proxy/record?${query}`, undefined, { token })
    expect(status, JSON.stringify(json)).toBe(200)
    const page = json as RecordPage
    items.push(...page.items)
    cursor = page.next_cursor
    pages += 1
  } while (cursor !== undefined)
  return { items, pages }
}

const isRefused = ({ reason }: RequestAuditEntry) => reasons[reason].verdict !== 'allow'
const iso = (ms: number) => new Date(ms).toISOString()
const [since, until] = [start + 3_000, start + 9_500]

export const recordFilterCases: readonly (readonly [
  filter: Readonly<Record<string, string | number>>,
  isMeant: (entry: RequestAuditEntry) => boolean,
])[] = [
  [{}, () => true],
  [{ verdict: 'not_allow', status: 404 }, (entry) => isRefused(entry) && entry.status === 404],
  [{ verdict: 'not_allow' }, isRefused],
  [{ verdict: 'allow', status: 404 }, (entry) => !isRefused(entry) && entry.status === 404],
  [{ verdict: 'method_not_allowed' }, ({ reason }) => reason === 'method'],
  [{ status: 429 }, ({ status }) => status === 429],
  [{ status: 503 }, () => false],
  [{ rule: 'GET /api/v1/report/{id}' }, ({ rule }) => rule === 'GET /api/v1/report/{id}'],
  [{ rule: 'GET /api/v1/report', status: 200 }, ({ rule, status }) => rule === 'GET /api/v1/report' && status === 200],
  [{ source: '198.51.100.2', verdict: 'not_allow' }, (entry) => isRefused(entry) && entry.source === '198.51.100.2'],
  [{ source: '198.51.100.2', status: 200 }, ({ source, status }) => source === '198.51.100.2' && status === 200],
  [{ since: iso(since) }, ({ at }) => at >= since],
  [{ until: iso(until) }, ({ at }) => at < until],
  [{ since: iso(since), until: iso(until).replace('.500Z', '.5Z') }, ({ at }) => at >= since && at < until],
  [
    { since: iso(since), until: iso(until), status: 404, verdict: 'denied', rule: 'GET /api/v1/report' },
    (entry) =>
      entry.at >= since && entry.at < until && entry.reason === 'no_rule' && entry.rule === 'GET /api/v1/report',
  ],
]

/** Each list is whole, newest first and without a record twice, in pages of any size. */
export async function expectFilteredRecords(site: TestSite): Promise<void> {
  for (const [filter, isMeant] of recordFilterCases) {
    const expected = recordEntries.filter(isMeant).map(({ path }) => path)
    for (const limit of [7, 500]) {
      const { items } = await listRecords(site, filter, limit)
      const times = items.map(({ at }) => at)
      expect(times, JSON.stringify(filter)).toEqual(times.toSorted().reverse())
      expect(items.map(({ path }) => path).toSorted(), `${JSON.stringify(filter)} by ${limit}`).toEqual(
        expected.toSorted(),
      )
    }
  }
}
