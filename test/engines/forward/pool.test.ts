// Pools beside nginx: which requests another member gets, and when a member is ejected.
import { afterEach, expect } from 'vitest'
import { coarseClock } from '../../../adapters/forward/http/coarse-clock.ts'
import { nginxPoolPeer, peerProxiesRequirement } from '../../support/engines/peer-proxies.ts'
import { startForwarder } from '../../support/forward/test-forwarder.ts'
import { type RawUpstream, startRawUpstream } from '../../support/proxy/raw-upstream.ts'
import { createRawClient } from '../../support/proxy/test-data-listener.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { findDifferences, type ScenarioOutcome } from './forward-scenario.ts'
import { type PoolMemberAnswer, type PoolScenario, poolScenarios } from './pool-scenarios.ts'

const test = whenPresent(peerProxiesRequirement)

const clock = coarseClock(20)
const openResources: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of openResources.splice(0).reverse()) await one.close()
})

type Member = Pick<RawUpstream, 'port' | 'lines'>

async function startMember(answer: PoolMemberAnswer, at: number): Promise<Member> {
  // A reserved port, on which nothing listens: another process may get the port of a server that was closed.
  if (answer === 'refuses') return { port: at + 1, lines: () => [] }
  const server = await startRawUpstream(answer)
  openResources.push(server)
  return server
}

async function play(
  { members, play }: PoolScenario,
  startForwarding: (ports: readonly number[]) => Promise<number>,
): Promise<ScenarioOutcome> {
  const servers: Member[] = []
  for (const [at, member] of members.entries()) servers.push(await startMember(member, at))
  const port = await startForwarding(servers.map((server) => server.port))
  return play({
    async request(method) {
      const client = await createRawClient(port)
      openResources.push({ close: () => client.socket.destroy() })
      client.send(`${method} /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
      await client.waitFor(/^HTTP\/1\.1 \d{3} /)
      client.socket.destroy()
      return Number(client.text.slice(9, 12))
    },
    arrivals: () => servers.map((server) => server.lines().length),
  })
}

async function startOurs([port = 0, ...pool_ports]: readonly number[]): Promise<number> {
  const forwarder = await startForwarder({ port, pool_ports, clock })
  openResources.push(forwarder)
  return forwarder.port
}

async function startNginx(ports: readonly number[]): Promise<number> {
  const nginx = await nginxPoolPeer(ports)
  openResources.push({ close: () => nginx.end() })
  await nginx.start()
  return nginx.port
}

test.each(poolScenarios)('$name', async (scenario) => {
  const own = await play(scenario, startOurs)
  const other = await play(scenario, startNginx)
  expect(findDifferences(own, other)).toEqual(scenario.difference?.values ?? {})
})
