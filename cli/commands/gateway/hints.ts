// Gives the hints of the gateway on a workflow in a file, before it is deployed.
import * as z from 'zod'
import type { ApiObject } from '../../client/client.ts'
import { readJsonFile } from '../../file/json-file.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatTable, type OutputRow, printResult } from '../../terminal/output.ts'

const effectFile = z.looseObject({ operators: z.array(z.unknown()) })
const dagFile = z.looseObject({ tasks: z.array(z.unknown()) })

export const definition = command({
  words: 'gateway hints',
  summary: 'Give hints on a workflow in a file, before it is deployed',
  notes: [
    'FILE is an assembled DAG, as "ingest deploy" takes it, or an effect, as "ingest effect create" takes it. Hints are',
    'advice: none of them keeps the workflow from being deployed, and the exit code is 0 with hints too.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'File of the DAG or effect')) },
  options: {
    schedule: text('CRON', 'Schedule that it is to have, such as @hourly (default: hints on times are left out)'),
    ...serviceOptions,
  },
  example: 'platform gateway hints orders.json --schedule @daily',
  async run({ file, schedule, ...params }, terminal) {
    const workflow = readWorkflow(file)
    const api = await connectService(params, terminal)
    const answer = await api.call('gateway.guide.workflow.advise', { ...workflow, ...(schedule && { schedule }) })
    const rows = (answer.hints as ApiObject[]).map(toRow)
    printResult(terminal, params.json, answer, () =>
      formatTable(terminal, rows, ['category', 'place', 'rationale'], 'there are no hints on this workflow'),
    )
    return 0
  },
})

function readWorkflow(file: string): Record<string, unknown> {
  const value = readJsonFile(file)
  const effect = effectFile.safeParse(value)
  if (effect.success) return { operators: effect.data.operators }
  const dag = dagFile.safeParse(value)
  if (dag.success) return { dag: dag.data }
  throw new CommandFailure(1, `${file} is not a workflow: it needs a list of "tasks" or of "operators"`)
}

function toRow({ category, node, edge, rationale }: ApiObject): OutputRow {
  const { from, to } = (edge ?? {}) as ApiObject
  return { category: String(category), place: edge ? `${from} > ${to}` : String(node), rationale: String(rationale) }
}
