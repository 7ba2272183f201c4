// The certificate that a client has shown on its connection, and proved to hold: TLS alone tells, never a header.
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ShownCertificate } from '../../../daemon/kernel/identity/identity.ts'

/** Once for each connection, so that what is found out about it is found out once. */
const shown = new WeakMap<Socket, ShownCertificate | typeof none>()
const none = Symbol('none')

export function certificateOf(socket: Socket): ShownCertificate | undefined {
  if (!('getPeerX509Certificate' in socket)) return undefined
  const known = shown.get(socket) ?? read(socket as TLSSocket)
  shown.set(socket, known)
  return known === none ? undefined : known
}

function read(socket: TLSSocket): ShownCertificate | typeof none {
  const certificate = socket.getPeerX509Certificate()
  if (!certificate) return none
  const { authorized, authorizationError } = socket
  return { der: certificate.raw, ...(authorized ? {} : { fault: String(authorizationError ?? 'untrusted') }) }
}
