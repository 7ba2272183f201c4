// A source of messages behind a connection: the contract of its adapters, one for each technology.

/** What a message has beside its body. Each is a text that its sender or the server wrote. */
export const messageProperties = [
  ...(['message_id', 'correlation_id', 'published_at', 'content_type', 'type', 'app_id', 'routing_key'] as const),
  ...(['exchange', 'headers', 'offset'] as const),
] as const
export type MessageProperty = (typeof messageProperties)[number]

/** The place of a message in a log that keeps its messages, such as a stream of RabbitMQ. */
export type PartitionOffset = {
  /** Of the logs that one source has. */
  readonly partition: string
  readonly offset: bigint
}

export type SourceMessage = {
  readonly body: Uint8Array
  readonly properties: Readonly<Partial<Record<MessageProperty, string>>>
  /** Of a queue: whether it was delivered before, to this reader or another one. */
  readonly isRedelivered: boolean
  /** Of a log. */
  readonly place?: PartitionOffset
}

/** The next offset to read of each partition that was read before. */
export type LogPosition = ReadonlyMap<string, bigint>

/** `take`: it is acknowledged with the others; `leave`: the server keeps it. */
export type MessageFate = 'take' | 'leave'

export type MessageRequest = {
  /** Messages that the server sends without an acknowledgement at most. */
  readonly max_messages: number
  readonly max_message_bytes: number
  readonly position: LogPosition
  /** Notes that messages may come from now on. */
  readonly onOpen: () => void
  /** Takes each message before the next one is read; not one that is larger than the limit. */
  readonly onMessage: (message: SourceMessage) => MessageFate
  /** Notes a message that is larger than the limit, which the server keeps. */
  readonly onLarge: () => void
}

/** Its faults are of the class `RowSourceError`. */
export interface MessageSource {
  /** Reads a little, and says what the source is. */
  probe(signal: AbortSignal): Promise<string>
  /**
   * Reads until `isEnough` resolves; afterwards no message is handed on, and the server has answered once more. Nothing is acknowledged. Throws `RowSourceError` where the
   * connection is lost, and the reason of the signal.
   */
  receive(request: MessageRequest, isEnough: Promise<unknown>, signal: AbortSignal): Promise<void>
  /**
   * Acknowledges all messages that were taken; resolves once the server has processed it, so that it sends none of them again. Throws
   * `RowSourceError`.
   */
  acknowledge(): Promise<void>
  /** Messages that were not acknowledged go back to where they were. */
  close(): Promise<void>
}
