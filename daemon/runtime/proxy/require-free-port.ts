// Whether an address is free: threads that share one would share it with a stranger's process too, and nobody would notice.
import { createServer } from 'node:net'
import type { ListenAddress } from './thread-supervisor.ts'

/** Rejects as `listen` does, with EADDRINUSE where somebody listens there. */
export async function requireFreePort({ host, port }: ListenAddress): Promise<void> {
  if (port === 0) return
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, resolve)
  })
  await new Promise<void>((resolve) => server.close(() => resolve()))
}
