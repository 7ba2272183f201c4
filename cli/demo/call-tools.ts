// The client of the demo of the gateway calls tools of both sites; the same services answer REST through the edge.
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { ApiObject } from '../client/client.ts'
import { connectServiceClient } from '../client/connection.ts'
import { mintDemoToken } from './demo-site.ts'
import { GatewayCaller } from './gateway-caller.ts'
import { connectThroughEdge } from './gateway-services.ts'
import { demo_lens } from './gateway-sites.ts'
import { demoTools, type GatewayStage } from './gateway-stage.ts'
import { waitUntil } from './wait-until.ts'

export const routeInput = { from: 'hamburg', to: 'bergen' }
export const berthsInput = { harbour: 'hamburg' }

/** Calls a tool of each service, and prints what it answered. Returns the run at bravo. */
export async function callTools(stage: GatewayStage): Promise<string> {
  const { caller, list } = stage
  const route = await caller.call(demoTools.distance, routeInput)
  const { nautical_miles } = route.content
  list.add(
    'tool_of_alpha',
    route.content.for === 'ann',
    route.failure ?? `maps: ${nautical_miles} nautical miles for ann`,
  )
  const berths = await caller.call(demoTools.berths, berthsInput)
  const { free_berths } = berths.content
  list.add('tool_of_bravo', berths.content.for === 'ann', berths.failure ?? `berths: ${free_berths} free for ann`)
  await presentOwnToken(stage)
  await raiseSignal(stage)
  return await resolveAtBravo(stage)
}

/** The token that the client has for the gateway is worth nothing at a service: the gateway exchanges it for each call. */
async function presentOwnToken({ services, token, list, signal }: GatewayStage): Promise<void> {
  try {
    const caller = await GatewayCaller.connect({ url: new URL('/mcp', services.maps.url) }, token, signal)
    await caller.stop()
    list.add('own_token_refused', false, 'maps takes the token that ann has for the gateway')
  } catch (error) {
    if (!isRefusal(error)) throw error
    list.add('own_token_refused', error.code === 'unauthenticated', `maps: ${error.message}`)
  }
}

async function raiseSignal({ caller, sites, list }: GatewayStage): Promise<void> {
  const { content, failure } = await caller.call(demoTools.signal, {
    ...{ signal_type: 'late_arrival', severity: 'medium', source: { type: 'mcp', name: 'demo' } },
    ...{ title: 'Late arrival at Hamburg', detected_at: new Date().toISOString() },
    subject: { type: 'asset', id: 'imo-9074729', name: 'Northern Star' },
  })
  const analyst = await connectThroughEdge(sites, 'ann', ['analyst'])
  const { items } = await analyst.call('intelligence.signal.list', { limit: 10 })
  const [found] = (items as ApiObject[]).filter(({ uid }) => uid === content.uid)
  const observed = failure ?? `${found?.uid} raised by a tool, read at /api/v1/signal`
  list.add('role_of_alpha', found !== undefined, observed)
}

/** A run of entity resolution at bravo, started and followed by tools of it. */
async function resolveAtBravo({ caller, sites, list, signal }: GatewayStage): Promise<string> {
  const { bravo, edge, ca, people_file } = sites
  const node_data = { bravo: { file: people_file } }
  const started = await caller.call(demoTools.start, { lens_id: demo_lens, node_data })
  const run_id = String(started.content.uid)
  if (started.failure !== undefined) list.add('role_of_bravo', false, started.failure)
  else {
    let state: unknown
    await waitUntil('the run at bravo', signal, async () => {
      const { content, failure } = await caller.call(demoTools.status, { run_id })
      state = failure ?? content.state
      return state === 'completed' || state === 'failed' || failure !== undefined
    })
    const { content, failure } = await caller.call(demoTools.summary, { run_id })
    const [first] = String(content.text).split('\n')
    list.add('role_of_bravo', state === 'completed', failure ?? `resolution: ${first}`)
  }
  const token = await mintDemoToken(bravo.folder, 'bea', ['analyst'])
  const local = connectServiceClient({ folder: undefined, url: edge, ca, token, env: {} })
  let lenses: unknown[] = []
  // The edge hears of a registration by its next look at the registry.
  await waitUntil('the route to bravo', signal, async () => {
    try {
      const { items } = await local.call('resolution.lens.list', { limit: 10 })
      lenses = (items as ApiObject[]).map(({ lens }) => lens)
      return true
    } catch (error) {
      if (isRefusal(error) && error.code === 'no_backend') return false
      throw error
    }
  })
  list.add('rest_of_bravo', lenses.includes(demo_lens), `/api/v2/lens of bravo has ${lenses.join()}`)
  return run_id
}
