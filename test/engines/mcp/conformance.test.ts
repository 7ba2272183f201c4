// The public conformance tool against /agentspace, in each revision: every scenario is held, or excluded for a reason.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { startTokenProxy, type TokenProxy } from '../../support/mcp/token-proxy.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { type SingleClusterSite, startSingleClusterSite } from '../../support/site/single-cluster-site.ts'
import { noResources, suites } from './scenarios.ts'

/** One role with tools of its own, and the gateway, which has those of the others. */
const roles = ['consensus', 'gateway'] as const

let site: SingleClusterSite
const proxies = new Map<string, TokenProxy>()
let folder: string
beforeAll(async () => {
  const platform = { roles: ['site', 'consensus', 'resolution', 'gateway'] }
  site = await startSingleClusterSite({ platform, resolution: { port: 0 }, gateway: { port: 0 } })
  const token = await site.token({ roles: ['admin'] })
  for (const role of roles) proxies.set(role, await startTokenProxy(site.port(role), token))
  folder = mkdtempSync(path.join(tmpdir(), 'conformance-'))
})
afterAll(async () => {
  for (const proxy of proxies.values()) await proxy.close()
  await site?.close()
  rmSync(folder, { recursive: true, force: true })
})

type ConformanceCheck = { readonly id: string; readonly status: string; readonly errorMessage?: string }

describe.each(Object.entries(suites))('%s', (variable, revisions) => {
  const tool = process.env[variable] ?? ''
  const test = whenPresent({ isPresent: tool !== '', name: `the MCP conformance tool (${variable})`, hint: 'not set' })

  const runs = roles.flatMap((role) => revisions.map((suite) => ({ role, ...suite })))
  test.each(runs)('$role in $revision', async ({ role, revision, applicable, excluded }) => {
    const known = [...Object.keys(applicable), ...Object.keys(excluded)]
    const listed = await runTool(tool, ['list', '--server', '--spec-version', revision])
    expect([...listed.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name).sort()).toEqual(known.sort())
    const results = path.join(folder, `${variable}-${role}-${revision}`)
    const words = [
      '--url',
      `${proxies.get(role)?.url}/agentspace`,
      '--spec-version',
      revision,
      '--suite',
      'all',
      '-o',
      results,
    ]
    await runTool(tool, ['server', ...words])
    for (const [scenario, exempt] of Object.entries(applicable)) {
      const checks = readChecks(results, scenario)
      expect(checks.filter(({ status }) => status === 'SUCCESS').length, scenario).toBeGreaterThan(0)
      const failed = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
      const expected = Object.entries(exempt).filter(([, reason]) => role !== 'gateway' || reason !== noResources)
      expect(failed.map(({ id }) => id).sort(), JSON.stringify(failed)).toEqual(expected.map(([id]) => id).sort())
    }
  })
})

/** The output of the tool. Its exit code counts the scenarios that do not apply as well. */
async function runTool(tool: string, words: readonly string[]): Promise<string> {
  const done = promisify(execFile)(tool, [...words], { maxBuffer: 16_777_216, timeout: 240_000 })
  return await done.then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; code?: unknown }) => {
      if (typeof error.code !== 'number') throw error
      return error.stdout ?? ''
    },
  )
}

function readChecks(results: string, scenario: string): ConformanceCheck[] {
  const found = readdirSync(results).find((name) => name.replace(/-\d{4}-\d\d-\d\dT.*$/, '') === `server-${scenario}`)
  if (!found) throw new Error(`the tool did not run ${scenario}`)
  return JSON.parse(readFileSync(path.join(results, found, 'checks.json'), 'utf8')) as ConformanceCheck[]
}
