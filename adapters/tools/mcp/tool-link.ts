// The carrier of the messages of one connection to a tool service: HTTP, or the streams of a process.
import type { Transport } from '@modelcontextprotocol/client'
import type { HeaderFields } from '../../../daemon/kernel/api/surface.ts'
import type { ToolServiceAddress, ToolServiceLimits } from '../../../daemon/kernel/tools/tool-service.ts'
import type { CheckedDestination } from '../../platform/http-client/http-client.ts'
import { boundedFetch, type SessionStream } from './bounded-fetch.ts'
import { CancellingTransport } from './cancelling-transport.ts'
import type { MessageTerms } from './filter-events.ts'

export type ToolLink = {
  readonly transport: Transport
  /** Headers for the library, by which the link finds the signal of their request where it needs it. */
  withSignal(headers: HeaderFields, signal: AbortSignal): Record<string, string>
  /** Ends the session at the service; absent where a connection is the session, and its reports come over it. */
  endSession?(): Promise<void>
  close(): void
}

/** `reports`: what becomes of the reports of the service outside of its answers. `terms`: of its messages. */
export type LinkOpening = (reports: SessionStream, terms: MessageTerms) => ToolLink

export function httpLink(
  address: ToolServiceAddress,
  { limits, rule, resolve }: CheckedDestination & { readonly limits: ToolServiceLimits },
): LinkOpening {
  return (reports, terms) => {
    const http = boundedFetch({ ca: address.ca, rule, resolve }, limits, reports, terms)
    const transport = new CancellingTransport(address, http)
    return {
      transport,
      withSignal: (headers, signal) => transport.withSignal(headers, signal),
      endSession: () => transport.terminateSession(),
      close: () => http.close(),
    }
  }
}
