// Tools and documents of a role in another process, through the gateway: in the name of the caller, and while that process runs.
import { beforeEach, expect, test } from 'vitest'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import type { ToolConnection } from '../../../daemon/kernel/tools/tool-service.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type DividedSite, openDividedSite } from '../ingest/divided-site.ts'

const limits = { answer_ms: 10_000, answer_bytes: 16_777_216, depth: 128, tools: 2_000 }
const client = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule: addressRule(['127.0.0.0/8']) })
const operators = 'gateway://pipeline-service/catalog://operators'
const template = 'gateway://pipeline-service/templates://dags/'

let site: DividedSite
beforeEach(async () => {
  const [port] = await findFreePorts(1)
  site = await openDividedSite(['ingest', 'gateway'], { ingest: { port }, gateway: { port: 0 } })
  await site.start('site')
  await site.start('ingest')
  await site.start('gateway')
})

async function withTools<T>(use: (tools: ToolConnection) => Promise<T>, subject = 'ann', role = 'analyst'): Promise<T> {
  const token = await site.token({ subject, roles: [role] })
  const connection = await client.connect({
    url: new URL('/agentspace', site.url('gateway')),
    token: async () => token,
  })
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}
const read = (uri: string, subject?: string, role?: string) =>
  withTools((tools) => tools.readResource({ uri, timeout_ms: 10_000 }), subject, role)
const listPipelines = () =>
  withTools((tools) => tools.callTool({ name: 'pipeline-service__datapipeline_list', input: {}, timeout_ms: 10_000 }))
const failureOf = (reading: Promise<unknown>) =>
  reading.then(
    () => undefined,
    (error: unknown) => String(error),
  )

test('a document is read in the name of the caller, by its URI at the gateway', async () => {
  const listed = await withTools((tools) => tools.listResources())
  expect(listed.map(({ uri }) => uri)).toEqual(expect.arrayContaining([operators, `${template}{dag_type}`]))
  const [content] = (await read(operators)) ?? []
  expect(content).toMatchObject({ uri: operators, mimeType: 'application/json' })
  expect(content?.text).toContain('ingest_file')
  const [dag] = (await read(`${template}assembled`)) ?? []
  expect(dag).toMatchObject({ uri: `${template}assembled`, text: expect.stringContaining('properties') })
})

test('there is no document at a URI that the role does not have, nor for a caller without the permission', async () => {
  expect(await read(`${template}none`)).toBeUndefined()
  expect(await read('gateway://pipeline-service/catalog://others')).toBeUndefined()
  expect(await withTools((tools) => tools.listResources(), 'nick', 'nobody')).toEqual([])
  expect(await read(operators, 'nick', 'nobody')).toBeUndefined()
})

test('while the process is away reads and calls are refused, and go on once it is back', async () => {
  expect((await listPipelines()).is_error).toBe(false)
  await site.stop('ingest')
  expect(await failureOf(read(operators))).toContain('cannot be reached')
  expect(await listPipelines()).toMatchObject({ is_error: true })
  expect((await withTools((tools) => tools.listResources())).map(({ uri }) => uri)).toContain(operators)
  await site.start('ingest')
  await waitUntil(async () => (await failureOf(read(operators))) === undefined)
  expect((await listPipelines()).is_error).toBe(false)
})
