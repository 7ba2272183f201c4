// Runs requirements of forwarding for each protocol of the listener, before one upstream and before a pool.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import { defaultHttp2Limits } from '../../adapters/forward/http/limits.ts'
import type { ListenerTls } from '../../adapters/platform/http-server/listener-tls.ts'
import { manualCoarseClock } from '../support/clock/manual-coarse-clock.ts'
import { type ForwardClient, http1Client, http2Client } from '../support/forward/forward-client.ts'
import { type ForwarderOptions, startForwarder } from '../support/forward/test-forwarder.ts'
import { createAuthority, issueCertificate } from '../support/keys/site-certificates.ts'
import { startRawUpstream } from '../support/proxy/raw-upstream.ts'
import type { ForwardFixture, ForwardRequirement } from './forward-requirement.ts'

let folder: string
let ca: string
let tls: ListenerTls

async function createCertificates(): Promise<void> {
  folder = mkdtempSync(path.join(tmpdir(), 'forward-'))
  const authority = await createAuthority(folder, 'site')
  const { pem } = await issueCertificate(folder, authority, 'listener')
  ca = authority.certificate
  tls = { cert: pem, key: pem }
}

type ForwardVariant = {
  readonly name: string
  readonly listener: () => NonNullable<ForwarderOptions['listener']>
  readonly connect: (port: number) => ForwardClient
  readonly isPool: boolean
  readonly isShared: boolean
}

/** The listener of docs/forwarding.md. */
const everyProtocol = () => ({ tls, http2: defaultHttp2Limits, offersWebSocket: true }) as const

const protocols: readonly Omit<ForwardVariant, 'isPool' | 'isShared'>[] = [
  { name: 'HTTP/1.1', listener: () => ({}), connect: (port) => http1Client(port) },
  { name: 'HTTP/1.1 over TLS', listener: everyProtocol, connect: (port) => http1Client(port, ca) },
  { name: 'HTTP/2', listener: everyProtocol, connect: (port) => http2Client(port, ca) },
]
const sharedVariants = protocols.map((protocol): ForwardVariant => {
  return { ...protocol, name: `${protocol.name}, beside operations`, isPool: false, isShared: true }
})
const apartVariants = protocols.flatMap((protocol): ForwardVariant[] => [
  { ...protocol, isPool: false, isShared: false },
  { ...protocol, name: `${protocol.name}, to a pool`, isPool: true, isShared: false },
])

const openResources: { close(): unknown }[] = []

async function closeResources(): Promise<void> {
  for (const one of openResources.splice(0)) await one.close()
}

async function startFixture(
  { listener, connect, isPool, isShared }: ForwardVariant,
  { answer, options }: ForwardRequirement,
): Promise<ForwardFixture> {
  const clock = manualCoarseClock()
  const server = await startRawUpstream(answer)
  openResources.push(server)
  const forwarder = await startForwarder({
    ...{ ...options, port: server.port, clock, isShared, listener: listener() },
    ...(isPool ? { pool_ports: [] } : {}),
  })
  openResources.unshift(forwarder)
  const client = connect(forwarder.port)
  openResources.unshift(client)
  return { client, forwarder, server, clock }
}

/** Declares one test for each requirement, protocol and kind of upstream or listener. */
export function testForwarders(requirements: readonly ForwardRequirement[]): void {
  testVariants([...apartVariants, ...sharedVariants], requirements)
}

/** For a listener that serves operations as well. */
export function testSharedListeners(requirements: readonly ForwardRequirement[]): void {
  testVariants(sharedVariants, requirements)
}

function testVariants(variants: readonly ForwardVariant[], requirements: readonly ForwardRequirement[]): void {
  beforeAll(createCertificates)
  afterAll(() => rmSync(folder, { recursive: true }))
  afterEach(closeResources)
  describe.each(variants)('$name', (variant) => {
    test.each(requirements)('$id: $description', async (requirement) => {
      await requirement.verify(await startFixture(variant, requirement))
    })
  })
}
