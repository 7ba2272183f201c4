// The interface of the role by name: every tool and endpoint of the interface document, at both of its prefixes, and no other.
import { expect, test } from 'vitest'
import { everyOperation } from '../../../daemon/every-role.ts'
import { deriveTools, toolOperations } from '../../../daemon/kernel/api/mcp-tools.ts'
import { listPaths } from '../../../daemon/kernel/operation/operation.ts'
import { addressOperations } from '../../../daemon/kernel/role/role.ts'
import { ingest } from '../../../daemon/roles/ingest/role.ts'

/** Document 001, part B, "MCP tools (44 listed)", in its groups. */
const documentedTools = {
  datapipeline: [
    ...['deploy', 'list', 'get', 'update', 'delete', 'status', 'pause', 'unpause', 'run', 'stop', 'runs', 'metrics'],
  ],
  datapipeline_run: ['trigger', 'list', 'get', 'delete', 'status', 'errors'],
  connection: ['schema', 'list', 'get', 'create', 'update', 'delete', 'test'],
  datapipeline_schedule: ['set', 'get', 'list'],
  effect: [
    ...['create', 'list', 'get', 'status', 'update', 'delete', 'pause', 'unpause', 'run', 'stop', 'runs', 'metrics'],
    ...['schema', 'dispatch'],
  ],
  workflow: ['health'],
  dag: ['list'],
} as const

/** The same, "REST endpoints (44)". `{}` is a parameter. */
const documentedEndpoints = [
  // DAG proxy
  ...['GET /dag', 'POST /dag/{}/run', 'GET /dag/{}/run', 'GET /dag/{}/run/{}', 'GET /dag/{}/run/{}/status'],
  ...['GET /dag/{}/run/{}/errors', 'DELETE /dag/{}/run/{}', 'GET /workflow/health'],
  // DataPipeline
  ...['GET /datapipeline', 'POST /datapipeline', 'GET /datapipeline/{}', 'PATCH /datapipeline/{}'],
  ...['DELETE /datapipeline/{}', 'GET /status/datapipeline', 'GET /datapipeline/{}/status', 'GET /datapipeline/schema'],
  ...['GET /datapipeline/schema/{}', 'GET /datapipeline/{}/runs', 'POST /datapipeline/{}/run'],
  ...['POST /datapipeline/{}/stop', 'GET /datapipeline/{}/metrics'],
  // DataPipeline scheduling
  ...['GET /datapipeline/schedule', 'GET /datapipeline/{}/schedule', 'PUT /datapipeline/{}/schedule'],
  // DataPipelineConnection
  ...['GET /connection', 'POST /connection', 'GET /connection/{}', 'PATCH /connection/{}', 'DELETE /connection/{}'],
  ...['GET /status/connection', 'GET /connection/{}/status'],
  // DataEffect
  ...[
    'GET /effect/schema',
    'GET /effect/schema/{}',
    'GET /effect',
    'POST /effect',
    'GET /effect/{}',
    'PATCH /effect/{}',
  ],
  ...['DELETE /effect/{}', 'GET /status/effect', 'GET /effect/{}/status', 'GET /effect/{}/runs', 'POST /effect/{}/run'],
  ...['POST /effect/{}/stop', 'GET /effect/{}/metrics'],
]

/** The operations of the role, without the seven that every role has. */
const operations = addressOperations(ingest)

test('there are 44 tools, by the names of the document', () => {
  const expected = Object.entries(documentedTools).flatMap(([noun, verbs]) => verbs.map((verb) => `${noun}_${verb}`))
  expect(expected).toHaveLength(44)
  const names = deriveTools(toolOperations('agentspace', operations)).map(({ name }) => name)
  expect(names.toSorted()).toEqual(expected.toSorted())
})

test.each(['/userspace', '/api/v1'])('there are 44 endpoints under %s, by the paths of the document', (prefix) => {
  expect(documentedEndpoints).toHaveLength(44)
  const served = operations.flatMap(({ operation }) =>
    listPaths(operation)
      .filter((path) => path.startsWith(`${prefix}/`))
      .map((path) => `${operation.method} ${path.slice(prefix.length).replaceAll(/\{[a-z_]+\}/g, '{}')}`),
  )
  expect(served.toSorted()).toEqual(documentedEndpoints.toSorted())
})

test('every operation is a tool, an endpoint, both, or behind a resource, and the seven service operations are apart', () => {
  const bare = operations.filter(({ operation }) => operation.tool === undefined && listPaths(operation).length === 0)
  const ofResources = (ingest.resources ?? []).map(({ operation }) => operation)
  expect(bare.filter(({ operation }) => !ofResources.includes(operation))).toEqual([])
  const ofService = everyOperation.filter(({ role, address }) => role === 'ingest' && !addressesOf.has(address))
  expect(ofService).toHaveLength(7)
  for (const { address } of ofService) expect(address).toMatch(/^ingest\.service\./)
})

const addressesOf = new Set(operations.map(({ address }) => address))

/** The same, "MCP resources (5)". */
const documentedResources: readonly string[] = [
  ...['catalog://operators', 'templates://dags/{dag_type}', 'catalog://effects', 'templates://effects/{operator}'],
  'capabilities://workflow',
]

test('there are 5 resources, by the URIs of the document', () => {
  expect(documentedResources).toHaveLength(5)
  expect((ingest.resources ?? []).map(({ uri }) => uri)).toEqual(documentedResources)
})
