// A tunnel that is requested on a socket which Node has given to the response of another request.
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import type { ClientConnection } from './client-connection.ts'
import { refuseTunnel } from './detached-socket.ts'

test('a tunnel is not answered on a socket that has the response of an earlier request: the connection ends', () => {
  const socket = new Socket()
  new ServerResponse(new IncomingMessage(socket)).assignSocket(socket)
  const receive = vi.fn()
  refuseTunnel(new IncomingMessage(socket), socket, { isQuiet: true, receive } as unknown as ClientConnection)
  expect(socket.destroyed).toBe(true)
  expect(receive).not.toHaveBeenCalled()
})
