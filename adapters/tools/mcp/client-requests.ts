// Requests of a service to its client while a tool runs, in the revisions with sessions: each goes to the call on whose stream
// it came. No other request is for a client of tools.
import { type Client, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client'
import { type ClientAbilities, inputKinds, inputMethods } from '../../../daemon/kernel/tools/client-input.ts'
import { callOfMessage } from './running-call.ts'

/** Methods of the requests that a client of these abilities takes. */
export function requestedMethods(abilities: ClientAbilities): ReadonlySet<string> {
  return new Set(inputKinds.filter((kind) => abilities[kind]).map((kind) => inputMethods[kind]))
}

export function answerRequests(client: Client, abilities: ClientAbilities): void {
  const { elicitation, sampling } = inputMethods
  const answer = async (request: unknown, { mcpReq }: { mcpReq: { signal: AbortSignal } }) => {
    const call = callOfMessage.getStore()
    if (!call)
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'input is requested by the call of a tool alone')
    // The client that gives the answer has checked it, and the service does.
    return (await call.requestInput(request, mcpReq.signal)) as never
  }
  if (abilities.elicitation) client.setRequestHandler(elicitation, answer)
  if (abilities.sampling) client.setRequestHandler(sampling, answer)
}
