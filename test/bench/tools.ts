// Measures a call of a tool through the gateway beside the direct one: one process each, which share two cores with the load.
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import { loadTool, type ToolLoad, type ToolTarget } from '../support/mcp/tool-load.ts'
import { benchCores, startPinnedProgram } from '../support/proxy-bench/pinned-program.ts'

const executable = process.env.PLATFORM_EXECUTABLE ?? path.resolve(import.meta.dirname, '../../dist/platform')
const service = path.resolve(import.meta.dirname, '../support/mcp/plain-tool-service.mjs')
const ports = { service: 9_021, gateway: 9_022 }
const rounds = 3
const seconds = 5
const warm_s = 8
/** Enough that no process waits for another. */
const many_callers = 16

export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-tools-'))
  const command = [process.execPath, service, String(ports.service)]
  const programs = [await startPinnedProgram(benchCores.all, command, ports.service)]
  try {
    const { program, token } = await startGateway(folder)
    programs.push(program)
    const direct: ToolTarget = { url: `http://127.0.0.1:${ports.service}/mcp`, tool: 'echo' }
    const through: ToolTarget = { url: `http://127.0.0.1:${ports.gateway}/agentspace`, tool: 'plain__echo', token }
    for (const target of [direct, through]) await loadTool(target, many_callers, warm_s)
    const alone = await measure([direct, through], 1)
    const together = await measure([direct, through], many_callers)
    reportLoads(alone, together, report)
  } finally {
    await Promise.all(programs.map((each) => each.end()))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A site of one process, with the service registered and its tool accepted. */
async function startGateway(folder: string) {
  const site = path.join(folder, 'site')
  const run = (...words: string[]) => execFileSync(executable, [...words, '--site', site], { encoding: 'utf8' })
  run('init', '--name', 'front', '--tenant', 'bench', '--roles', 'site,gateway', '--yes')
  const audiences = { plain: ['gateway'] }
  appendFileSync(path.join(site, 'profile.yaml'), `\nidentity: ${JSON.stringify({ audiences })}\n`)
  const env = {
    ...{ GATEWAY_PORT: String(ports.gateway), GATEWAY_SERVICES: `http://127.0.0.1:${ports.service}` },
    ...{
      GATEWAY_MCP_ENABLED: 'true',
      GATEWAY_METRICS_LISTEN: '127.0.0.1:0',
      SITE_PORT: '0',
      SITE_METRICS_LISTEN: '127.0.0.1:0',
    },
  }
  const program = await startPinnedProgram(
    benchCores.all,
    [executable, 'serve', '--site', site],
    ports.gateway,
    env,
    '"platform.ready"',
  )
  await until(() => run('gateway', 'services', '--json').includes('"plain"'))
  run('gateway', 'accept', 'plain', '--yes')
  await until(() => run('gateway', 'tools', '--json').includes('"offered"'))
  return { program, token: run('token', 'mint', '--subject', 'ann', '--roles', 'analyst').trim() }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 200))
}

/** All targets take turns in each round; the loads of each, by round. */
async function measure(targets: readonly ToolTarget[], callers: number): Promise<readonly (readonly ToolLoad[])[]> {
  const loads: ToolLoad[][] = targets.map(() => [])
  for (let round = 0; round < rounds; round += 1)
    for (const [at, target] of targets.entries()) loads[at]?.push(await loadTool(target, callers, seconds))
  return loads
}

type Loads = readonly (readonly ToolLoad[])[]

function reportLoads(alone: Loads, together: Loads, report: (figure: Figure) => void): void {
  const of = (loads: Loads, at: number, field: keyof ToolLoad) =>
    computeMedian((loads[at] ?? []).map((load) => load[field]))
  const [direct_ms, through_ms] = [of(alone, 0, 'p50_ms'), of(alone, 1, 'p50_ms')]
  report({ figure: 'call through the gateway, p50', value: through_ms, unit: 'ms', beside: direct_ms })
  report({ figure: 'added p50', value: through_ms - direct_ms, unit: 'ms', atMost: 2 })
  const [direct, through] = [of(together, 0, 'calls_per_s'), of(together, 1, 'calls_per_s')]
  report({ figure: 'calls at once', value: through, unit: '1/s', beside: direct, atLeast: 1_500 })
  report({
    figure: 'calls at once, p99',
    value: of(together, 1, 'p99_ms'),
    unit: 'ms',
    beside: of(together, 0, 'p99_ms'),
  })
}
