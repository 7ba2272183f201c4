// Tests the connections of a page now, a few at once.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { shortText, uid } from '../fields.ts'
import { showNewest } from '../newest-page.ts'
import { objectPaths } from '../object-paths.ts'
import { connections, connectionTest, type StoredConnection } from './model.ts'
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

  async run(call, request) {
    const show = async (doc: Doc<StoredConnection>) => {
      const { name, conn_type } = doc.value
      return { uid: doc.id, name, conn_type, ...(await testConnection(call, doc)) }
    }
    return await showNewest(call, connections, request, show, tests_at_once)
  },
})
