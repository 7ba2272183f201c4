// Deploys a pipeline from a file: a new one, or other content for the one that has its DAG.
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { findPipeline, parsePipeline } from '../../client/find-pipeline.ts'
import { findCheckFailure, waitForCheck } from '../../client/pipeline-check.ts'
import { max_data_bytes, readInputFile } from '../../file/input-file.ts'
import { classificationOptions, resolveOptionalClassification } from '../../options/classification.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'ingest deploy',
  summary: 'Deploy a pipeline from a file, or deploy it again with other content',
  notes: [
    'FILE is an assembled DAG as JSON: {"format": 1, "dag_id": "orders", "tasks": [...]} (platform tools list names the',
    'operators); with Airflow also a DAG file in Python, whose name --dag gives. With --type journey_test it is a journey:',
    '{"dag_id": "orders_journey", "hops": [...], "verifications": [...]}. The command waits for the check of the content.',
    'Rejected content ends it with exit code 1 and the reason; what is live then stays live.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'File of the DAG')) },
  options: {
    dag: text('DAG', 'Name of the DAG (default: that in FILE)'),
    type: text('TYPE', 'Template that a new pipeline follows, such as journey_test (default: assembled)'),
    schedule: text('CRON', 'Cron expression, @hourly, @daily, @weekly, @monthly, or none (default: as it is)'),
    timezone: text('ZONE', 'Time zone of the schedule, such as Europe/Berlin (default: UTC)'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform ingest deploy orders.json --schedule @daily',
  async run({ file, dag, type, schedule, timezone, ...params }, terminal) {
    const content = readInputFile(file, max_data_bytes)
    const dag_id = dag ?? findDagId(content, file)
    const api = await connectService(params, terminal)
    const before = await findPipeline(api, dag_id)
    const classification = await resolveOptionalClassification(params, terminal)
    // It would have another label than the command named.
    if (before && classification !== undefined)
      throw new CommandFailure(
        2,
        `${dag_id} is deployed, and keeps its label`,
        'leave out --classification, --categories and --releasable-to, or deploy another DAG',
      )
    if (before && type !== undefined && type !== before.pipeline_type)
      throw new CommandFailure(
        2,
        `${dag_id} is deployed as ${before.pipeline_type}, and keeps its type`,
        'leave out --type, or deploy another DAG',
      )
    const timing = { ...(schedule !== undefined && { schedule: schedule === 'none' ? null : schedule }), timezone }
    const sent = before
      ? await api.call('ingest.datapipeline.update', { uid: before.uid, content, ...timing })
      : await api.call('ingest.datapipeline.deploy', {
          dag_id,
          content,
          pipeline_type: type,
          ...timing,
          classification,
        })
    const { uid } = parsePipeline(sent)
    const pipeline = await waitForCheck(api, 'ingest.datapipeline.get', uid, (line) => terminal.progress(line))
    const shown = () => formatFields(terminal, { pipeline: dag_id, uid, status: pipeline.status })
    printResult(terminal, params.json, pipeline, shown)
    const failure = findCheckFailure(pipeline)
    if (failure) throw failure
    return 0
  },
})

function findDagId(content: string, file: string): string {
  const parsed = parseJson(content)
  const named = typeof parsed === 'object' && parsed !== null && 'dag_id' in parsed ? parsed.dag_id : undefined
  if (typeof named === 'string') return named
  throw new CommandFailure(2, `${file} names no DAG in "dag_id"`, 'add it, or name the DAG of a Python file by --dag')
}
