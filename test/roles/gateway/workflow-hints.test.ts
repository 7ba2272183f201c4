// Hints on workflows through a site with the gateway and ingest: before a call and beside it; and the outcomes of workflows in the graphs.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseSchedule } from '../../../adapters/host/schedule/cron.ts'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import type { ToolConnection } from '../../../daemon/kernel/tools/tool-service.ts'
import { artifacts } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { graphNodes } from '../../../daemon/roles/gateway/guide/graph/model.ts'
import { advise } from '../../../daemon/roles/gateway/guide/workflow/advise.ts'
import { describeHints, listCallHints } from '../../../daemon/roles/gateway/guide/workflow/hint-text.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { setUpIngestSite } from '../ingest/ingest-site.ts'

const limits = { answer_ms: 10_000, answer_bytes: 16_777_216, depth: 128, tools: 2_000 }
const services = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule: addressRule(['127.0.0.0/8']) })

const site = setUpIngestSite(
  {},
  {
    profile: {
      platform: { roles: ['site', 'ingest', 'gateway'], deployment_profile: 'single_cluster' },
      gateway: { port: 0 },
    },
  },
)
let tools: ToolConnection

beforeAll(async () => {
  const { token } = await site().as()
  tools = await services.connect({ url: new URL('/agentspace', site().url('gateway')), token: async () => token })
  site().writeFile('orders.csv', 'id,amount\n1,2.5\n2,n/a\n')
})
afterAll(() => tools?.close())

/** Calls a tool of ingest through the gateway, which observes the call. */
async function use(tool: string, input: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
  const { is_error, structured_content, content } = await tools.callTool({
    ...{ name: `pipeline-service__${tool}`, input, timeout_ms: 10_000 },
  })
  expect(is_error, JSON.stringify(content)).toBe(false)
  return structured_content as Readonly<Record<string, unknown>>
}

/** Types are lost, and nothing is tested before the file is replaced. */
const read = { name: 'ingest_file', params: { file: 'orders.csv' } }
const cast = { name: 'cast', params: { columns: [{ column: 'amount', type: 'double' }], on_misfit: 'leave_out' } }
const write = { name: 'write', params: { file: 'orders.parquet' } }
const weak = [read, cast, write]
const rule = { name: 'has an amount', where: { column: 'amount', is: 'present' } }
const sound = [read, cast, { name: 'validate', params: { rules: [rule], max_rejects: 10 } }, write]

test('an effect with weaknesses gets the hints on its tasks, by REST and as a tool of the gateway', async () => {
  const ann = await site().as()
  const { hints } = await ann.ok(advise, { operators: weak, schedule: '*/30 * * * *' })
  expect(hints).toMatchObject([
    { category: 'missing best practice', rule: 'output_without_validation', node: 'write_3' },
    { category: 'missing best practice', rule: 'time_limit_beyond_schedule', node: 'ingest_file_1' },
    { category: 'data quality issue', rule: 'values_left_out', node: 'cast_2' },
  ])
  const called = await tools.callTool({
    name: 'gateway_workflow_hints',
    input: { operators: weak },
    timeout_ms: 10_000,
  })
  expect(called.structured_content).toEqual({ hints: hints.filter((hint) => !hint.rule.startsWith('time_limit')) })
  expect(await ann.ok(advise, { operators: sound, schedule: '@daily' })).toEqual({ hints: [] })
})

test('an edge is named by both of its tasks', async () => {
  const ann = await site().as()
  const tasks = [
    { name: 'in', operator: 'ingest_file', params: { file: 'orders.csv' } },
    { name: 'typed', operator: 'cast', params: { columns: [{ column: 'amount', type: 'double' }] }, after: ['in'] },
    { name: 'done', operator: 'notify', params: { title: 'In' }, after: ['in', 'typed'] },
  ]
  const { hints } = await ann.ok(advise, { dag: { format: 1, dag_id: 'orders', tasks } })
  expect(hints).toMatchObject([{ category: 'modeling issue', edge: { from: 'in', to: 'done' } }])
  expect(hints[0]?.node).toBeUndefined()
})

