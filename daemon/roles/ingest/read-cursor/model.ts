// The cursor of an incremental reading: the dataset up to which its source has landed, and the run that reads on from there.
import * as z from 'zod'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { collection } from '../../../kernel/store/store.ts'
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import { provenanceFields, shortText, uid } from '../fields.ts'
import { chooseReading } from '../operator/incremental-task.ts'
import type { OpenConnection } from '../parts.ts'

const datasetName = z.string().min(1).max(512)
const digest = z.string().length(64)

const storedReadCursor = z.strictObject({
  ...provenanceFields,
  /** The pipeline or effect. */
  pipeline: uid,
  task: shortText,
  /** What is read; see `digestOfReading`. */
  of: digest,
  /** Its description has the cursor. Absent: nothing has landed. `settled`: the source knows; see `LandedCursor`. */
  landed: z.strictObject({ dataset: datasetName, digest, settled: z.literal(true).optional() }).optional(),
  /** The run that reads now, and the dataset that it makes. */
  holder: z.strictObject({ run: z.string().min(1).max(512), dataset: datasetName }).optional(),
})
export type StoredReadCursor = z.infer<typeof storedReadCursor>
export type CursorHolder = NonNullable<StoredReadCursor['holder']>

export const readCursors = collection({
  name: 'read-cursor',
  schema: storedReadCursor,
  indexes: ['pipeline'],
  // If-Match of a request is about the pipeline.
  revision: () => undefined,
})

/** Each way of reading has a cursor of its own: a run of an earlier deployment moves none of a later one. */
export function readCursorId(pipeline: string, task: string, of: string): string {
  return `${pipeline}.${task}.${of.slice(0, 32)}`
}

/** Fields of a connection that lead to the same data. */
const access_fields = [
  'mechanism',
  'group',
  'username',
  'auth_database',
  'tls',
  'ca',
  'access_key_id',
  'path_style',
  'project',
  'client_id',
  'directory_id',
  'graph_url',
  'login_url',
]

/** Of Kafka, whose topics have ids: the brokers that are named are not all of their cluster, and each has several ports. */
const broker_fields = ['brokers', 'port']

/** SHA-256 of all that decides what is read: the source, and those parameters of the task. */
export function digestOfReading(
  task: Pick<DagTask, 'operator' | 'params'>,
  { conn_type, config }: Pick<OpenConnection, 'conn_type' | 'config'>,
): string {
  const access = [...access_fields, ...(conn_type === 'kafka' ? broker_fields : [])]
  const place = Object.entries(config).filter(([name]) => !access.includes(name))
  return canonicalDigest({ conn_type, config: Object.fromEntries(place), params: chooseReading(task) })
}
