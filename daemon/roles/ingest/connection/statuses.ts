// Tests the connections of a page now, a few at once.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { shortText, uid } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { connections, connectionTest } from './model.ts'
import { testConnection } from './test-connection.ts'
import { connectionTypeName } from './type/catalog.ts'

/** Each test takes a thread; a page of tests that all take their longest ends within the limit of the operation. */
const tests_at_once = 4
const max_page = 16

export const statuses = operation({
  ...objectPaths('status/connection'),
  summary: 'Test the connections of a page now',
  method: 'GET',
  input: z.strictObject({ ...listFields, limit: z.int().min(1).max(max_page).default(max_page) }),
  output: pageSchema(connectionTest.extend({ uid, name: shortText, conn_type: connectionTypeName })).meta({
    id: 'ConnectionStatusPage',
  }),
  errors: [],
  allow: 'ingest:connect',
  time_limit_ms: 120_000,

  async run(call, { limit, cursor }) {
    const order = { field: 'created_at', direction: 'desc' } as const
    const { docs, ...page } = await call.store(connections).page(buildListQuery({}, limit, cursor, order))
    const items = []
    for (let at = 0; at < docs.length; at += tests_at_once)
      items.push(
        ...(await Promise.all(
          docs.slice(at, at + tests_at_once).map(async (doc) => {
            const { name, conn_type } = doc.value
            return { uid: doc.id, name, conn_type, ...(await testConnection(call, doc)) }
          }),
        )),
      )
    return { ...page, items }
  },
})
