// Wires of the roles with adapters of their own; a process loads those of the roles that it starts.
import type { RoleWire } from '../boot/role-wire.ts'

const wires: Readonly<Record<string, () => Promise<{ readonly wire: RoleWire }>>> = {
  site: () => import('./site/wire.ts'),
  consensus: () => import('./consensus/wire.ts'),
  resolution: () => import('./resolution/wire.ts'),
  ingest: () => import('./ingest/wire.ts'),
  intelligence: () => import('./intelligence/wire.ts'),
  edge: () => import('./edge/wire.ts'),
  proxy: () => import('./proxy/wire.ts'),
  gateway: () => import('./gateway/wire.ts'),
}

/** Undefined for a role that needs nothing beyond its storage. */
export async function loadWire(role: string): Promise<RoleWire | undefined> {
  return (await wires[role]?.())?.wire
}
