// Shows what workers can do: packages, operators, and types of connections.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { connectionTypes } from '../connection/type/catalog.ts'
import { readable_types } from '../connection/type/readable.ts'
import { shortText } from '../fields.ts'
import { operators } from '../operator/catalog.ts'
import { workerPackagesPart } from '../parts.ts'

export const capabilities = operation({
  summary: 'Show what workers can do: packages, operators and types of connections',
  method: 'GET',
  surface: 'agentspace',
  input: z.strictObject({}),
  output: z
    .strictObject({
      scheduler: z.enum(['airflow', 'embedded']),
      packages: z.array(z.strictObject({ name: shortText, version: shortText })),
      operators: z.array(shortText),
      connection_types: z.array(shortText).meta({ description: 'Those that the scheduler reads' }),
    })
    .meta({ id: 'WorkflowCapabilities' }),
  errors: [],
  allow: 'ingest:read',

  async run(call) {
    const { kind } = call.part(workflowSchedulerPart)
    return {
      scheduler: kind,
      packages: call.part(workerPackagesPart).map(({ name, version }) => ({ name, version })),
      operators: operators.map(({ name }) => name),
      connection_types: kind === 'embedded' ? [...readable_types] : connectionTypes.map(({ name }) => name),
    }
  },
})
