// The source of rows of a search server against each requirement, on a real one.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { openRowSource } from '../../../daemon/runtime/ingest/connection/open-source.ts'
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

function variant(): RowSourceVariant & { readonly table: string } {
  const at = (url: string): OpenConnection => ({ tenant_id: 'acme', conn_type: 'elasticsearch', config: { url } })
  return {
    ...{ connection: at(server.url), table: index, adds: ['_id'], hidden: ['127.0.0.1', 'acme', String(closed_port)] },
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
