// A source of messages behind a connection: the contract of its adapters, one for each technology.

/** What a message has beside its body. Each is a text that its sender or the server wrote. */
export const messageProperties = [
  ...(['message_id', 'correlation_id', 'published_at', 'content_type', 'type', 'app_id', 'routing_key'] as const),
  ...(['exchange', 'headers', 'offset', 'key', 'partition'] as const),
] as const
export type MessageProperty = (typeof messageProperties)[number]

/** The place of a message in a log that keeps its messages, such as a stream of RabbitMQ or a partition of Kafka. */
export type PartitionOffset = {
  /** Of the logs that one source has. */
  readonly partition: string
  readonly offset: bigint
  /** The term of the leader that wrote it, where the server has such. */
  readonly epoch?: number | undefined
}

export type SourceMessage = {
  readonly body: Uint8Array
  /** It was sent without a body, which is more than an empty one: it says that what has its key is gone. */
  readonly isTombstone?: boolean
  readonly properties: Readonly<Partial<Record<MessageProperty, string>>>
  /** Of a queue: whether it was delivered before, to this reader or another one. */
  readonly isRedelivered: boolean
  /** Of a log. */
  readonly place?: PartitionOffset
}

/** Where the next reading of logs begins. */
export type LogPosition = {
  /** The next offset to read of each partition that was read before. */
  readonly offsets: ReadonlyMap<string, bigint>
  /** The term in which the message before it was written, where it is known. */
  readonly epochs: ReadonlyMap<string, number>
  /** Which log it was, where the server names it: another one by its name has other messages at these offsets. */
  readonly log?: string | undefined
}

/** `take`: it is acknowledged with the others; `leave`: the server keeps it. */
export type MessageFate = 'take' | 'leave'

/** Messages that the server removed before they were read: those below `end`. */
export type LogGap = { readonly partition: string; readonly start: bigint; readonly end: bigint }

export type MessageRequest = {
  /** Messages that the server sends without an acknowledgement at most. */
  readonly max_messages: number
  readonly max_message_bytes: number
  readonly position: LogPosition
  /** Notes that messages may come from now on, and which log has them. */
  readonly onOpen: (log?: string) => void
  /** Takes each message before the next one is read; not one that is larger than the limit. */
  readonly onMessage: (message: SourceMessage) => MessageFate
  /** Notes a message that is larger than the limit, which the server keeps. `leave`: the reading is over, and it is not noted. */
  readonly onLarge: () => MessageFate
  /** Notes the next offset to read of a partition where no message has led to it. */
  readonly onPlace: (next: PartitionOffset) => void
  /** Notes that messages are gone; throws where the reading must not go on behind them. */
  readonly onGap: (gap: LogGap) => void
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
