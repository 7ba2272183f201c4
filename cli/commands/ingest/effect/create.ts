// Creates an effect from a file, and waits for its check.
import * as z from 'zod'
import { findCheckFailure, waitForCheck } from '../../../client/pipeline-check.ts'
import { readJsonFile } from '../../../file/json-file.ts'
import { formatEffect } from '../../../format/effect.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { flag, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

const effectFile = z.looseObject({ name: z.string(), operators: z.array(z.unknown()) })
const createdEffect = z.looseObject({ uid: z.string(), warnings: z.array(z.string()) })

export const definition = command({
  words: 'ingest effect create',
  summary: 'Create an effect from a file: operators that follow each other',
  notes: [
    'FILE is JSON, such as {"name": "orders", "operators": [{"name": "ingest_file", "params": {...}}], "visibility":',
    '{"level": "SECRET"}}. The command waits for the check of the operators. Rejected ones end it with exit code 1 and the',
    'reason. Warnings name connections that are missing; they block nothing.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'File of the effect')) },
  options: {
    run: flag('Run it once its DAG is live'),
    schedule: text('CRON', 'Cron expression, @hourly, @daily, @weekly or @monthly (default: none)'),
    timezone: text('ZONE', 'Time zone of the schedule, such as Europe/Berlin (default: UTC)'),
    ...serviceOptions,
  },
  example: 'platform ingest effect create orders.json --run',
  async run({ file, run, schedule, timezone, ...params }, terminal) {
    const given = readEffect(file)
    const api = await connectService(params, terminal)
    const timing = { ...(schedule !== undefined && { schedule }), ...(timezone !== undefined && { timezone }) }
    const input = { ...given, ...timing, ...(run && { run_on_deploy: true }) }
    const { uid, warnings } = createdEffect.parse(await api.call('ingest.effect.create', input))
    for (const warning of warnings) terminal.note(warning)
    const effect = await waitForCheck(api, 'ingest.effect.get', uid, (line) => terminal.progress(line))
    printResult(terminal, params.json, effect, () => formatEffect(terminal, effect))
    const failure = findCheckFailure(effect)
    if (failure) throw failure
    return 0
  },
})

function readEffect(file: string): Record<string, unknown> {
  const parsed = effectFile.safeParse(readJsonFile(file))
  if (parsed.success) return parsed.data
  throw new CommandFailure(2, `${file} is not an effect: it needs a "name", and a list of "operators"`)
}
