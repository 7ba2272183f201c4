// Loads the accepted tools of a service.
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type AcceptedTool, acceptedTools } from './model.ts'

/** By name of the tool; at most `max_tools_per_service`. */
export async function loadAcceptedTools(call: Call, service: string): Promise<readonly Doc<AcceptedTool>[]> {
  const loaded: Doc<AcceptedTool>[] = []
  for await (const doc of iterateDocuments(call.store(acceptedTools), { filter: { service }, fresh: true }))
    loaded.push(doc)
  return loaded.sort((one, other) => (one.value.name < other.value.name ? -1 : 1))
}
