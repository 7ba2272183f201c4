// Clients by others list every tool, call each or some of many, and accept the results by the announced schemas.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { everyOperation } from '../../../daemon/every-role.ts'
import { deriveTools } from '../../../daemon/kernel/api/mcp-tools.ts'
import { createOperationFixture, type OperationFixture } from '../../support/every-operation/operation-fixture.ts'
import { operationSamples } from '../../support/every-operation/operation-samples.ts'
import { whenPresent } from '../../support/runner/requires.ts'

type ToolWalk = {
  readonly role: string
  /** Before each name, where the gateway has the tools of another role. */
  readonly prefix: string
  /** Those of one role, which a client sees at one address. */
  readonly tools: readonly Tool[]
  /** The ones that are called. */
  readonly calls: readonly Tool[]
  /** Arguments that name an absent object, and the answer to them. */
  readonly absent: {
    readonly name: string
    readonly arguments: Readonly<Record<string, unknown>>
    readonly detail: string
  }
}
type Tool = ReturnType<typeof deriveTools>[number]

/** Of a role that has many like others, those that take or give what others do not: records, lists of either form, charts. */
function buildWalk(role: string, absent: ToolWalk['absent'], some?: readonly string[]): ToolWalk {
  const tools = deriveTools(everyOperation.filter((each) => each.role === role))
  const called = some ? some.map((name) => tools.find((tool) => tool.name === name) ?? failUnknownTool(name)) : tools
  return { role, prefix: '', tools, calls: called, absent }
}

function failUnknownTool(name: string): never {
  throw new Error(`there is no tool ${name}`)
}

const noSession = { name: 'consensus_session_get', arguments: { id: 'nothing' }, detail: 'there is no such session' }

const walks: readonly ToolWalk[] = [
  buildWalk('consensus', noSession),
  {
    ...buildWalk('consensus', noSession, [
      'consensus_session_create',
      'consensus_session_get',
      'consensus_session_list',
    ]),
    ...{ role: 'gateway', prefix: 'consensus-service__' },
  },
  buildWalk(
    'resolution',
    { name: 'entity_match_get', arguments: { uid: 'nothing' }, detail: 'there is no such entity_match' },
    [
      ...['lens_create', 'lens_list', 'fusion_run_start', 'fusion_run_status', 'fusion_match_phase'],
      ...[
        'entity_match_list',
        'entity_match_uncertain',
        'entity_match_explain',
        'entity_match_review',
        'entity_match_get',
      ],
    ],
  ),
]

type ToolCall = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }

/** One good call of each tool, on a site of its own. */
async function startFixture({
  role,
  prefix,
  calls: called,
}: ToolWalk): Promise<{ at: OperationFixture; url: string; calls: ToolCall[] }> {
  const at = await createOperationFixture()
  onTestFinished(() => at.site.close())
  const calls: ToolCall[] = []
  for (const { name, target } of called) {
    calls.push({ name: `${prefix}${name}`, arguments: (await operationSamples[target.address]?.(at))?.input ?? {} })
  }
  return { at, url: `http://127.0.0.1:${at.site.port(role)}/agentspace`, calls }
}

function expectOutput({ tools, prefix }: ToolWalk, name: string, structured: unknown): void {
  tools.find((tool) => `${prefix}${tool.name}` === name)?.target.operation.output.parse(structured)
}

function expectListed({ tools, prefix }: ToolWalk, listed: readonly string[]): void {
  expect(listed.filter((name) => name.startsWith(prefix))).toEqual(tools.map(({ name }) => `${prefix}${name}`))
}

const inspector = process.env.MCP_INSPECTOR ?? ''
const withInspector = whenPresent({
  isPresent: inspector !== '',
  name: 'the MCP inspector',
  hint: 'MCP_INSPECTOR is not set',
})

withInspector.each(walks)('the inspector, at $role', async (walked) => {
  const { at, url, calls } = await startFixture(walked)
  const ask = async (...words: string[]) => {
    const header = `Authorization: Bearer ${at.admin}`
    const all = ['--cli', url, '--transport', 'http', '--header', header, ...words]
    const { stdout } = await promisify(execFile)(inspector, all, { maxBuffer: 16_777_216, timeout: 60_000 })
    return JSON.parse(stdout) as { tools: { name: string }[]; isError?: boolean; structuredContent?: unknown }
  }
  expectListed(
    walked,
    (await ask('--method', 'tools/list')).tools.map(({ name }) => name),
  )
  for (const { name, arguments: inputs } of calls) {
    // It reads each value as JSON, so that a text of digits must be quoted.
    const pairs = Object.entries(inputs).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    const args = pairs.length > 0 ? ['--tool-arg', ...pairs] : []
    const result = await ask('--method', 'tools/call', '--tool-name', name, ...args)
    expect(result.isError, `${name} ${JSON.stringify(result)}`).toBeFalsy()
    expectOutput(walked, name, result.structuredContent)
  }
})

const fastmcp = process.env.FASTMCP_PYTHON ?? ''
const withFastmcp = whenPresent({
  isPresent: fastmcp !== '',
  name: 'a Python with fastmcp',
  hint: 'FASTMCP_PYTHON is not set',
})

withFastmcp.each(walks)('fastmcp, in Python, at $role', async (walked) => {
  const { at, url, calls } = await startFixture(walked)
  const { detail, name: absent, ...refused } = walked.absent
  const child = spawn(fastmcp, [path.join(import.meta.dirname, 'every_tool.py')], { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(
    JSON.stringify({ url, token: at.admin, calls: [...calls, { ...refused, name: `${walked.prefix}${absent}` }] }),
  )
  const [out, problems, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  expect(status, problems).toBe(0)
  const report = JSON.parse(out) as {
    tools: string[]
    results: { name: string; structured: unknown; is_error: boolean; text: string }[]
  }
  expectListed(walked, report.tools)
  const last = report.results.pop()
  expect(last?.is_error).toBe(true)
  expect(JSON.parse(last?.text ?? '')).toMatchObject({ code: 'not_found', detail })
  for (const { name, structured, is_error, text: content } of report.results) {
    expect(is_error, `${name}: ${content}`).toBe(false)
    expectOutput(walked, name, structured)
  }
  expect(report.results).toHaveLength(walked.calls.length)
})
