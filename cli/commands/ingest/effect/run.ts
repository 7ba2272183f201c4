// Triggers a run of an effect.
import { readJsonFile } from '../../../file/json-file.ts'
import { showTriggeredRun } from '../../../format/pipeline-run.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { commandObjects } from '../../../program/command-objects.ts'
import { flag, text } from '../../../program/params.ts'

export const definition = command({
  words: 'ingest effect run',
  summary: 'Run an effect',
  notes: 'With --wait, exit code 1 if the run fails; it goes on in the service if the command is interrupted.',
  positionals: { id: commandObjects.effect.id },
  options: {
    conf: text('FILE', 'JSON object with values for the run (default: none)'),
    wait: flag('Wait until the run is over'),
    idempotencyKey: text('KEY', 'Idempotency key: a repeat with the same key returns the same run'),
    ...serviceOptions,
  },
  example: 'platform ingest effect run ef_… --wait',
  async run({ id: uid, conf, wait, idempotencyKey, ...params }, terminal) {
    const input = { uid, ...(conf !== undefined && { conf: readJsonFile(conf) }) }
    const api = await connectService(params, terminal)
    const extras = idempotencyKey ? { idempotency_key: idempotencyKey } : {}
    const triggered = await api.call('ingest.effect.run', input, extras)
    const stop = `platform ingest effect stop ${uid}`
    return await showTriggeredRun(api, triggered, { wait, json: params.json, stop }, terminal)
  },
})
