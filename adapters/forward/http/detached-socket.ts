// Requests whose socket Node has detached from its parser, for a tunnel or a switch of protocols.
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ClientConnection } from './client-connection.ts'
import { requestFaults } from './request-fault.ts'

/** Node detaches from a socket when a client requests a tunnel: from its events, pending responses and errors. */
export function refuseTunnel(request: IncomingMessage, socket: Socket, connection: ClientConnection | undefined): void {
  const response = attachResponse(request, socket, connection)
  if (response) connection?.receive(request, response, requestFaults.tunnel, false)
}

/** Bytes of the new protocol that came with the head are returned to the socket. */
export function receiveUpgrade(
  request: IncomingMessage,
  socket: Socket,
  early: Buffer,
  connection: ClientConnection | undefined,
): void {
  const response = attachResponse(request, socket, connection)
  if (!response) return
  if (early.length > 0) socket.unshift(early)
  connection?.receive(request, response, 0, false, 'websocket')
}

/**
 * A response on a socket that Node has detached from. Undefined where earlier responses are unsent, which are lost, and where
 * the connection takes no further request.
 */
function attachResponse(
  request: IncomingMessage,
  socket: Socket,
  connection: ClientConnection | undefined,
): ServerResponse | undefined {
  socket.on('error', () => socket.destroy())
  if (!connection?.isQuiet) {
    socket.destroy()
    return undefined
  }
  const response = new ServerResponse(request)
  try {
    response.assignSocket(socket)
  } catch {
    // Node has given the socket to the response of a request before, which the connection did not take.
    socket.destroy()
    return undefined
  }
  response.on('finish', () => {
    // Read, so that the client receives the response before the connection is reset.
    socket.resume()
    socket.destroySoon()
  })
  return response
}
