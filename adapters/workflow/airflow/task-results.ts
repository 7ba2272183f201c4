// The results of tasks of Airflow: the value that a step returns, and the end of a log.

import * as z from 'zod'
import { parseJson, parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import { requestedWork, taskLineage } from '../../../daemon/shared/workflow-scheduler/workflow-scheduler.ts'
import type { AirflowClient } from './airflow-client.ts'
import { type Generation, returnedValue } from './generation.ts'

const returnedResult = z.object({ lineage: taskLineage.optional(), requested: requestedWork.optional() })
type ReturnedResult = z.output<typeof returnedResult>

/** `path`: of the task. Empty where it returned nothing that a step does. */
export async function readResult(client: AirflowClient, call: Call, path: string): Promise<ReturnedResult> {
  const answer = await client.get(call, { path: `${path}/xcomEntries/return_value` }, returnedValue)
  return parseResult(answer?.value) ?? {}
}

/** The value is a text of JSON; v2 shows it as a text of JSON within that. */
function parseResult(value: unknown, depth = 0): ReturnedResult | undefined {
  const read = typeof value === 'string' ? parseJson(value) : value
  if (typeof read === 'string' && depth === 0) return parseResult(read, 1)
  return returnedResult.safeParse(read).data
}

const log_limits = { kept_bytes: 262_144, read_bytes: 67_108_864 }

type LogPlace = { readonly path: string; readonly attempt: number; readonly generation: Generation }

/** The newest try; empty where it has not begun. */
export async function readTaskLog(
  client: AirflowClient,
  call: Call,
  { path, attempt, generation }: LogPlace,
): Promise<string> {
  if (attempt === 0) return ''
  const request = { path: `${path}/logs/${attempt}`, query: { full_content: true }, accept: generation.log_type }
  const tail = await client.getTail(call, request, log_limits)
  if (!tail) return ''
  const text = tail.toString().toWellFormed()
  return generation.version === 'v1' ? text : formatEvents(text)
}

const logEvent = z.looseObject({ event: z.string(), timestamp: z.string().nullish(), level: z.string().nullish() })

/** A line of each event; the first may be the end of one. */
function formatEvents(text: string): string {
  const lines = text.split('\n').flatMap((line) => {
    const read = parseJsonAs(logEvent, line)
    if (!read) return []
    return [[read.timestamp, read.level?.toUpperCase(), read.event].filter((each) => each).join(' ')]
  })
  return lines.map((line) => `${line}\n`).join('')
}
