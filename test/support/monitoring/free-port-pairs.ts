// Ports of roles whose internal listeners, a thousand above, are free as well.
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { internal_port_offset } from '../../../daemon/kernel/role/configured-listener.ts'

/** Below the ports that systems give to clients, so that none takes one between the search and the start. */
const lowest_port = 20_000
const highest_port = 30_000

export async function findFreePortPairs(count: number): Promise<number[]> {
  const found: number[] = []
  const servers: Server[] = []
  const first = lowest_port + (process.pid % 5_000)
  for (let port = first; found.length < count && port < highest_port; port++) {
    const both = [await listenOn(port), await listenOn(port + internal_port_offset)]
    servers.push(...both.flatMap((server) => server ?? []))
    if (both.every((server) => server !== undefined)) found.push(port)
  }
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
  if (found.length < count) throw new Error(`only ${found.length} pairs of ports are free`)
  return found
}

/** Undefined for a port that is in use. */
async function listenOn(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1')
  return await once(server, 'listening').then(
    () => server,
    () => undefined,
  )
}
