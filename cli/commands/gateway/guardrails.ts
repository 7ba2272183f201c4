// Lists the guardrails of the gateway, in the order in which refusals name them.
import type { ApiObject } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { formatTable, type OutputRow, printResult } from '../../terminal/output.ts'

const limits = ['deny', 'calls_per_minute', 'calls_per_day', 'max_body_bytes', 'deny_patterns', 'label_ceiling']

export const definition = command({
  words: 'gateway guardrails',
  summary: 'List the guardrails of the site: the calls that each is for, and how it restricts them',
  options: { ...serviceOptions },
  example: 'platform gateway guardrails',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const answer = await api.call('gateway.guardrail.list', {})
    const rows = (answer.items as ApiObject[]).map(toRow)
    printResult(terminal, params.json, answer, () =>
      formatTable(terminal, rows, ['name', 'calls', 'restriction'], 'the profile has no guardrails'),
    )
    return 0
  },
})

/** Each field as `name=value`, on one of two sides. */
function toRow({ name, ...fields }: ApiObject): OutputRow {
  const show = (isLimit: boolean) =>
    Object.entries(fields)
      .filter(([field, value]) => limits.includes(field) === isLimit && value !== false)
      .map(([field, value]) => `${field}=${Array.isArray(value) ? value.join(',') : value}`)
      .join(' ')
  return { name, calls: show(false) || 'all', restriction: show(true) }
}
