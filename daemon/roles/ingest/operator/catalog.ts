// The catalog: every operator by name, and the faults of a DAG that uses them.
import { parseWithSchema } from '../../../kernel/error/parsing.ts'
import type { AssembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import { type DagFault, listOrderFaults } from '../../../shared/assembled-dag/task-order.ts'
import { aggregate } from './aggregate.ts'
import { cast } from './cast.ts'
import { listColumnFaults } from './check-columns.ts'
import { externalDispatch } from './external-dispatch.ts'
import { filedropSend } from './filedrop-send.ts'
import { filter } from './filter.ts'
import { ingestDatabase } from './ingest-database.ts'
import { ingestFile } from './ingest-file.ts'
import { ingestHttp } from './ingest-http.ts'
import { ingestLandingZone } from './ingest-landing-zone.ts'
import { ingestObjects } from './ingest-objects.ts'
import { ingestQueue } from './ingest-queue.ts'
import { join } from './join.ts'
import { notify } from './notify.ts'
import type { Operator } from './operator.ts'
import { rename } from './rename.ts'
import { resolveRun } from './resolve-run.ts'
import { select } from './select.ts'
import { testCall } from './test-call.ts'
import { validate } from './validate.ts'
import { verifyResponseJson } from './verify-response-json.ts'
import { write } from './write.ts'

export const operators: readonly Operator[] = [
  ingestFile,
  ingestDatabase,
  ingestLandingZone,
  ingestHttp,
  ingestObjects,
  ingestQueue,
  select,
  rename,
  cast,
  filter,
  join,
  aggregate,
  validate,
  write,
  notify,
  resolveRun,
  filedropSend,
  externalDispatch,
  testCall,
  verifyResponseJson,
]

const byName = new Map(operators.map((each) => [each.name, each]))

export function findOperator(name: string): Operator | undefined {
  return byName.get(name)
}

/** A fault as a document has it: the path where there is one. */
export function describeFault({ path, message }: DagFault) {
  return path === '' ? { reason: message } : { reason: message, path }
}

/** Lists everything for which a DAG cannot run: its order, its operators, their parameters and inputs, and columns that are missing. */
export function listDagFaults(dag: AssembledDag): DagFault[] {
  const makers = new Set(dag.tasks.filter((task) => byName.get(task.operator)?.makes_dataset).map(({ name }) => name))
  const faults = dag.tasks.flatMap((task, at): DagFault[] => {
    const found = byName.get(task.operator)
    if (!found) {
      const known = operators.map(({ name }) => name).join(', ')
      return [{ path: `tasks.${at}.operator`, message: `the catalog has no operator ${task.operator}: ${known}` }]
    }
    const inputs = task.after.filter((name) => makers.has(name))
    const ofInputs = findInputFault(found, inputs.length, at)
    return [...listParameterFaults(found, task.params, `tasks.${at}.params`, inputs), ...ofInputs]
  })
  const found = [...listOrderFaults(dag), ...faults]
  return found.length > 0 ? found : listColumnFaults(dag, findOperator)
}

function listParameterFaults(found: Operator, value: unknown, at: string, inputs: readonly string[]): DagFault[] {
  const parsed = parseWithSchema(found.params, value)
  if (parsed.success) {
    const message = found.findInputFault?.(parsed.data, inputs)
    return message === undefined ? [] : [{ path: at, message }]
  }
  return parsed.errors.map(({ path, message }) => ({ path: path === '' ? at : `${at}.${path}`, message }))
}

function findInputFault({ name, inputs: { min, max } }: Operator, inputs: number, at: number): DagFault[] {
  if (inputs >= min && inputs <= max) return []
  const wanted = min === max ? `${min}` : `${min} to ${max}`
  return [{ path: `tasks.${at}.after`, message: `${name} takes ${wanted} datasets of tasks before it, not ${inputs}` }]
}
