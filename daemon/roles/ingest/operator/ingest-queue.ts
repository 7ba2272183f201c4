// Reads messages of a queue or a stream behind a connection, and lands them as a dataset.
import * as z from 'zod'
import { messageProperties } from '../../../shared/message-source/message-source.ts'
import { uid } from '../fields.ts'
import { operator } from './operator.ts'

/** As many messages as a dataset remembers. */
const max_run_messages = 50_000
const mebibyte = 1_048_576
/** Below the time after which a broker takes unacknowledged messages back: half an hour by default at RabbitMQ. */
const max_reading_s = 1_200

const endFields = {
  max_messages: z
    .int()
    .min(1)
    .max(max_run_messages)
    .default(10_000)
    .meta({ description: 'Ends the reading: messages' }),
  max_bytes: z
    .int()
    .min(1_024)
    .max(4_096 * mebibyte)
    .default(256 * mebibyte)
    .meta({ description: 'Ends the reading: bytes of the messages; the last one may go beyond' }),
  idle_s: z.int().min(1).max(300).default(5).meta({ description: 'Ends the reading: seconds without a message' }),
  max_s: z
    .int()
    .min(1)
    .max(max_reading_s)
    .default(300)
    .meta({ description: 'Ends the reading: seconds since its beginning; at most half of time_limit_s' }),
}

export const ingestQueue = operator({
  name: 'ingest_queue',
  summary: 'Take messages of a queue or a stream by a connection, and land them as Parquet with their types',
  inputs: { min: 0, max: 0 },
  makes_dataset: true,
  params: z.strictObject({
    connection_id: uid.meta({ description: 'The uid of a connection; no other pipeline reads by it' }),
    body: z
      .enum(['json', 'text', 'base64'])
      .default('json')
      .meta({ description: 'json: an object whose fields are columns; text and base64: one column, body' }),
    properties: z
      .array(z.enum(messageProperties))
      .max(messageProperties.length)
      .refine((names) => new Set(names).size === names.length, 'must name each property once')
      .default([])
      .meta({ description: 'Properties of the messages that are columns, each with _ before its name' }),
    ...endFields,
    max_message_bytes: z
      .int()
      .min(1)
      .max(8 * mebibyte)
      .default(mebibyte)
      .meta({
        description:
          'Of a body; a larger message stays where it is, and the log counts it. A value of more than 1 MiB is rejected',
      }),
    cursor_generation: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(1)
      .meta({ description: 'Another number than before reads a stream from the beginning, once' }),
    on_lost_messages: z.enum(['fail', 'continue']).default('fail').meta({
      description:
        'Of Kafka, where messages were removed by the retention of the topic before they were read: the task fails, or goes on behind them and logs how many offsets',
    }),
    max_rejects: z.int().min(0).optional().meta({
      description:
        'Bodies that may be rejected; more fail the task, and all messages stay where they are. Default: any number, since the rejects have each as a whole',
    }),
  }),
})
