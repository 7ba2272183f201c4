// Ports for servers that have to know them before they start.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { CommandFailure } from '../program/command.ts'

/** Below those that Linux gives to connections (ip_local_port_range), which would take them before the server does. */
const [first_port, last_port] = [20_000, 32_767]
const max_tries = 1_000

/** Each another, free at 127.0.0.1 now. Throws `CommandFailure`. */
export async function findFreePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  for (let tries = 0; ports.size < count; tries += 1) {
    if (tries === max_tries) throw new CommandFailure(1, `no ports from ${first_port} to ${last_port} are free`)
    const port = randomInt(first_port, last_port + 1)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  await once(server.close(), 'close')
  return true
}
