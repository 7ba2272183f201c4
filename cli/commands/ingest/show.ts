// Shows a run of a pipeline: its tasks, what they made, and the logs of those that failed.
import * as z from 'zod'
import type { ServiceClient } from '../../client/client.ts'
import { describePipelineRun, fetchPipelineRun } from '../../format/pipeline-run.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'ingest show',
  summary: 'Show a run of a pipeline: its tasks, what they made, and why they failed',
  positionals: {
    dag: required(text('DAG', 'Name of the DAG of the pipeline')),
    run: text('RUN', 'Run of it (default: the newest)'),
  },
  options: serviceOptions,
  example: 'platform ingest show orders',
  async run({ dag: dag_id, run: named, ...params }, terminal) {
    const api = await connectService(params, terminal)
    const run = await fetchPipelineRun(api, { dag_id, dag_run_id: named ?? (await findNewestRun(api, dag_id)) })
    const shown = await describePipelineRun(api, terminal, run)
    printResult(terminal, params.json, run, () => shown)
    return 0
  },
})

const runList = z.looseObject({ items: z.array(z.looseObject({ dag_run_id: z.string() })) })

async function findNewestRun(api: ServiceClient, dag_id: string): Promise<string> {
  const { items } = runList.parse(await api.call('ingest.dag-run.list', { dag_id, limit: 1 }))
  if (items[0]) return items[0].dag_run_id
  throw new CommandFailure(1, `the pipeline ${dag_id} has no run yet`, `start one: platform ingest run ${dag_id}`)
}