test('a request without one workflow, or with an expression that is not a schedule, is refused with the reason', async () => {
  const ann = await site().as()
  const dag = { format: 1 as const, dag_id: 'd', tasks: [{ name: 'a', operator: 'ingest_file' }] }
  expect(await ann.refusal(advise, {})).toBe('invalid')
  expect(await ann.refusal(advise, { dag, operators: weak })).toBe('invalid')
  expect(await ann.refusal(advise, { dag, schedule: 'each day' })).toBe('invalid')
  const reader = await site().as({ subject: 'rita', roles: ['auditor'] })
  expect(await reader.refusal(advise, { dag })).toBe('forbidden')
})

test('hints go along as text, and block no call', async () => {
  const input = { name: 'orders', operators: weak }
  const text = describeHints(listCallHints({ tool: 'pipeline-service__effect_create' }, input, parseSchedule))
  expect(text).toContain('- missing best practice, write_3: no task validates the rows')
})

/** Creates an effect, and runs it to its end. */
async function runEffect(name: string, operators: readonly object[]): Promise<unknown> {
  const { uid } = await use('effect_create', { name, operators })
  await waitUntil(async () => (await use('effect_status', { uid })).status === 'active')
  await use('effect_run', { uid })
  await waitUntil(
    async () => ((await use('effect_status', { uid })).last_run as { state?: string } | undefined)?.state === 'success',
  )
  return uid
}

/** Outcomes of the decision for these operators, once they are the ones. */
async function waitForOutcomes(operators: readonly { readonly name: string }[], outcomes: object): Promise<void> {
  const label = `pipeline-service/workflow:${operators.map(({ name }) => name).join('>')}`
  let last: object | undefined
  const look = async () => {
    site().wakeWorker('gateway', 'ingest-observations')
    const { docs } = await site()
      .store('gateway')
      .list(graphNodes, { filter: { node_label: label }, limit: 1 })
    last = docs[0]?.value.outcome_distribution
    return JSON.stringify(last) === JSON.stringify(outcomes)
  }
  await waitUntil(look).catch(() => expect(last).toEqual(outcomes))
}

test('the outcomes of an effect are in the graphs: its run, its edit and its removal', async () => {
  const uid = await runEffect('orders', weak)
  await waitForOutcomes(weak, { success: 1, feedback_up: 1 })
  site().clock.advance(60_000)
  await use('effect_update', { uid, operators: sound })
  await waitUntil(async () => (await use('effect_status', { uid })).status === 'active')
  await use('effect_delete', { uid, confirm: true })
  await waitForOutcomes(weak, { success: 1, feedback_up: 1, feedback_down: 1 })
  await waitForOutcomes(sound, { feedback_abandoned: 1 })
})

test('operators that succeed again and again become an active exemplar by the curator', async () => {
  const operators = [read, { name: 'validate', params: { rules: [rule], max_rejects: 10 } }]
  const names = Array.from({ length: 8 }, (_, at) => `exemplar ${at}`)
  await Promise.all(names.map((name) => runEffect(name, operators)))
  await waitForOutcomes(operators, { success: 8, feedback_up: 8 })
  const exemplar = await waitUntil(async () => {
    site().clock.advance(31_000)
    site().wakeWorker('gateway', 'learn-guidance')
    const filter = { type: 'DecisionTrajectory', status: 'active' }
    const { docs } = await site().store('gateway').list(artifacts, { filter, limit: 10, fresh: true })
    return docs[0]?.value
  })
  expect(exemplar).toMatchObject({
    ...{ actor: 'curator_auto', service_name: 'pipeline-service' },
    applicability: { intent_class: 'pipeline-service/effect_create', tags: ['workflow'] },
    content: { steps: ['ingest_file', 'validate'], support: 8, success_rate: 1 },
  })
})
