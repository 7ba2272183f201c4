// Measures a call of a tool through the gateway beside the direct one, and one through a public aggregator (fastmcp): one process each,
// which share two cores with the load.
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import { loadTool, type ToolLoad, type ToolTarget } from '../support/mcp/tool-load.ts'
import { benchCores, type PinnedProgram, startPinnedProgram } from '../support/proxy-bench/pinned-program.ts'

const executable = process.env.PLATFORM_EXECUTABLE ?? path.resolve(import.meta.dirname, '../../dist/platform')
const service = path.resolve(import.meta.dirname, '../support/mcp/plain-tool-service.mjs')
const ports = { service: 9_021, gateway: 9_022, observing: 9_024, aggregator: 9_023 }
const rounds = 3
const seconds = Number(process.env.BENCH_SECONDS ?? 5)
const warm_s = Number(process.env.BENCH_SECONDS ?? 8)
/** A Python that has the aggregator, as `.ci/run` installs it. Without one, the other figures are measured. */
const python = process.env.FASTMCP_PYTHON ?? path.join(os.homedir(), '.cache/platform-fastmcp-4.1.0/bin/python')
/** Enough that no process waits for another. */
const many_callers = 16

export async function bench(report: (figure: Figure) => void): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-tools-'))
  const command = [process.execPath, service, String(ports.service)]
  const programs = [await startPinnedProgram(benchCores.all, command, ports.service)]
  try {
    const through = await startGateway(path.join(folder, 'front'), ports.gateway, 'false')
    programs.push(through.program)
    const direct: ToolTarget = { url: `http://127.0.0.1:${ports.service}/mcp`, tool: 'echo' }
    const cost = await measureCost(through)
    const [alone, together] = await measureTargets([direct, through.target])
    reportLoads(alone, together, report)
    const observing = await startGateway(path.join(folder, 'observing'), ports.observing, 'true')
    programs.push(observing.program)
    const observed_cost = await measureCost(observing)
    const [observed_alone, observed_together] = await measureTargets([observing.target])
    const added_ms = medianOf(observed_alone, 0, 'p50_ms') - medianOf(alone, 0, 'p50_ms')
    report({ figure: 'with guidance, added p50', value: added_ms, unit: 'ms', atMost: 2 })
    const per_s = medianOf(observed_together, 0, 'calls_per_s')
    report({
      figure: 'with guidance, calls at once',
      value: per_s,
      unit: '1/s',
      beside: medianOf(together, 1, 'calls_per_s'),
      atLeast: 1_500,
    })
    report({ figure: 'with guidance, processor', value: observed_cost, unit: 'us', beside: cost })
    report({ figure: 'processor, to without', value: observed_cost / cost, unit: 'x' })
    if (!existsSync(python)) return
    // After the gateway: it goes on working for what it was sent, on the same cores.
    programs.push(await startAggregator(folder))
    const aggregator = { url: `http://127.0.0.1:${ports.aggregator}/mcp`, tool: 'plain_echo' }
    const [aggregator_alone, aggregator_together] = await measureTargets([aggregator])
    reportAggregator([...alone, ...aggregator_alone], [...together, ...aggregator_together], report)
  } finally {
    await Promise.all(programs.map((each) => each.end()))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Microseconds of the gateway's processor time for each call by many at once, with all that a call leads to within the time. */
async function measureCost({ program, target }: Awaited<ReturnType<typeof startGateway>>): Promise<number> {
  await loadTool(target, many_callers, warm_s)
  const before_s = program.cpu_s()
  const { calls } = await loadTool(target, many_callers, seconds)
  return ((program.cpu_s() - before_s) * 1_000_000) / calls
}

/** By one caller, and by many at once. */
async function measureTargets(targets: readonly ToolTarget[]): Promise<readonly [Loads, Loads]> {
  for (const target of targets) await loadTool(target, many_callers, warm_s)
  return [await measure(targets, 1), await measure(targets, many_callers)]
}

/** A site of one process, with the service registered and its tool accepted; `isGuided`: whether it observes and learns. */
async function startGateway(site: string, port: number, isGuided: 'true' | 'false') {
  const run = (...words: string[]) => execFileSync(executable, [...words, '--site', site], { encoding: 'utf8' })
  run('init', '--name', 'front', '--tenant', 'bench', '--roles', 'site,gateway', '--yes')
  const audiences = { plain: ['gateway'] }
  appendFileSync(path.join(site, 'profile.yaml'), `\nidentity: ${JSON.stringify({ audiences })}\n`)
  const env = {
    ...{ GATEWAY_PORT: String(port), GATEWAY_SERVICES: `http://127.0.0.1:${ports.service}` },
    ...{
      GUIDE_ENABLED: isGuided,
      GATEWAY_MCP_ENABLED: 'true',
      GATEWAY_METRICS_LISTEN: '127.0.0.1:0',
      SITE_PORT: '0',
      SITE_METRICS_LISTEN: '127.0.0.1:0',
    },
  }
  const program = await startPinnedProgram(
    benchCores.all,
    [executable, 'serve', '--site', site],
    port,
    env,
    '"platform.ready"',
  )
  await until(() => run('gateway', 'services', '--json').includes('"plain"'))
  run('gateway', 'accept', 'plain', '--yes')
  await until(() => run('gateway', 'tools', '--json').includes('"offered"'))
  const token = run('token', 'mint', '--subject', 'ann', '--roles', 'analyst').trim()
  const target: ToolTarget = { url: `http://127.0.0.1:${port}/agentspace`, tool: 'plain__echo', token }
  return { program, target }
}

/** The aggregator of the same service, with a second one, so that the names of its tools have those of the services too. */
async function startAggregator(folder: string): Promise<PinnedProgram> {
  const server = { url: `http://127.0.0.1:${ports.service}/mcp`, transport: 'http' }
  const config = path.join(folder, 'aggregator.json')
  writeFileSync(config, JSON.stringify({ mcpServers: { plain: server, other: server } }))
  const listen = ['--transport', 'http', '--host', '127.0.0.1', '--port', String(ports.aggregator)]
  const words = ['run', config, ...listen, '--no-banner', '--log-level', 'ERROR']
  const command = [python, '-c', 'from fastmcp.cli import app; app()', ...words]
  return await startPinnedProgram(benchCores.all, command, ports.aggregator)
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

/** Median of a field over the rounds. */
const medianOf = (loads: Loads, at: number, field: keyof ToolLoad) =>
  computeMedian((loads[at] ?? []).map((load) => load[field]))

type Loads = readonly (readonly ToolLoad[])[]

function reportLoads(alone: Loads, together: Loads, report: (figure: Figure) => void): void {
  const [direct_ms, through_ms] = [medianOf(alone, 0, 'p50_ms'), medianOf(alone, 1, 'p50_ms')]
  report({ figure: 'call through the gateway, p50', value: through_ms, unit: 'ms', beside: direct_ms })
  report({ figure: 'added p50', value: through_ms - direct_ms, unit: 'ms', atMost: 2 })
  const [direct, through] = [medianOf(together, 0, 'calls_per_s'), medianOf(together, 1, 'calls_per_s')]
  report({ figure: 'calls at once', value: through, unit: '1/s', beside: direct, atLeast: 1_500 })
  report({
    figure: 'calls at once, p99',
    value: medianOf(together, 1, 'p99_ms'),
    unit: 'ms',
    beside: medianOf(together, 0, 'p99_ms'),
  })
}

function reportAggregator(alone: Loads, together: Loads, report: (figure: Figure) => void): void {
  const [direct_ms = 0, through_ms = 0, public_ms = 0] = alone.map((_, at) => medianOf(alone, at, 'p50_ms'))
  const [, through = 0, others = 0] = together.map((_, at) => medianOf(together, at, 'calls_per_s'))
  report({ figure: 'fastmcp, added p50', value: public_ms - direct_ms, unit: 'ms', beside: through_ms - direct_ms })
  report({ figure: 'fastmcp, calls at once', value: others, unit: '1/s', beside: through })
  const [p50, calls] = [(public_ms - direct_ms) / (through_ms - direct_ms), through / others]
  report({ figure: 'added p50, fastmcp to gateway', value: p50, unit: 'x' })
  report({ figure: 'calls at once, gateway to fastmcp', value: calls, unit: 'x' })
}
