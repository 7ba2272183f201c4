// Tools of another service: the contract of the client that lists and calls them, and the limits on what it accepts.
import type { HeaderFields } from '../api/surface.ts'
import type { CallContinuation, ClientAbilities, HeldCall, InputRequiredResult } from './client-input.ts'
import type { RemoteResource, RemoteResourceRead } from './remote-resource.ts'

/** Where tools are, and the credential for that service alone. */
export type ToolServiceAddress = {
  /** The whole URL of the endpoint, such as `https://tools.example/agentspace`. */
  readonly url: URL
  /**
   * A token for this service, requested before each message: one that was minted or exchanged for its audience, never the
   * one with which a caller came to this site. Undefined sends none.
   */
  readonly token: () => Promise<string | undefined>
  /** Authorities in PEM instead of the machine's. */
  readonly ca?: string | undefined
  /** Of the clients of the calls over this connection; none where they are left out. */
  readonly abilities?: ClientAbilities | undefined
}

/** Limits on a service that is not trusted. */
export type ToolServiceLimits = {
  /** To connect, and for each page of a list. */
  readonly answer_ms: number
  /** Of one answer, of all that a stream sends, and of the pages of a list together. */
  readonly answer_bytes: number
  /** Levels of nesting in one message. */
  readonly depth: number
  /** Tools of one service, and as many resources, and templates of resources; more are a fault of the service. */
  readonly tools: number
}

/** An object of JSON as a service sent it: hostile until a schema has read it. */
export type UntrustedObject = Readonly<Record<string, unknown>>

/** A tool as its service describes it. All text is the service's own: render it as untrusted text. */
export type ToolDefinition = {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly input_schema: UntrustedObject
  readonly output_schema?: UntrustedObject | undefined
  /** Hints, which the service may have invented. */
  readonly annotations?: UntrustedObject | undefined
}

/** `name`: letters, digits and `_ - . /`, at most 128 of them. */
export type RemoteTool = ToolDefinition & { readonly name: string }

export type RemoteToolCall = {
  readonly name: string
  readonly input: UntrustedObject
  /** From the call to its result, whatever progress is reported meanwhile. */
  readonly timeout_ms: number
  /** Ends the call, also at the service. */
  readonly cancelled?: AbortSignal | undefined
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined
  /** `traceparent` and `tracestate` of the caller, sent as they are. */
  readonly trace?: HeaderFields | undefined
  /** The input that the call has requested before. */
  readonly continuation?: CallContinuation | undefined
}

/** `message`: untrusted text. */
export type ToolProgress = {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** `is_error`: the tool ran and failed; its content has the reason. */
export type RemoteToolResult = {
  readonly is_error: boolean
  readonly content: readonly UntrustedObject[]
  readonly structured_content?: UntrustedObject | undefined
}

/** The result of a call, or the input that it requires before. */
export type RemoteToolOutcome = RemoteToolResult | InputRequiredResult

/** The answer of an operation that passes on the result of another service as it is, or the input that it requires. */
export class PassedToolResult {
  readonly result: RemoteToolOutcome

  constructor(result: RemoteToolOutcome) {
    this.result = result
  }
}

/**
 * A connection to one service. Methods throw a `Refusal`: `unauthenticated` or `forbidden` by the service, `forbidden`
 * also for an address that the site does not dial, `unavailable`, `timeout` (also when cancelled), `invalid` for a request
 * that the service refuses by its protocol.
 */
export interface ToolConnection {
  /** The revision of the protocol that both ends use. */
  readonly revision: string
  /** The name that the service gives itself. */
  readonly service: { readonly name: string; readonly version: string } | undefined
  /** All tools, page by page. */
  listTools(): Promise<readonly RemoteTool[]>
  /** Refuses `unavailable` where the tool requires input of its client. */
  callTool(call: RemoteToolCall): Promise<RemoteToolResult>
  /**
   * For a client with abilities: a call that requires input is called again with it. `held`: the call of which this is the
   * continuation, if the service keeps it open.
   */
  callForClient(call: RemoteToolCall, held?: HeldCall): Promise<RemoteToolOutcome>
  /** Whether the service has resources: it is not requested to list any otherwise. */
  readonly hasResources: boolean
  /** All resources and templates, page by page. */
  listResources(): Promise<readonly RemoteResource[]>
  /** The contents of a document; undefined where the service has none of this URI. */
  readResource(read: RemoteResourceRead): Promise<readonly UntrustedObject[] | undefined>
  /** Whether each list of the service reports its changes. */
  readonly reportsAll: boolean
  /**
   * Resolves when a list may have changed: `changed` where the service reports it, and once when its reports
   * begin, since a change before them was reported to nobody; `ended` where it stopped reporting or the signal ended,
   * `unsupported` where it reports no changes. Throws the cause of broken reports.
   */
  waitForChange(signal: AbortSignal): Promise<'changed' | 'ended' | 'unsupported'>
  /** Ends the session and the calls that run. */
  close(): Promise<void>
}

/** Opens connections to tool services. Throws `Refusal` like the connection. */
export interface ToolServices {
  connect(address: ToolServiceAddress, signal?: AbortSignal): Promise<ToolConnection>
}
