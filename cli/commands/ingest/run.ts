// Triggers a run of a pipeline.
import type { ServiceClient } from '../../client/client.ts'
import { findPipeline } from '../../client/find-pipeline.ts'
import { readJsonFile } from '../../file/json-file.ts'
import { showTriggeredRun } from '../../format/pipeline-run.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'ingest run',
  summary: 'Run a pipeline',
  notes: 'With --wait, exit code 1 if the run fails; it goes on in the service if the command is interrupted.',
  positionals: { dag: required(text('DAG', 'Name of the DAG of the pipeline')) },
  options: {
    conf: text('FILE', 'JSON object with values for the run (default: none)'),
    wait: flag('Wait until the run is over'),
    idempotencyKey: text('KEY', 'Idempotency key: a repeat with the same key returns the same run'),
    ...serviceOptions,
  },
  example: 'platform ingest run orders --wait',
  async run({ dag: dag_id, conf, wait, idempotencyKey, ...params }, terminal) {
    const input = { dag_id, ...(conf !== undefined && { conf: readJsonFile(conf) }) }
    const api = await connectService(params, terminal)
    const extras = idempotencyKey ? { idempotency_key: idempotencyKey } : {}
    const triggered = await api.call('ingest.dag-run.trigger', input, extras)
    if (wait) await notePause(api, dag_id, terminal)
    const stop = `platform ingest stop ${dag_id}`
    return await showTriggeredRun(api, triggered, { wait, json: params.json, stop }, terminal)
  },
})

/** A run of a paused pipeline waits, as this command would without end and reason. */
async function notePause(api: ServiceClient, dag_id: string, terminal: Terminal): Promise<void> {
  const pipeline = await findPipeline(api, dag_id)
  if (pipeline?.status !== 'paused') return
  terminal.note(`the pipeline ${dag_id} is paused: its runs wait until \`platform ingest resume ${dag_id}\``)
}
