// The client certificate of a connection, from TLS alone: no header can claim one.
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { PresentedCertificate } from '../../../daemon/kernel/identity/identity.ts'

/** Built once per connection, so that it is also judged once. */
const certificatesBySocket = new WeakMap<Socket, PresentedCertificate | typeof no_certificate>()
const no_certificate = Symbol('none')

export function clientCertificate(socket: Socket): PresentedCertificate | undefined {
  if (!('getPeerX509Certificate' in socket)) return undefined
  const known = certificatesBySocket.get(socket) ?? readCertificate(socket as TLSSocket)
  certificatesBySocket.set(socket, known)
  return known === no_certificate ? undefined : known
}

function readCertificate(socket: TLSSocket): PresentedCertificate | typeof no_certificate {
  const certificate = socket.getPeerX509Certificate()
  if (!certificate) return no_certificate
  const { authorized, authorizationError } = socket
  return { der: certificate.raw, ...(authorized ? {} : { fault: String(authorizationError ?? 'untrusted') }) }
}
