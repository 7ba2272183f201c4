// Each of the 206 hostile and plain requests against the packaged door, byte for byte: what reaches the platform, and what comes back.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Finding, findings } from '../support/corpus-judge.ts'
import { runRow } from '../support/corpus-run.ts'
import type { Served } from '../support/packaged-site.ts'
import { corpusAllowlist, corpusRows, type Row } from '../support/proxy-corpus.ts'
import { type Door, publicDoor, reasonsOf, recorded, requestsCounted, serviceToken } from '../support/public-door.ts'
import { answerOk, type NotingUpstream, notingUpstream } from '../support/reached.ts'

/** What the corpus would rather see refused and the door lets through: docs/proxy.md says why of each. */
const letThrough: Readonly<Record<string, string>> = {
  'line-002': 'two blanks before the version',
  'path-002': '`//` within a path',
  'path-068': 'an escaped letter',
}

/** Answered from the cache, the second time. */
const ofTheCache = new Set(['cache', 'conditional'])

let upstream: NotingUpstream
/** Without a cache, and with one. */
let doors: { readonly door: Door; readonly served: Served }[]

async function opened(env: Readonly<Record<string, string>>) {
  const door = await publicDoor(corpusAllowlist.split('\n'), {
    ...{ PLATFORM_API_URL: `http://127.0.0.1:${upstream.port}`, PROXY_WORKERS: '1' },
    ...env,
  })
  door.site.edit('  trusted_proxy_depth: 1', '  trusted_proxy_depth: 1\n  header_timeout_s: 3\n  body_timeout_s: 3')
  return { door, served: await door.serve() }
}

beforeAll(async () => {
  upstream = await notingUpstream(answerOk)
  doors = [await opened({}), await opened({ CACHE_MAX_MB: '1' })]
})
afterAll(async () => {
  for (const { door, served } of doors ?? []) {
    await served.stop()
    await door.close()
  }
  await upstream?.close()
})

async function judged(row: Row): Promise<Finding[]> {
  const { served } = doors[ofTheCache.has(row.class) ? 1 : 0] as (typeof doors)[0]
  const place = { port: served.ports.proxy ?? 0, listed: '/public-api/api/v1/report' }
  const outcome = await runRow(row, place, upstream)
  return findings(row, outcome, { authority: `127.0.0.1:${upstream.port}`, token: serviceToken })
}

test('nothing gets through that should not, and what should does; what is let through beyond is known and explained', async () => {
  const wrong: string[] = []
  const lenient: string[] = []
  for (const row of corpusRows().filter(({ slow }) => !slow)) {
    for (const { weight, says } of await judged(row)) {
      if (weight === 'SHOULD' && row.id in letThrough) lenient.push(row.id)
      else wrong.push(`${weight} ${row.id} (${row.note}): ${says}`)
    }
  }
  expect(wrong).toEqual([])
  expect(lenient).toEqual(Object.keys(letThrough))
  expect(upstream.leftovers()).toEqual([])
  const docs = readFileSync(path.resolve(import.meta.dirname, '../../docs/proxy.md'), 'utf8')
  for (const why of Object.values(letThrough)) expect(docs).toContain(why)
})

test('what never becomes whole is ended by the door, and reaches nobody', async () => {
  const rows = corpusRows().filter(({ slow }) => slow)
  expect(rows).toHaveLength(3)
  const wrong = await Promise.all(rows.map(async (row) => (await judged(row)).map(({ says }) => `${row.id}: ${says}`)))
  expect(wrong.flat()).toEqual([])
})

test('each of them that was a request has its record, and no record or log holds the token', async () => {
  for (const { door, served } of doors) {
    const records = await recorded(door, await requestsCounted(door))
    expect(JSON.stringify(records) + served.log()).not.toContain(serviceToken)
    expect(reasonsOf(records).forwarded).toBeGreaterThan(20)
    expect(served.log()).not.toContain('proxy.request.failed')
  }
})
