// HTTP/2 on the listener beside nginx: the same request reaches the upstream, and the same response the client, or the scenario
// explains the difference.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { coarseClock } from '../../../adapters/forward/http/coarse-clock.ts'
import { defaultHttp2Limits } from '../../../adapters/forward/http/limits.ts'
import { nginxForwarderPeer, type PeerProxy, peerProxiesRequirement } from '../../support/engines/peer-proxies.ts'
import { http2Client } from '../../support/forward/forward-client.ts'
import { frameClient } from '../../support/forward/http2-frames.ts'
import { startForwarder, type TestForwarder } from '../../support/forward/test-forwarder.ts'
import { createAuthority, issueCertificate } from '../../support/keys/site-certificates.ts'
import { startRawUpstream } from '../../support/proxy/raw-upstream.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { findDifferences, patientLimits, type ScenarioOutcome, waitForRequest } from './forward-scenario.ts'
import { type Http2Scenario, http2Scenarios } from './http2-scenarios.ts'

const test = whenPresent(peerProxiesRequirement)

let folder: string
let ca: string
let pem: string
const clock = coarseClock(20)

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'http2-peer-'))
  const authority = await createAuthority(folder, 'site')
  pem = (await issueCertificate(folder, authority, 'listener')).pem
  ca = authority.certificate
  writeFileSync(path.join(folder, 'nginx.pem'), pem)
})
afterAll(() => {
  clock.stop()
  rmSync(folder, { recursive: true })
})

async function play(
  { answer, play }: Http2Scenario,
  start: (upstream: number) => Promise<{ readonly port: number; close(): Promise<void> }>,
): Promise<ScenarioOutcome> {
  const server = await startRawUpstream((connection) => answer?.(connection))
  const forwarder = await start(server.port)
  const client = http2Client(forwarder.port, ca)
  const opened: { close(): unknown }[] = [client]
  try {
    return await play({
      client,
      async frames() {
        const frames = await frameClient(forwarder.port, ca)
        opened.push({ close: () => frames.socket.destroy() })
        return frames
      },
      upstream: () => waitForRequest(() => server.connections),
      lines: () => server.connections.map(({ text }) => text.split('\r\n', 1)[0] ?? ''),
    })
  } finally {
    for (const one of opened) one.close()
    await forwarder.close()
    await server.close()
  }
}

function startOurs(port: number): Promise<TestForwarder> {
  const tls = { cert: pem, key: pem }
  return startForwarder({ port, clock, inbound: patientLimits, listener: { tls, http2: defaultHttp2Limits } })
}

async function startNginx(port: number): Promise<PeerProxy & { close(): Promise<void> }> {
  const nginx = await nginxForwarderPeer(port, path.join(folder, 'nginx.pem'))
  await nginx.start()
  return { ...nginx, close: () => nginx.end() }
}

test.each(http2Scenarios)('$name', async (scenario) => {
  const own = await play(scenario, startOurs)
  const other = await play(scenario, startNginx)
  expect(findDifferences(own, other)).toEqual(scenario.difference?.values ?? {})
})
