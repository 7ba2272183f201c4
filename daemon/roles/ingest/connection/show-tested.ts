// A connection that was just stored: registered with a scheduler that keeps connections, and tested.
import type * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type StoredConnection, showConnection, type testedConnection } from './model.ts'
import { tryRegistration } from './register-connection.ts'
import { testConnection } from './test-connection.ts'

export async function showTested(call: Call, doc: Doc<StoredConnection>): Promise<z.output<typeof testedConnection>> {
  const registration = await tryRegistration(call, doc)
  const test = await testConnection(call, doc)
  return { ...showConnection(doc), test, ...(registration && { registration }) }
}
