// Clients that others wrote list every tool, call each, and accept what they are given by the schemas they were told.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { everyOperation } from '../../../daemon/every-role.ts'
import { toolsOf } from '../../../daemon/kernel/tools.ts'
import { samples } from '../../support/every-operation/samples.ts'
import { type Stage, stage } from '../../support/every-operation/stage.ts'
import { whenPresent } from '../../support/requires.ts'

/** Those of one role, which a client sees at one address. */
const tools = toolsOf(everyOperation.filter(({ role }) => role === 'consensus'))
const names = tools.map(({ name }) => name)

type Called = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }

/** One good call of each tool, on a site of its own. */
async function world(): Promise<{ at: Stage; url: string; calls: Called[] }> {
  const at = await stage()
  onTestFinished(() => at.site.close())
  const calls: Called[] = []
  for (const { name, target } of tools) {
    calls.push({ name, arguments: (await samples[target.address]?.(at))?.input ?? {} })
  }
  return { at, url: `http://127.0.0.1:${at.site.port('consensus')}/agentspace`, calls }
}

function expectOutput(name: string, structured: unknown): void {
  tools.find((tool) => tool.name === name)?.target.operation.output.parse(structured)
}

const inspector = process.env.MCP_INSPECTOR ?? ''
const withInspector = whenPresent({
  isPresent: inspector !== '',
  name: 'the MCP inspector',
  hint: 'MCP_INSPECTOR is not set',
})

withInspector('the inspector', async () => {
  const { at, url, calls } = await world()
  const ask = async (...words: string[]) => {
    const header = `Authorization: Bearer ${at.admin}`
    const all = ['--cli', url, '--transport', 'http', '--header', header, ...words]
    const { stdout } = await promisify(execFile)(inspector, all, { maxBuffer: 16_777_216, timeout: 60_000 })
    return JSON.parse(stdout) as { tools: { name: string }[]; isError?: boolean; structuredContent?: unknown }
  }
  expect((await ask('--method', 'tools/list')).tools.map(({ name }) => name)).toEqual(names)
  for (const { name, arguments: given } of calls) {
    // It reads each value as JSON, so that a text of digits must be quoted.
    const pairs = Object.entries(given).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    const args = pairs.length > 0 ? ['--tool-arg', ...pairs] : []
    const result = await ask('--method', 'tools/call', '--tool-name', name, ...args)
    expect(result.isError, `${name} ${JSON.stringify(result)}`).toBeFalsy()
    expectOutput(name, result.structuredContent)
  }
})

const fastmcp = process.env.FASTMCP_PYTHON ?? ''
const withFastmcp = whenPresent({
  isPresent: fastmcp !== '',
  name: 'a Python with fastmcp',
  hint: 'FASTMCP_PYTHON is not set',
})

withFastmcp('fastmcp, in Python', async () => {
  const { at, url, calls } = await world()
  const refused = { name: 'consensus_session_get', arguments: { id: 'nothing' } }
  const child = spawn(fastmcp, [path.join(import.meta.dirname, 'every_tool.py')], { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(JSON.stringify({ url, token: at.admin, calls: [...calls, refused] }))
  const [out, problems, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  expect(status, problems).toBe(0)
  const told = JSON.parse(out) as {
    tools: string[]
    results: { name: string; structured: unknown; is_error: boolean; text: string }[]
  }
  expect(told.tools).toEqual(names)
  const last = told.results.pop()
  expect(last?.is_error).toBe(true)
  expect(JSON.parse(last?.text ?? '')).toMatchObject({ code: 'not_found', detail: 'there is no such session' })
  for (const { name, structured, is_error, text: said } of told.results) {
    expect(is_error, `${name}: ${said}`).toBe(false)
    expectOutput(name, structured)
  }
  expect(told.results).toHaveLength(tools.length)
})
