// The listener over TLS: the same responses, and a new certificate for new connections.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { expect, test, vi } from 'vitest'
import type { Exchange } from '../../../daemon/kernel/forward/exchange.ts'
import { createAuthority, issueCertificate } from '../../../test/support/keys/site-certificates.ts'
import { formatGet, startDataListener } from '../../../test/support/proxy/test-data-listener.ts'
import { pollOptions } from '../../../test/support/proxy/upstream-fixture.ts'

const replyOk = (exchange: Exchange) => exchange.reply(200, ['X-Path', exchange.target], Buffer.from('ok'))
const waitFor = (check: () => void) => vi.waitFor(check, pollOptions)

test('the listener serves over TLS, and a new connection gets the renewed certificate', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'listener-'))
  const authority = await createAuthority(dir, 'site')
  const [old, renewed] = [await issueCertificate(dir, authority, 'old'), await issueCertificate(dir, authority, 'new')]
  const server = await startDataListener(replyOk, { tls: { cert: old.pem, key: old.pem } })
  const serials: string[] = []
  const requestOverTls = async () => {
    const socket = connectTls({
      port: server.listener.port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca: authority.certificate,
    })
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
    })
    socket.write(formatGet('/tls'))
    await waitFor(() => expect(text).toContain('/tls'))
    serials.push(socket.getPeerCertificate().serialNumber)
    socket.destroy()
  }
  await requestOverTls()
  await requestOverTls()
  server.listener.replaceCertificate({ cert: renewed.pem, key: renewed.pem })
  await requestOverTls()
  expect(serials[1]).toBe(serials[0])
  expect(serials[2]).not.toBe(serials[0])
  const plain = await server.client(formatGet())
  await plain.waitForClose()
  await waitFor(() => expect(server.unrouted).toContain('handshake'))
  rmSync(dir, { recursive: true })
})
