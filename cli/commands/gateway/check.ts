// Says what the guardrails of the gateway would do with a call, without making it.
import type { ApiObject } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, nameList, required, text } from '../../program/params.ts'
import { line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'gateway check',
  summary: 'Say what the guardrails would do with a call, and why; the call is not made',
  notes: 'Exit code 5: the call would be refused.',
  positionals: { kind: required(choice('KIND', 'Kind of the call', ['rest', 'tool', 'chat', 'resource'])) },
  options: {
    subject: required(text('SUBJECT', 'Subject of the caller')),
    roles: nameList('ROLE,...', 'Roles of the caller (default: none)'),
    level: text('LEVEL', 'Level of its clearance (default: none)'),
    service: text('NAME', 'Service, by its name in service-info (default: none)'),
    tool: text('NAME', 'Tool as the gateway offers it, service__tool, or URI of a resource (default: none)'),
    method: text('METHOD', 'Method of a REST call (default: none)'),
    path: text('PATH', 'Path of a REST call, with its query (default: none)'),
    bodyBytes: integer('BYTES', 'Size of the body (default: not announced)'),
    text: text('TEXT', 'Arguments of the tool, or message (default: none)'),
    ...serviceOptions,
  },
  example: 'platform gateway check tool --subject ann --roles analyst --tool intelligence-service__signal_list',
  async run(params, terminal) {
    const { kind, subject, roles, level, service, tool, method, path, bodyBytes: body_bytes, text } = params
    const api = await connectService(params, terminal)
    const given = { level, service, tool, method, path, body_bytes, text }
    const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    const report = await api.call('gateway.guardrail.check', { kind, subject, roles: [...roles], ...known })
    printResult(terminal, params.json, report, () => describeReport(report))
    return report.outcome === 'allowed' ? 0 : 5
  },
})

function describeReport({ outcome, guardrail, reason, applying, ceiling, max_body_bytes, counts }: ApiObject): string {
  const names = applying as string[]
  const lines = [
    outcome === 'allowed' ? 'allowed' : `refused by the guardrail ${guardrail}: ${reason}`,
    `guardrails for this call: ${names.length === 0 ? 'none' : names.join(', ')}`,
    ...(ceiling === undefined ? [] : [`data up to the level ${ceiling}`]),
    ...(max_body_bytes === undefined ? [] : [`body of at most ${max_body_bytes} bytes`]),
    ...(counts as ApiObject[]).map(
      (count) => `${count.guardrail}: ${count.used} of ${count.limit} calls in ${count.window_s} s`,
    ),
  ]
  return lines.join(line_break)
}
