// Reads an observed call of a tool: its arguments, its answer, and the runs that the answer shows.
import type { StoredObservation } from '../observation/model.ts'
import type { ToolName } from './intents.ts'
import { isObject } from './task-params.ts'

export type ToolObservation = Pick<
  StoredObservation,
  | 'tenant_id'
  | 'label'
  | 'event_type'
  | 'trace_id'
  | 'timestamp'
  | 'service'
  | 'payload'
  | 'caller_identity'
  | 'emitted_by'
>

export type ObservedCall = {
  readonly observation: ToolObservation
  readonly at: number
  readonly name: ToolName
  readonly input: unknown
  readonly output: unknown
}

/** Undefined for an observation of something else, and for a call that was refused or failed: it has changed nothing. */
export function readObservedCall(observation: ToolObservation): ObservedCall | undefined {
  const { event_type, service, timestamp, payload } = observation
  const { tool } = payload
  const at = Date.parse(timestamp)
  if (event_type !== 'tool_output' || typeof tool !== 'string' || Number.isNaN(at)) return undefined
  const { inputs: input, outputs: output } = payload
  return { observation, at, name: { service, tool }, input, output }
}

/** A text of an answer that names something. */
export function readId(value: unknown, name: string): string | undefined {
  if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
  const id = value[name]
  return typeof id === 'string' && id !== '' && id.length <= 256 ? id : undefined
}

export type RunReport = {
  readonly id: string
  readonly dag_id: string | undefined
  readonly begun: number | undefined
  /** Undefined while it goes on. */
  readonly end: 'success' | 'failed' | undefined
}

/** Of an answer that is a run, has the newest one, or lists them. */
export function listReportedRuns(output: unknown): RunReport[] {
  if (!isObject(output)) return []
  const candidates = [output, output.last_run, ...(Array.isArray(output.items) ? output.items : [])]
  return candidates.flatMap((run) => {
    const id = readId(run, 'dag_run_id')
    if (!isObject(run) || id === undefined) return []
    const begun = Date.parse(readId(run, 'start_date') ?? readId(run, 'logical_date') ?? '')
    const end = run.state === 'success' || run.state === 'failed' ? run.state : undefined
    return [{ id, dag_id: readId(run, 'dag_id'), begun: Number.isNaN(begun) ? undefined : begun, end }]
  })
}
