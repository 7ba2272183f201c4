// Removes the accepted tools of a service.
import type { Call } from '../../../kernel/operation/call.ts'
import { settle } from '../settle.ts'
import { loadAcceptedTools } from './load-accepted.ts'
import { acceptedTools } from './model.ts'

export async function removeAcceptedTools(call: Call, service: string): Promise<void> {
  for (const { id } of await loadAcceptedTools(call, service)) await settle(call.store(acceptedTools).remove(id))
}
