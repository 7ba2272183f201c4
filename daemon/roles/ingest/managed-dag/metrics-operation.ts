// Declares the operation that lists the metrics of the runs of an object with a DAG, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeListSchema } from '../../../kernel/operation/paging.ts'
import { instant, uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { runMetric } from '../run-metric/model.ts'
import type { ManagedKind } from './kind.ts'
import type { ManagedDag } from './model.ts'
import { listMetrics } from './statistics.ts'

const runMetricList = wholeListSchema(runMetric).meta({ id: 'RunMetricList' })

export function metricsOperation<T extends ManagedDag>(kind: Pick<ManagedKind<T>, 'object' | 'noun' | 'collection'>) {
  return operation({
    ...objectPaths(`${kind.object}/{uid}/metrics`),
    summary: `List metrics of the finished runs of ${kind.noun}, newest first`,
    method: 'GET',
    tool: `${kind.object}_metrics`,
    input: z.strictObject({
      ...uidInput.shape,
      since: instant.optional().meta({ description: 'Only of runs that ended then or later' }),
      limit: z.int().min(1).max(500).default(50),
    }),
    output: runMetricList,
    errors: ['not_found'],
    allow: 'ingest:read',

    async run(call, { uid, since, limit }) {
      await call.store(kind.collection).get(uid)
      return await listMetrics(call, uid, { since, limit })
    },
  })
}
