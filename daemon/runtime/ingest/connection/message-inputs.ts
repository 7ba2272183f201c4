// What lands of a queue or a stream: its messages as a file of JSON lines, and what is acknowledged once they have landed.
import { join } from 'node:path'
import type * as z from 'zod'
import { openPlainFile } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import type { DatasetCursor } from '../../../kernel/data/landed-dataset.ts'
import { ingestQueue } from '../../../roles/ingest/operator/ingest-queue.ts'
import type {
  LogGap,
  MessageFate,
  MessageSource,
  PartitionOffset,
  SourceMessage,
} from '../../../shared/message-source/message-source.ts'
import { RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { type CursorBase, openCursorBase } from './cursor-base.ts'
import type { SourceInputs } from './database-inputs.ts'
import { KnownMessages } from './known-messages.ts'
import { LogProgress } from './log-progress.ts'
import { MessageWriter } from './message-text.ts'
import { openMessageSource } from './open-messages.ts'
import { type EndOfReading, ReadingEnd } from './reading-end.ts'
import { StagedMessages } from './staged-messages.ts'

type QueueParams = z.output<typeof ingestQueue.params>

export type MessageInputs = Required<SourceInputs> & {
  /** Once they are durable. Throws `RowSourceError`. */
  acknowledge(): Promise<void>
  /** Leaves what is not acknowledged where it was. */
  close(): Promise<void>
}

/** Writes into the folder of drafts. Throws `RowSourceError`. */
export async function openMessageInputs(job: TaskThreadJob): Promise<MessageInputs> {
  const { connection } = job
  if (!connection) throw new RowSourceError('the task has no connection')
  const params = ingestQueue.params.parse(job.task.params)
  const base = openCursorBase(job)
  const staged = new StagedMessages(join(job.drafts, 'rows'), join(job.drafts, 'bodies'))
  const source = await openMessageSource(connection, job).catch((error) => {
    staged.close()
    throw error
  })
  try {
    const reading = new MessageReading(params, base, job.cursor?.base?.settled === true, staged)
    const end = await reading.run(source, job.task.time_limit_s * 1_000)
    staged.close()
    const name = describePlace(connection.config)
    const input = {
      ...{ name: `${name}.jsonl`, label: name, format: { kind: 'jsonl' as const }, isSource: true },
      open: () => openPlainFile(join(job.drafts, 'rows')),
      leftOut: () => staged.leftOut(),
    }
    return {
      inputs: [input],
      columns: staged.hasRows ? [] : (base.columns ?? []),
      news: {
        isEmpty: staged.count === 0,
        describeCursor: () => reading.describeCursor(end),
        remark: reading.describeEnd(end),
      },
      acknowledge: () => source.acknowledge(),
      close: () => source.close(),
    }
  } catch (error) {
    await source.close()
    throw error
  } finally {
    staged.close()
  }
}

/** The thread ends with its task: there is no other signal in it. */
const { signal } = new AbortController()

class MessageReading {
  readonly #params: QueueParams
  readonly #base: CursorBase
  readonly #staged: StagedMessages
  readonly #known: KnownMessages
  readonly #writer: MessageWriter
  readonly #log: LogProgress
  #end: ReadingEnd | undefined
  #large = 0

  constructor(params: QueueParams, base: CursorBase, isSettled: boolean, staged: StagedMessages) {
    this.#params = params
    this.#base = base
    this.#staged = staged
    this.#known = new KnownMessages(base.cursor?.messages, isSettled)
    this.#writer = new MessageWriter(params.body, params.properties)
    this.#log = new LogProgress(base.cursor, params.on_lost_messages)
  }

  async run(source: MessageSource, time_limit_ms: number): Promise<EndOfReading> {
    const { max_messages, max_bytes, idle_s, max_s, max_message_bytes } = this.#params
    const max_ms = Math.min(max_s * 1_000, time_limit_ms / 2)
    const end = new ReadingEnd({ max_messages, max_bytes, idle_ms: idle_s * 1_000, max_ms })
    this.#end = end
    const request = {
      ...{ max_messages, max_message_bytes, position: this.#log.position },
      onOpen: (log?: string) => {
        this.#log.name(log)
        end.begin()
      },
      onMessage: (message: SourceMessage) => this.#take(message),
      onLarge: () => this.#noteLarge(),
      onPlace: (next: PartitionOffset) => this.#log.move(next),
      onGap: (gap: LogGap) => this.#log.pass(gap),
    }
    try {
      await source.receive(request, end.reached, signal)
      return await end.reached
    } finally {
      end.stop()
    }
  }

  #take(message: SourceMessage): MessageFate {
    if (this.#end?.isReached) return 'leave'
    const { body, place } = message
    this.#end?.count(body.length)
    if (place) this.#log.move({ ...place, offset: place.offset + 1n })
    else if (!this.#known.isNew(message)) return 'take'
    const written = this.#writer.write(message)
    if ('line' in written) this.#staged.add(written.line)
    else this.#staged.leaveOut(written.reason, body)
    return 'take'
  }

  #noteLarge(): MessageFate {
    if (this.#end?.isReached) return 'leave'
    this.#large++
    this.#end?.count(0)
    return 'take'
  }

  /** A queue alone has messages that it delivers again. */
  describeCursor(end: EndOfReading): DatasetCursor {
    const { origin } = this.#base
    if (this.#log.isRead) return { ...origin, ...this.#log.describe() }
    return { ...origin, messages: this.#known.describe(end === 'idle') }
  }

  describeEnd(end: EndOfReading): string {
    const { idle_s, max_bytes, max_messages, max_s } = this.#params
    const ends: Readonly<Record<EndOfReading, string>> = {
      messages: `after ${max_messages} messages`,
      bytes: `after ${max_bytes} bytes`,
      idle: `after ${idle_s} s without a message`,
      time: `after ${max_s} s, or half of the time of the task`,
    }
    const left = this.#large > 0 ? `; left ${this.#large} above max_message_bytes where they are` : ''
    return `the reading ended ${ends[end]}; left out ${this.#known.count} messages that have landed before${left}${this.#log.describeGaps()}`
  }
}

function describePlace({ queue, topic }: Readonly<Record<string, unknown>>): string {
  return String(queue ?? topic ?? 'messages')
}
