// The source of rows of a search server against each requirement, on a real one.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { openRowSource } from '../../../daemon/runtime/ingest/connection/open-source.ts'
import { type GrowingTable, growingRequirements } from '../../conformance/growing-source.ts'
import { landingRequirements, type RowSourceVariant, rowRequirements } from '../../conformance/row-source.ts'
import { type PersonRow, people } from '../../conformance/row-source-data.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(opensearchRequirement)
const index = `people-${randomUUID()}`
const huge = `huge-${randomUUID()}`
let server: OpenSearch
let closed_port = 0

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
  closed_port = (await findFreePorts(1))[0] ?? 0
  const properties = {
    big: { type: 'long' },
    share: { type: 'double' },
    born: { type: 'keyword' },
    seen: { type: 'keyword' },
  }
  await server.request('PUT', `/${index}`, { mappings: { properties: { ...properties, name: { type: 'keyword' } } } })
  for (let from = 0; from < people.length; from += 50)
    await Promise.all(people.slice(from, from + 50).map((row) => putPerson(row)))
  await server.request('PUT', `/${huge}`, { mappings: { enabled: false } })
  await server.request('PUT', `/${huge}/_doc/1`, { text: 'h'.repeat(4_194_304) })
  await server.request('POST', '/_refresh')
}, 120_000)
afterAll(async () => {
  await server?.end()
})

/** As a number of JSON with all its digits. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

async function putPerson(row: PersonRow): Promise<void> {
  const big = row.big === null ? null : rawJSON(row.big)
  await server.request('PUT', `/${index}/_doc/${row.id}`, { ...row, big })
}

const growing = `growing-${randomUUID()}`
let documents = 0
const growingTable: GrowingTable = {
  table: growing,
  async clear() {
    await server.request('DELETE', `/${growing}?ignore_unavailable=true`)
    const at = { type: 'date', format: 'yyyy-MM-dd HH:mm:ss.SSSSSS||yyyy-MM-dd HH:mm:ss.S||yyyy-MM-dd HH:mm:ss' }
    const properties = {
      id: { type: 'long' },
      at,
      name: { type: 'keyword' },
      share: { type: 'double' },
      text: { type: 'text' },
    }
    await server.request('PUT', `/${growing}`, { mappings: { properties: { ...properties, empty: { type: 'long' } } } })
  },
  async insert(rows) {
    for (let from = 0; from < rows.length; from += 50)
      await Promise.all(
        rows.slice(from, from + 50).map(async (row) => {
          const document = { ...row, id: rawJSON(row.id), share: 0.5, text: 'a' }
          await server.request('PUT', `/${growing}/_doc/${++documents}`, document)
        }),
      )
    await server.request('POST', `/${growing}/_refresh`)
  },
  refused: [
    [growing, 'empty', 'a row has no value in it'],
    [growing, 'share', 'it has values of the type double'],
    [growing, 'text', 'it has values of the type text'],
    [growing, 'none', 'the index has no field "none"'],
    [growing, '*', 'the index has no field "*"'],
  ],
}

function variant(): RowSourceVariant & { readonly table: string; readonly growing: GrowingTable } {
  const at = (url: string): OpenConnection => ({ tenant_id: 'acme', conn_type: 'elasticsearch', config: { url } })
  return {
    ...{ connection: at(server.url), table: index, adds: ['_id'], hidden: ['127.0.0.1', 'acme', String(closed_port)] },
    growing: growingTable,
    settings: { data_folder: undefined, trusted_networks: ['127.0.0.1'], addonDir: '' },
    huge: { table: huge, refusal: 'a document has more than 4194304 characters' },
    ...{ absentTable: { table: 'none-of-this-name' }, absentTableRefusal: 'the server has no such index' },
    failing: {
      'no server': [at(`http://127.0.0.1:${closed_port}`), 'the server did not answer'],
      'an address that the profile does not name': [at('http://127.0.0.2:9200'), 'does not permit the address'],
    },
    async countOpen() {
      const { nodes } = (await server.request('GET', '/_nodes/stats/indices/search')) as {
        nodes: Readonly<Record<string, { indices: { search: { scroll_current: number } } }>>
      }
      return Object.values(nodes).reduce((sum, { indices }) => sum + indices.search.scroll_current, 0)
    },
  }
}

describe('elasticsearch', () => {
  where.each(Object.entries(landingRequirements))('%s', (_, keep) => keep(variant()))
  where.each(Object.entries(rowRequirements))('%s', (_, keep) => keep(variant()))
  where.each(Object.entries(growingRequirements))('%s', (_, keep) => keep(variant()))
})

where('a list lands as it is, and what has parts of its own lands as JSON', async () => {
  const parts = `parts-${randomUUID()}`
  await server.request('PUT', `/${parts}`, { mappings: { enabled: false } })
  await server.request('PUT', `/${parts}/_doc/1?refresh=true`, {
    list: [1, 'b'],
    at: { lat: 1.5 },
    more: [{ a: null }],
  })
  const { connection, settings } = variant()
  const source = await openRowSource(connection, settings, '')
  const lines: string[] = []
  for await (const block of source.rows({ table: parts }, new AbortController().signal)) lines.push(...block)
  await source.close()
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { _id: '1', list: [1, 'b'], at: '{"lat":1.5}', more: '[{"a":null}]' },
  ])
})
