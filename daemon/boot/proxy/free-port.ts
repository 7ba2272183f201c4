// Whether an address is free: threads that share one would share it with a stranger's process too, and nobody would notice.
import { createServer } from 'node:net'
import type { Address } from './supervisor.ts'

/** Rejects as `listen` does, with EADDRINUSE where somebody listens there. */
export async function freePort({ host, port }: Address): Promise<void> {
  if (port === 0) return
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, resolve)
  })
  await new Promise<void>((resolve) => server.close(() => resolve()))
}
