// Work that goes on after its answer changes nothing: neither in the store nor at another role.
import { expect, test } from 'vitest'
import * as z from 'zod'
import { roleCaller } from '../../daemon/boot/role-caller.ts'
import { SiteRoleClients } from '../../daemon/boot/role-clients.ts'
import { SiteDelegation } from '../../daemon/boot/site-delegation.ts'
import { siteFolder } from '../../daemon/boot/storage/site-folder.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { Call } from '../../daemon/kernel/operation/call.ts'
import { operation } from '../../daemon/kernel/operation/operation.ts'
import { createServiceCall } from '../../daemon/kernel/operation/perform-operation.ts'
import { collection } from '../../daemon/kernel/store/store.ts'
import { listMessageKeys } from '../../daemon/shared/site-key/site-key.ts'
import { sampleWork } from '../support/delegation/delegation-answers.ts'
import { adminHeaders, startEchoServer } from '../support/echo/echo-server.ts'
import { openTemporaryStore } from '../support/store/open-temporary-store.ts'
import { sampleTrace } from '../support/trace/sample-trace.ts'

const notes = collection({
  name: 'note',
  schema: z.strictObject({ tenant_id: z.string(), text: z.string() }),
  indexes: [],
})
const note = { tenant_id: 't', text: 'before' }

/** Serves an operation that waits at a gate, whatever its signal says, and then does what `attempt` does. */
async function serveLateWork(attempt: (call: Call) => Promise<unknown>) {
  const { store } = openTemporaryStore(notes)
  const gate = Promise.withResolvers<void>()
  const outcome = Promise.withResolvers<unknown>()
  const late = operation({
    summary: 'For tests',
    method: 'POST',
    path: '/late',
    input: z.strictObject({}),
    output: z.unknown(),
    errors: [],
    allow: 'authenticated',
    async run(call) {
      await call.store(notes).create('n', note)
      await gate.promise
      const answer = await attempt(call).catch((error: unknown) => error)
      outcome.resolve(isRefusal(answer) ? answer.code : answer)
      return {}
    },
  })
  const { echo } = await startEchoServer()
  // No other role answers: a request that is sent is refused `unavailable`.
  const request = roleCaller(
    {
      folder: siteFolder('nowhere'),
      contexts: new Map(),
      urls: new Map(),
      serviceToken: async () => 'role:test.service',
      random: (bytes) => '0'.repeat(bytes * 2),
    },
    'test',
  )
  const context = {
    ...echo.context,
    store,
    roles: (...[trace, end]: Parameters<typeof echo.context.roles>) => new SiteRoleClients(request, trace, end),
    delegation: (...[trace, credential, end]: Parameters<typeof echo.context.delegation>) =>
      new SiteDelegation(request, trace, credential, end),
  }
  const served = await startEchoServer({
    operations: [{ address: 'test.note.late', role: 'test', operation: late }],
    roleContext: context,
    limits: { request_ms: 60 },
  })
  return { served, store, context, release: gate.resolve, outcome: outcome.promise }
}

test.each<[what: string, attempt: (call: Call) => Promise<unknown>]>([
  ['creates a document', (call) => call.store(notes).create('m', note)],
  [
    'changes a document',
    (call) => call.store(notes).update('n', () => ({ next: { ...note, text: 'after' }, answer: 'changed' })),
  ],
  ['removes a document', (call) => call.store(notes).remove('n')],
  ['requests something of another role', (call) => listMessageKeys(call)],
  ['acts in the name of its caller', (call) => call.delegation().store(sampleWork)],
])('work after its answer that %s is refused', async (_what, attempt) => {
  const { served, store, release, outcome } = await serveLateWork(attempt)
  const answer = await served.request('POST /late', adminHeaders)
  expect(JSON.parse(answer.body).code).toBe('timeout')
  release()
  expect(await outcome).toBe('timeout')
  const { docs } = await store.list(notes, { limit: 10, fresh: true })
  expect(docs.map(({ id, value }) => [id, value.text])).toEqual([['n', 'before']])
})

test('a worker still records at a stop what it has done', async () => {
  const { context } = await serveLateWork(async () => undefined)
  const call = createServiceCall(context, 'test', 'test.worker.notes', sampleTrace, AbortSignal.abort())
  expect(await call.store(notes).create('w', note)).toMatchObject({ id: 'w' })
})
