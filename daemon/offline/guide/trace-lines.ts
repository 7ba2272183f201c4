// Reads recorded traces: a JSON document a line, which is an observation, a lineage event or a labelled change.
import { createReadStream, openSync } from 'node:fs'
import * as z from 'zod'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { artifactTypes } from '../../roles/gateway/guide/artifact/content.ts'
import { lineageKinds } from '../../roles/gateway/guide/lineage/model.ts'
import { envelope } from '../../roles/gateway/guide/observation/model.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { unreadableFile } from '../read-input-file.ts'

/** An observation has at most 32,768 characters of payload. */
const max_line_bytes = 262_144
/** Lines that may be out of order by their times: several gateways write at once. */
const reordered_lines = 2_000
const max_waiting_bytes = 67_108_864

const instant = z.iso.datetime({ offset: true })

const observationLine = z.object({
  ...envelope.shape,
  created_at: instant.optional(),
  level: z.string().min(1).max(64).optional(),
})
const lineageLine = z.object({
  kind: z.enum(lineageKinds),
  trace_id: z.string().min(1).max(64),
  artifact_id: z.string().min(1).max(256),
  artifact_type: z.enum(artifactTypes),
  artifact_version: z.int(),
  scope: z.string().max(64),
  at: instant,
})
const changeLine = z.strictObject({ change_at: instant, tool: z.string().min(1).max(256).optional() })

export type RecordedEvent =
  | { readonly kind: 'observation'; readonly at_ms: number; readonly value: z.output<typeof observationLine> }
  | { readonly kind: 'lineage'; readonly at_ms: number; readonly value: z.output<typeof lineageLine> }
  | { readonly kind: 'change'; readonly at_ms: number; readonly value: z.output<typeof changeLine> }

export type TraceFaults = {
  /** Without it, the first bad line ends the reading. */
  readonly keepsGoing: boolean
  bad_lines: number
  first?: string
}

/** In the order of time, within a bounded memory. Throws `OfflineCommandError` (1) that names file and line. */
export async function* readTraceFiles(files: readonly string[], faults: TraceFaults): AsyncGenerator<RecordedEvent> {
  const waiting = new WaitingEvents()
  for (const file of files) {
    let line_number = 0
    for await (const line of splitLines(file)) {
      line_number += 1
      if (line.length === 0) continue
      const event = line.length > max_line_bytes ? `has more than ${max_line_bytes} bytes` : parseLine(line)
      const place = `${file}, line ${line_number}`
      if (typeof event === 'string') report(faults, `${place} ${event}`)
      else if (!waiting.add(event, line.length))
        report(faults, `${place} is older than lines before it: sort the lines by time, oldest first`)
      if (waiting.isFull) yield* waiting.takeOldest()
    }
  }
  yield* waiting.takeAll()
}

class WaitingEvents {
  #events: { readonly event: RecordedEvent; readonly bytes: number }[] = []
  #bytes = 0
  #released_ms = Number.NEGATIVE_INFINITY

  get isFull(): boolean {
    return this.#events.length >= 2 * reordered_lines || this.#bytes >= max_waiting_bytes
  }

  /** False: a later one is released already. */
  add(event: RecordedEvent, bytes: number): boolean {
    if (event.at_ms < this.#released_ms) return false
    this.#events.push({ event, bytes })
    this.#bytes += bytes
    return true
  }

  /** The older half. */
  takeOldest(): RecordedEvent[] {
    return this.#take(Math.ceil(this.#events.length / 2))
  }

  takeAll(): RecordedEvent[] {
    return this.#take(this.#events.length)
  }

  #take(count: number): RecordedEvent[] {
    const taken = this.#events.sort((a, b) => a.event.at_ms - b.event.at_ms).splice(0, count)
    for (const { bytes } of taken) this.#bytes -= bytes
    this.#released_ms = taken.at(-1)?.event.at_ms ?? this.#released_ms
    return taken.map(({ event }) => event)
  }
}

function report(faults: TraceFaults, message: string): void {
  if (!faults.keepsGoing)
    throw new OfflineCommandError(1, message, 'correct the line, or leave such lines out by --keep-going')
  faults.bad_lines += 1
  faults.first ??= message
}

/** A text says what is wrong, and quotes nothing of the line. */
function parseLine(line: Buffer): RecordedEvent | string {
  const json = parseJson(line)
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return 'is not a JSON object'
  if ('change_at' in json)
    return readAs(changeLine, json, (value) => ({ kind: 'change', ...time(value.change_at), value }))
  if ('artifact_id' in json)
    return readAs(lineageLine, json, (value) => ({ kind: 'lineage', ...time(value.at), value }))
  return readAs(observationLine, json, (value) => {
    return { kind: 'observation', ...time(value.created_at ?? value.timestamp), value }
  })
}

const time = (text: string) => ({ at_ms: Date.parse(text) })

function readAs<T>(schema: z.ZodType<T>, json: object, build: (value: T) => RecordedEvent): RecordedEvent | string {
  const parsed = schema.safeParse(json)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return `is not valid: ${z.core.toDotPath(issue?.path ?? []) || 'document'}: ${issue?.message ?? ''}`.slice(0, 300)
  }
  const event = build(parsed.data)
  return Number.isNaN(event.at_ms) ? 'has a time that does not exist' : event
}

/** Yields lines without their ends; of one that is too long, enough to see that. The last line needs no end. */
async function* splitLines(file: string): AsyncGenerator<Buffer> {
  const stream = createReadStream('', { fd: openFile(file) })
  let pending: Buffer[] = []
  let length = 0
  const keep = (part: Buffer) => {
    if (length <= max_line_bytes) pending.push(part)
    length += part.length
  }
  const take = () => {
    const line = Buffer.concat(pending)
    pending = []
    length = 0
    return line
  }
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      let from = 0
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
        keep(chunk.subarray(from, end))
        from = end + 1
        yield take()
      }
      keep(chunk.subarray(from))
    }
  } catch (error) {
    throw unreadableFile(file, error)
  }
  if (length > 0) yield take()
}

function openFile(file: string): number {
  try {
    return runAsInvoker(() => openSync(file, 'r'))
  } catch (error) {
    throw unreadableFile(file, error)
  }
}
