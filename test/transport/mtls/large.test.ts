// Large requests are few at once, of all peers together, so that memory has an end; small ones come in beside them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MtlsClient } from '../../../adapters/transport/mtls/client.ts'
import { readMaterial } from '../../../adapters/transport/mtls/material.ts'
import { type MessageReceiver, PeerBusyError } from '../../../daemon/kernel/messaging/carrier.ts'
import { createAuthority, issueCertificate } from '../../support/keys/site-certificates.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  buildParcel,
  createMtlsEnd,
  createMtlsPair,
  createTimeoutSignal,
  type MtlsEnd,
  type MtlsPair,
} from './mtls-pair.ts'

let world: MtlsPair
let bravo: MtlsEnd
let land: MessageReceiver
const clients = new Map<string, MtlsClient>()

/** Bravo pins three peers and reads one large request at a time. */
beforeAll(async () => {
  world = await createMtlsPair()
  const names = ['alpha', 'charlie', 'delta']
  const pins: Record<string, { url: string; ca_file: string }> = {}
  for (const name of names) {
    const authority = name === 'alpha' ? world.alpha.authority : await createAuthority(world.dir, name)
    const { file } =
      name === 'alpha' ? { file: world.alpha.cert_file } : await issueCertificate(world.dir, authority, name)
    pins[name] = { url: 'https://127.0.0.1:9', ca_file: authority.file }
    const peers = { bravo: { ca_file: world.bravo.authority.file } }
    const material = readMaterial({ site: name, cert_file: file, key_file: file, passphrase: () => undefined, peers })
    const urls = { bravo: `https://127.0.0.1:${world.bravo.port}` }
    clients.set(name, new MtlsClient({ urls, material: () => material, now: Date.now }))
  }
  const { cert_file, port, authority } = world.bravo
  const limits = { large_bytes: 10_000, large_requests: 1 }
  bravo = createMtlsEnd({ site: 'bravo', port, cert_file, peers: pins, limits }, authority)
  await bravo.carrier.start((peer, parcels) => land(peer, parcels))
})
afterAll(async () => {
  for (const each of clients.values()) each.close()
  await bravo.carrier.stop()
  await world.end()
})

test('one more large request gets a retry time, a small one lands, and then the large one does', async () => {
  const free = Promise.withResolvers<void>()
  const underWay: string[] = []
  land = async (peer, parcels) => {
    underWay.push(peer)
    if (peer === 'alpha') await free.promise
    return parcels.map(() => 'landed')
  }
  const carry = (peer: string, bytes: number) =>
    clients.get(peer)?.carry('bravo', [buildParcel(1, 'x'.repeat(bytes))], createTimeoutSignal())
  const first = carry('alpha', 20_000)
  await waitUntil(() => underWay.length === 1)
  await expect(carry('charlie', 20_000)).rejects.toBeInstanceOf(PeerBusyError)
  expect(await carry('delta', 100)).toEqual(['landed'])
  free.resolve()
  expect(await first).toEqual(['landed'])
  expect(await carry('charlie', 20_000)).toEqual(['landed'])
})
