// The summary of a gateway for `platform status`, each line with the command that shows the rest.
import type { ApiObject } from '../client/client.ts'
import { formatTotal } from '../client/format-total.ts'
import type { GatewaySummary } from '../client/gateway-summary.ts'
import { colourText, formatTable, line_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

export function formatGatewaySummary(
  terminal: Terminal,
  { services, tools, quotas, denials }: GatewaySummary,
): readonly string[] {
  return [
    `gateway services: ${showPart(terminal, services, formatStates)} (platform gateway services)`,
    `gateway tools: ${showPart(terminal, tools, formatStates)} (platform gateway tools)`,
    `gateway callers by tool: ${showPart(terminal, quotas, formatCount)} (platform gateway quotas)`,
    ...table(terminal, quotas.least, ['subject', 'guardrail', 'used', 'limit', 'left', 'window_s', 'resets_at']),
    `gateway denials: ${showPart(terminal, denials, formatCount)} (platform gateway decisions)`,
    ...table(terminal, denials.last, ['at', 'guardrail', 'reason', 'kind', 'subject', 'target']),
  ]
}

function showPart(terminal: Terminal, part: ApiObject, show: (part: ApiObject) => string): string {
  return part.fault === undefined ? show(part) : colourText(terminal, 'yellow', String(part.fault))
}

function formatCount({ total, total_is }: ApiObject): string {
  return formatTotal({ total: Number(total), total_is: total_is === 'at_least' ? 'at_least' : 'exact' })
}

function formatStates(part: ApiObject): string {
  const states = Object.entries((part.states ?? {}) as ApiObject).map(([state, count]) => `${count} ${state}`)
  return states.length === 0 ? formatCount(part) : `${formatCount(part)}: ${states.join(', ')}`
}

function table(terminal: Terminal, rows: unknown, columns: readonly string[]): string[] {
  const items = (rows ?? []) as readonly ApiObject[]
  if (items.length === 0) return []
  return formatTable(terminal, items, columns, '')
    .split(line_break)
    .map((text) => `  ${text}`)
}
