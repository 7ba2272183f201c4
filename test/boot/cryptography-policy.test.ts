// The policy fips in TLS: what listeners of this process negotiate, and what they refuse.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { buildTlsOptions } from '../../adapters/platform/http-server/listener-tls.ts'
import { applyCryptographyPolicy } from '../../daemon/boot/host/cryptography-policy.ts'
import { issueServerCertificates, type ServerCertificateFiles } from '../support/engines/server-certificates.ts'

let files: ServerCertificateFiles
beforeAll(() => {
  const set = issueServerCertificates('localhost')
  files = set.of('localhost')
  return set.dispose
})

/** A listener as roles have them, and the default algorithms of this process put back at the end. */
async function listen(policy: 'any' | 'fips'): Promise<number> {
  const { DEFAULT_CIPHERS, DEFAULT_ECDH_CURVE } = tls
  applyCryptographyPolicy(policy)
  const server = tls.createServer(
    buildTlsOptions({ cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }),
  )
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    Object.assign(tls, { DEFAULT_CIPHERS, DEFAULT_ECDH_CURVE })
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** The cipher suite and curve of a client that offers these alone; the code of the failure otherwise. */
async function connect(port: number, ciphers: string, ecdhCurve: string): Promise<string> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ciphers, ecdhCurve })
  try {
    await once(socket, 'secureConnect')
    const { name } = socket.getEphemeralKeyInfo() as { readonly name?: string }
    return `${socket.getCipher().name} ${name}`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'no code'
  } finally {
    socket.destroy()
  }
}

const offers = [
  ['TLS_AES_256_GCM_SHA384', 'P-384'],
  ['TLS_CHACHA20_POLY1305_SHA256', 'P-384'],
  ['TLS_AES_256_GCM_SHA384', 'X25519'],
] as const

test('the policy fips refuses ChaCha20 and X25519, which the policy any accepts', async () => {
  const answers = async (port: number) =>
    await Promise.all(offers.map(([ciphers, curve]) => connect(port, ciphers, curve)))
  expect(await answers(await listen('any'))).toEqual([
    'TLS_AES_256_GCM_SHA384 secp384r1',
    'TLS_CHACHA20_POLY1305_SHA256 secp384r1',
    'TLS_AES_256_GCM_SHA384 X25519',
  ])
  expect(await answers(await listen('fips'))).toEqual([
    'TLS_AES_256_GCM_SHA384 secp384r1',
    expect.stringContaining('ERR_SSL'),
    expect.stringContaining('ERR_SSL'),
  ])
})
