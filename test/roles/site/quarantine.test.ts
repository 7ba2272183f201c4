// The quarantine list over HTTP: newest first, in pages, and only with cursors of this list.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quarantineFiles } from '../../../adapters/transport/filedrop/quarantine/quarantine-files.ts'
import { type SingleClusterSite, startSingleClusterSite } from '../../support/site/single-cluster-site.ts'

let site: SingleClusterSite

beforeAll(async () => {
  site = await startSingleClusterSite()
  const folder = join(site.folder.filedrop, 'bravo', 'in', 'quarantine')
  mkdirSync(folder, { recursive: true })
  for (const number of [1, 2, 3, 4, 5]) {
    const fault = { reason: 'BAD_JSON', detail: `number ${number}` } as const
    // Two of a kind of time: the id decides.
    const now = Date.parse('2026-01-01T00:00:00Z') + Math.floor(number / 2) * 1_000
    quarantineFiles(folder, { id: `00000001-000000000000000${number}-m`, fault, now, peer: 'bravo', channel: 'c' }, [])
  }
})
afterAll(() => site.close())

async function listPage(query: string) {
  const token = await site.token({ roles: ['operator'] })
  const { status, json } = await site.request('site', {
    method: 'GET',
    path: `/api/v2/site/quarantine?${query}`,
    token,
  })
  return { status, ...(json as { items: { detail: string }[]; next_cursor?: string; code?: string }) }
}

test('lists every item once, newest first, in pages of any size', async () => {
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const { items, next_cursor } = await listPage(`limit=2${cursor ? `&cursor=${cursor}` : ''}`)
    seen.push(...items.map(({ detail }) => detail))
    cursor = next_cursor
  } while (cursor)
  expect(seen).toEqual(['number 4', 'number 5', 'number 2', 'number 3', 'number 1'])
})

test('a cursor that is none is refused', async () => {
  expect(await listPage('cursor=bm90IG9uZQ')).toMatchObject({ status: 400, code: 'malformed' })
})
