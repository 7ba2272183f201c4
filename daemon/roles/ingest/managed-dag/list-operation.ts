// Declares the operation that lists objects with the live states of their DAGs.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { showNewest } from '../newest-page.ts'
import { objectPaths } from '../object-paths.ts'
import type { ManagedKind } from './kind.ts'
import type { ManagedDag } from './model.ts'
import { statisticsInput, withStatistics } from './statistics.ts'

/** `page`: name of the schema of a page. */
export function listOperation<T extends ManagedDag, V extends z.ZodType>(kind: ManagedKind<T, V>, page: string) {
  return operation({
    ...objectPaths(kind.object),
    summary: `List ${kind.nouns}, newest first, each with its live state`,
    method: 'GET',
    tool: `${kind.object}_list`,
    input: z.strictObject({ ...listFields, statistics: statisticsInput }),
    output: pageSchema(kind.view).meta({ id: page }),
    errors: [],
    allow: 'ingest:read',

    run: async (call, { statistics, ...request }) =>
      await showNewest(call, kind.collection, request, async (doc) =>
        withStatistics(call, doc.id, await kind.show(call, doc), statistics),
      ),
  })
}
