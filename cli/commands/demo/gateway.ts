// Serves the tools of two sites behind one edge to an AI client, with a poisoned definition and a dead site.
import { toolsPath } from '../../../daemon/kernel/api/mcp-tools.ts'
import { callByHost } from '../../demo/call-by-host.ts'
import { callTools } from '../../demo/call-tools.ts'
import { CheckList } from '../../demo/check-list.ts'
import { mintDemoToken } from '../../demo/demo-site.ts'
import { GatewayCaller } from '../../demo/gateway-caller.ts'
import {
  acceptTools,
  connectThroughEdge,
  startGatewayServices,
  waitForRegistration,
} from '../../demo/gateway-services.ts'
import { startGatewaySites } from '../../demo/gateway-sites.ts'
import { demoTools, type GatewayStage } from '../../demo/gateway-stage.ts'
import { holdPoisonedTool } from '../../demo/hold-poisoned-tool.ts'
import { type DemoStudio, demoOptions, performDemo } from '../../demo/perform-demo.ts'
import { surviveDeadUpstream } from '../../demo/survive-dead-upstream.ts'
import { waitUntil } from '../../demo/wait-until.ts'
import { command } from '../../program/command.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'demo gateway',
  summary: 'Serve the tools of two sites behind one edge, hold a poisoned one, and survive a dead site',
  notes: [
    'Makes two sites in DIR and runs them as daemons. An AI client knows the edge of one of them alone, over TLS, and calls',
    'tools of both; at its host, bravo answers behind the same edge alone. Then a service changes a definition to a text that misleads, and one site is killed and started again.',
    'Needs no network. Exit code 1: a check is not met.',
  ].join('\n'),
  options: demoOptions,
  example: 'platform demo gateway --dir ./demo --keep',
  async run(params, terminal) {
    let unmet = 0
    await performDemo(params, terminal, async (studio) => {
      const report = await runDemo(studio, terminal)
      unmet = report.checks.filter(({ met }) => !met).length
      return report
    })
    return unmet === 0 ? 0 : 1
  },
})

/** Of the role of alpha itself, which need no acceptance. */
const own_tools = 'intelligence-service__'

async function runDemo(studio: DemoStudio, terminal: Terminal) {
  const { step, printLine, signal } = studio
  const list = new CheckList(printLine)
  step('1. Create two sites: alpha with the edge and the gateway, and bravo, which registers there')
  const sites = await startGatewaySites(studio)
  printLine(`the edge of alpha: ${sites.edge.origin}, TLS 1.3; clients and bravo know nothing else of alpha`)
  const services = await startGatewayServices(sites, studio)
  const admin = await connectThroughEdge(sites, 'pat', ['admin'])
  for (const name of ['resolution-service', 'maps', 'berths']) {
    const { url, registered_by } = await waitForRegistration(admin, name, signal)
    printLine(`${name} at ${url}, registered by ${registered_by}`)
  }
  const token = await mintDemoToken(sites.alpha.folder, 'ann', ['analyst'])
  const caller = await GatewayCaller.connect({ url: new URL(toolsPath, sites.edge), ca: sites.ca }, token, signal)
  studio.running.push(caller)
  const stage: GatewayStage = { sites, services, caller, token, admin, list, terminal, signal, printLine }

  step('2. Accept their tools as an administrator has read them')
  await offerTools(stage)

  step('3. Call tools of both sites, as an AI client with a token of ann')
  const run_id = await callTools(stage)

  step('4. Call bravo alone, at the same edge by the host of bravo')
  await callByHost(stage, run_id)

  step('5. Poison a definition')
  await holdPoisonedTool(stage)

  step('6. Kill bravo')
  await surviveDeadUpstream(stage, run_id)

  const seconds = studio.seconds()
  const { checks, unmet } = list
  step(`${checks.length - unmet.length} of ${checks.length} checks are met, in ${seconds} s`)
  for (const { name, observed } of unmet) printLine(`not met: ${name}: ${observed}`)
  printLine(studio.keep ? `everything is in ${studio.dir}` : 'temporary files removed; --keep keeps them')
  return {
    checks: checks.map(({ name, isMet, observed }) => ({ name, met: isMet, observed })),
    ...{ edge: sites.edge.origin, mcp_revision: caller.revision, seconds },
  }
}

/** The gateway has tools of its own, without the name of a service. */
const isAggregated = (name: string) => name.includes('__')
const isOfOthers = (name: string) => isAggregated(name) && !name.startsWith(own_tools)

async function offerTools({ admin, caller, list, signal, printLine }: GatewayStage): Promise<void> {
  const before = (await caller.listNames()).filter(isOfOthers)
  list.add('nothing_before_acceptance', before.length === 0, `${before.length} tools of registered services are listed`)
  const chosen = {
    maps: ['distance'],
    berths: ['free_berths'],
    'resolution-service': ['fusion_run_start', 'fusion_run_status', 'fusion_run_summary'],
  }
  for (const [service, names] of Object.entries(chosen))
    for (const name of await acceptTools(admin, service, names)) printLine(`accepted ${name}`)
  const expected = Object.values(demoTools)
  let listed: readonly string[] = []
  await waitUntil('the accepted tools', signal, async () => {
    listed = await caller.listNames()
    return expected.every((name) => listed.includes(name))
  })
  const unread = listed.filter((name) => isOfOthers(name) && !(expected as string[]).includes(name))
  const services = new Set(listed.filter(isAggregated).map((name) => name.split('__')[0]))
  list.add(
    'only_accepted',
    unread.length === 0,
    `${listed.length} tools of ${services.size} services are listed for ann`,
  )
}
