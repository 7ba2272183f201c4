// Checks that an address is free: threads that share a port would silently share it with another process too.
import { createServer } from 'node:net'
import type { ListenAddress } from './threads/thread-supervisor.ts'

/** Rejects as `listen` does, with EADDRINUSE if the address is in use. */
export async function requireFreePort({ host, port }: ListenAddress): Promise<void> {
  if (port === 0) return
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, resolve)
  })
  await new Promise<void>((resolve) => server.close(() => resolve()))
}
