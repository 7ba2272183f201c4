// Forwarding beside nginx: streams, upgrades, early responses, half-closed connections and slow readers have the same outcome,
// or a difference that the scenario explains.
import { afterAll, beforeAll, expect } from 'vitest'
import { coarseClock } from '../../../adapters/forward/http/coarse-clock.ts'
import { nginxForwarderPeer, type PeerProxy, peerProxiesRequirement } from '../../support/engines/peer-proxies.ts'
import { startForwarder, type TestForwarder } from '../../support/forward/test-forwarder.ts'
import { type RawConnection, type RawUpstream, startRawUpstream } from '../../support/proxy/raw-upstream.ts'
import { createRawClient, type RawClient } from '../../support/proxy/test-data-listener.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import {
  type ForwardScenario,
  findDifferences,
  patientLimits,
  type ScenarioOutcome,
  waitFor,
  waitForRequest,
} from './forward-scenario.ts'
import { forwardScenarios } from './scenarios.ts'

const test = whenPresent(peerProxiesRequirement)

/** A forwarder with its own upstream. */
type ComparedForwarder = { readonly port: number; readonly server: RawUpstream }

let answer: (connection: RawConnection) => void = () => undefined
let ours: ComparedForwarder
let theirs: ComparedForwarder
let forwarder: TestForwarder | undefined
let nginx: PeerProxy | undefined
const clock = coarseClock(20)
const clients: RawClient[] = []

beforeAll(async () => {
  if (!peerProxiesRequirement.isPresent) return
  const [first, second] = [await startServer(), await startServer()]
  forwarder = await startForwarder({
    port: first.port,
    clock,
    inbound: patientLimits,
    listener: { offersWebSocket: true },
  })
  nginx = await nginxForwarderPeer(second.port)
  await nginx.start()
  ours = { port: forwarder.port, server: first }
  theirs = { port: nginx.port, server: second }
})
afterAll(async () => {
  for (const { socket } of clients) socket.destroy()
  await forwarder?.close()
  await nginx?.end()
  await ours?.server.close()
  await theirs?.server.close()
  clock.stop()
})

const startServer = () => startRawUpstream((connection) => answer(connection))

async function play(
  { play, answer: own, isHalfOpen = false }: ForwardScenario,
  compared: ComparedForwarder,
): Promise<ScenarioOutcome> {
  const { server, port } = compared
  await endConnections()
  const before = server.connections.length
  answer = (connection) => {
    connection.socket.allowHalfOpen = isHalfOpen
    own?.(connection)
  }
  const connections = () => server.connections.slice(before)
  return play({
    async client(bytes) {
      const client = await createRawClient(port)
      client.send(bytes)
      clients.push(client)
      return client
    },
    upstream: () => waitForRequest(connections),
    connections,
  })
}

/** Each scenario begins without clients, and with a new connection to the upstream. */
async function endConnections(): Promise<void> {
  for (const { socket } of clients.splice(0)) socket.destroy()
  for (const { connections } of [ours.server, theirs.server]) for (const { socket } of connections) socket.destroy()
  await waitFor(() => expect(forwarder?.upstream.counts().connections).toBe(0))
}

test.each(forwardScenarios)('$name', async (scenario) => {
  const [own, other] = [await play(scenario, ours), await play(scenario, theirs)]
  expect(findDifferences(own, other)).toEqual(scenario.difference?.values ?? {})
})
