// From the journal into the store: each record once, however often its segment is brought, and what is unreadable is told.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lineOf } from '../../../daemon/roles/proxy/record/line.ts'
import { runningEveryRole, type SmallSite, smallSite } from '../../support/small-site.ts'

let site: SmallSite
beforeAll(async () => {
  const { proxy, sso } = runningEveryRole
  site = await smallSite({ platform: { roles: ['site', 'proxy'] }, proxy, sso })
})
afterAll(() => site?.close())

const noted = (path: string) =>
  lineOf({
    ...{ at: Date.UTC(2026, 0, 1), source: '192.0.2.9', method: 'GET', path, reason: 'no_rule', status: 404 },
    ...{ upstream_status: null, rule: undefined },
  })

/** Resolves once the segment was brought in. */
async function brought(name: string, content: string): Promise<void> {
  const dir = join(site.folder.data, 'proxy', 'audit')
  mkdirSync(dir, { recursive: true })
  const file = join(dir, `${name}.lines`)
  writeFileSync(file, content)
  await expect.poll(() => existsSync(file), { timeout: 60_000 }).toBe(false)
}

async function asked(path: string): Promise<Record<string, unknown>[]> {
  const token = await site.token({ roles: ['auditor'] })
  const { json } = await site.ask('proxy', { method: 'GET', path, token })
  return (json as { items: Record<string, unknown>[] }).items
}

const list = (more = '') => asked(`/api/v2/proxy/record?limit=500${more}`)

test('a segment that comes again, as after a death between its last two steps, adds nothing', async () => {
  const content = `${noted('/one')}\n${noted('/two')}\n`
  for (let time = 0; time < 3; time += 1) await brought('segment-a', content)
  const records = await list('&source=192.0.2.9')
  expect(records.map(({ path }) => path).toSorted()).toEqual(['/one', '/two'])
  const chain = await asked('/api/v2/audit?action=proxy.record.ship')
  expect(chain.map(({ event }) => event)).toEqual([
    expect.objectContaining({
      target: 'segment-a',
      detail: { records: 2, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    }),
  ])
})

test('lines that nobody can read are told of, and keep none of the others back', async () => {
  await brought('segment-b', `${noted('/three')}\nnonsense\n${noted('/four')}\n["torn`)
  expect((await list()).map(({ path }) => path)).toEqual(expect.arrayContaining(['/three', '/four']))
  const told = site.logged.find((line) => line.includes('proxy.audit.unreadable'))
  expect(told).toContain('"segment":"segment-b","lines":1,"isTorn":true')
})

test('more than one write takes come in whole', async () => {
  const paths = Array.from({ length: 1_203 }, (_, at) => `/many/${at}`)
  await brought('segment-c', paths.map((path) => `${noted(path)}\n`).join(''))
  const { running } = site
  const store = running.services.find(({ role }) => role.name === 'proxy')?.workshop.store
  const count = await store?.count({ name: 'proxy', indexes: ['at', 'verdict', 'source'] }, { source: '192.0.2.9' })
  expect(count).toBe(2 + 2 + 1_203)
})

test('the people of another tenant see none of it', async () => {
  const token = await site.token({ tenant_id: 'bravo', roles: ['admin'] })
  const answer = await site.ask('proxy', { method: 'GET', path: '/api/v2/proxy/record', token })
  expect(answer.status).toBe(403)
})
