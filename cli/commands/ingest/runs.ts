// Lists runs of a pipeline, newest first.

import type { ItemPage } from '../../client/fetch-items.ts'
import { listChoices } from '../../client/operations.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, required, text, withDefault } from '../../program/params.ts'
import { formatTable, type OutputRow } from '../../terminal/output.ts'
import { printItems } from '../../terminal/print-items.ts'

export const definition = command({
  words: 'ingest runs',
  summary: 'List runs of a pipeline, newest first',
  positionals: { dag: required(text('DAG', 'Name of the DAG of the pipeline')) },
  options: {
    state: choice('STATE', 'Only those in this state', await listChoices('ingest.dag-run.list', 'state')),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 500)),
    ...serviceOptions,
  },
  example: 'platform ingest runs orders --state failed',
  async run({ dag: dag_id, state, limit, ...params }, terminal) {
    const api = await connectService(params, terminal)
    const page = (await api.call('ingest.dag-run.list', { dag_id, state, limit })) as ItemPage
    const columns = ['dag_run_id', 'state', 'start_date', 'end_date', 'reason'] as const
    printItems(terminal, params.json, page, () =>
      formatTable(terminal, page.items as readonly OutputRow[], columns, 'no runs match'),
    )
    return 0
  },
})
