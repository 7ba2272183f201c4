// The key of a caller in counts of one process and of the site.
import type { Caller } from '../../kernel/identity/identity.ts'

export function callerKey({ tenant_id, subject }: Pick<Caller, 'tenant_id' | 'subject'>): string {
  return JSON.stringify([tenant_id, subject])
}
