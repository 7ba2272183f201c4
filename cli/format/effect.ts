// Formats effects as text.
import type { ApiObject } from '../client/client.ts'
import { formatFields, type OutputRow } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

const stateOfRun = ({ last_run }: OutputRow) => (last_run as { state?: string } | undefined)?.state

export const effectColumns = [
  ...(['uid', 'name', 'status'] as const),
  { heading: 'last run', cell: stateOfRun },
  ...(['schedule', 'next_scheduled_run', 'created_by'] as const),
]

export function formatEffect(terminal: Terminal, effect: ApiObject): string {
  const { uid, name, description, status, dag_id, schedule, next_scheduled_run, effect_type, created_by } = effect
  const { reason, path } = (effect.fault ?? {}) as { reason?: string; path?: string }
  const operators = effect.operators as readonly { name?: string; operator?: string }[]
  return formatFields(terminal, {
    ...{ effect: uid, name, description, status, fault: path === undefined ? reason : `${path}: ${reason}` },
    ...{ operators: operators.map(({ name: operator }) => operator).join(', '), type: effect_type },
    ...{ dag: dag_id, last_run: stateOfRun(effect), schedule, next_scheduled_run, by: created_by },
    classification: (effect.classification as OutputRow).level,
  })
}
