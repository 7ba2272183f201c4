// Declares the operation that gets an object with the live state of its DAG.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import type { ManagedKind } from './kind.ts'
import type { ManagedDag } from './model.ts'
import { statisticsInput, withStatistics } from './statistics.ts'

export function getOperation<T extends ManagedDag, V extends z.ZodType>(kind: ManagedKind<T, V>) {
  return operation({
    ...objectPaths(`${kind.object}/{uid}`),
    summary: `Get one of the ${kind.nouns} with its live state`,
    method: 'GET',
    tool: `${kind.object}_get`,
    input: z.strictObject({ ...uidInput.shape, statistics: statisticsInput }),
    output: kind.view,
    errors: ['not_found'],
    allow: 'ingest:read',
    versioned: true,

    async run(call, { uid, statistics }) {
      const shown = await kind.show(call, await call.store(kind.collection).get(uid))
      return await withStatistics(call, uid, shown, statistics)
    },
  })
}
