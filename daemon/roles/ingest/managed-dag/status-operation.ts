// Declares the operations that show the state of an object alone: of its deployment, and of its DAG at the scheduler.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { uidInput } from '../fields.ts'
import { showNewest } from '../newest-page.ts'
import { objectPaths } from '../object-paths.ts'
import type { ManagedKind } from './kind.ts'
import type { ManagedDag } from './model.ts'

export function statusOperation<T extends ManagedDag, V extends z.ZodType, S extends z.ZodType>(
  kind: ManagedKind<T, V, S>,
) {
  return operation({
    ...objectPaths(`${kind.object}/{uid}/status`),
    summary: `Show the state of ${kind.noun}: of its deployment, and live from the scheduler`,
    method: 'GET',
    tool: `${kind.object}_status`,
    input: uidInput,
    output: kind.state,
    errors: ['not_found'],
    allow: 'ingest:read',

    run: async (call, { uid }) => await kind.showState(call, await call.store(kind.collection).get(uid)),
  })
}

/** `page`: name of the schema of a page. */
export function statusesOperation<T extends ManagedDag, V extends z.ZodType, S extends z.ZodType>(
  kind: ManagedKind<T, V, S>,
  page: string,
) {
  return operation({
    ...objectPaths(`status/${kind.object}`),
    summary: `List the states of ${kind.nouns}, newest first`,
    method: 'GET',
    input: z.strictObject(listFields),
    output: pageSchema(kind.state).meta({ id: page }),
    errors: [],
    allow: 'ingest:read',

    run: async (call, request) => await showNewest(call, kind.collection, request, (doc) => kind.showState(call, doc)),
  })
}
