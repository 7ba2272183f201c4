// Rules of tool servers that the gateway runs: the limits of each, and the sandbox that may hold one.
import type { Sandbox, SandboxLimits, SandboxProcessLimits } from '../../../kernel/sandbox/sandbox.ts'
import type { StdioServerSettings } from './model.ts'

/** Runtimes such as Node.js reserve far more of it than they use; their memory is bounded all the same. */
const address_space_bytes = 2 ** 40
const mebibyte = 2 ** 20

/** Why a sandbox does not hold a server: limits alone would leave it the files of the site and the network. */
export function findWeakness({ isolation, shortfalls }: Pick<Sandbox, 'isolation' | 'shortfalls'>): string | undefined {
  if (isolation === 'namespaces') return undefined
  return `the sandbox of this machine hides neither files nor network, so that no server is started: ${shortfalls.join('; ')}`
}

/** The highest limit of all servers, each of which this process must be able to set. */
export function probeLimits(servers: readonly StdioServerSettings[]): SandboxLimits {
  const each = servers.map(limitsOf)
  const highest = (name: Exclude<keyof SandboxProcessLimits, 'address_space_bytes'>) =>
    Math.max(...each.map((limits) => limits[name]))
  return {
    ...{ cpu_s: highest('cpu_s'), memory_bytes: highest('memory_bytes'), address_space_bytes },
    ...{ disk_bytes: highest('disk_bytes'), processes: highest('processes'), open_files: highest('open_files') },
    ...{ time_ms: 30_000, output_bytes: 4_096 },
  }
}

export function limitsOf({
  cpu_s,
  memory_mb,
  disk_mb,
  processes,
  open_files,
}: StdioServerSettings): SandboxProcessLimits {
  return {
    ...{ cpu_s, memory_bytes: memory_mb * mebibyte, address_space_bytes },
    ...{ disk_bytes: disk_mb * mebibyte, processes, open_files },
  }
}
