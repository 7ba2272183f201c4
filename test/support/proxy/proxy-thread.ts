// A thread of the public proxy in the process of a test: its real listener, upstream client, token source and journal.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { segmentFolder } from '../../../adapters/audit/segments/segment-folder.ts'
import { memoryKeyValue } from '../../../adapters/keyvalue/memory/memory-keyvalue.ts'
import type { TraceSpan } from '../../../daemon/kernel/telemetry/spans.ts'
import type { RequestRecord } from '../../../daemon/roles/proxy/record/model.ts'
import { parseRecordLine } from '../../../daemon/roles/proxy/record/record-line.ts'
import type { CounterDelta } from '../../../daemon/roles/proxy/serving/thread-report.ts'
import { settings } from '../../../daemon/roles/proxy/settings.ts'
import { ProxyWorker } from '../../../daemon/runtime/proxy/threads/proxy-worker.ts'
import type { ProxyThreadConfig } from '../../../daemon/runtime/proxy/threads/thread-config.ts'
import type {
  CounterIncrement,
  MessageFromThread,
  MessageToThread,
} from '../../../daemon/runtime/proxy/threads/thread-messages.ts'
import { type RecordingUpstream, respondOk, startRecordingUpstream } from './recording-upstream.ts'

export const proxyThreadToken = 'token-of-the-thread-that-no-caller-may-see'

/** Open resources once no request is served any longer. */
export type ProxyThreadReport = {
  readonly records: readonly RequestRecord[]
  /** Connections that ended without a request, by kind. */
  readonly unrouted: Readonly<Record<string, number>>
  /** Answers of `/health` and `/service-info`, which are not public requests. */
  readonly healthResponses: number
  /** Records that were counted as lost. */
  readonly lost: number
  /** Ended spans, and the number of requests without one for each reason. */
  readonly spans: readonly TraceSpan[]
  readonly droppedSpans: Readonly<Record<string, number>>
  /** Events of the log, at any level. */
  readonly logged: readonly string[]
}

export type TestProxyThread = {
  readonly port: number
  readonly upstream: RecordingUpstream
  /** The main thread's message whether the journal is full. */
  journal(isFull: boolean): void
  /** Awaited before anything is counted. */
  beforeCount: () => Promise<void>
  /** Open ones of callers. */
  connections(): Promise<number>
  /** Ends it, gently. */
  end(): Promise<ProxyThreadReport>
  remove(): Promise<void>
}

/**
 * `changes`: settings of the role, as a profile names them. Limits out of reach, unless they are among them.
 * `token_url`: the address of token requests, in place of a provider that grants one.
 */
export async function startProxyThread(
  changes: Readonly<Record<string, unknown>>,
  token_url?: string,
): Promise<TestProxyThread> {
  const journal = mkdtempSync(path.join(tmpdir(), 'door-thread-'))
  const upstream = await startRecordingUpstream(respondOk)
  const provider = await startRecordingUpstream((_, socket) => {
    const body = JSON.stringify({ access_token: proxyThreadToken, token_type: 'Bearer', expires_in: 3_600 })
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  })
  const inside = new MainThread()
  const config = buildThreadConfig(
    changes,
    upstream.port,
    token_url ?? `http://127.0.0.1:${provider.port}/token`,
    journal,
  )
  const start = { name: 'thread-of-a-test', listen: { host: '127.0.0.1', port: 0 }, isShared: false, config }
  const thread = new ProxyWorker(start, (message) => inside.take(message))
  inside.answer = (message) => thread.receive(message, () => inside.isOver.resolve())
  await thread.listen()
  const testThread: TestProxyThread = {
    port: await inside.listening.promise,
    upstream,
    beforeCount: async () => undefined,
    connections: () => inside.connections(),
    journal: (isFull) => inside.answer?.({ kind: 'journal', isFull }),
    async end() {
      inside.answer?.({ kind: 'drain', drain_ms: 10_000 })
      await inside.isOver.promise
      const { unrouted, healthResponses, lost, logged, spans, droppedSpans } = inside
      return { records: await readRecords(journal), unrouted, healthResponses, lost, logged, spans, droppedSpans }
    },
    async remove() {
      await Promise.all([upstream.close(), provider.close()])
      rmSync(journal, { recursive: true, force: true })
    },
  }
  inside.beforeCount = () => testThread.beforeCount()
  return testThread
}

/** The main thread's part. */
class MainThread {
  readonly listening = Promise.withResolvers<number>()
  readonly isOver = Promise.withResolvers<void>()
  readonly unrouted: Record<string, number> = {}
  readonly logged: string[] = []
  readonly spans: TraceSpan[] = []
  readonly droppedSpans: Record<string, number> = {}
  healthResponses = 0
  lost = 0
  answer: ((message: MessageToThread<ProxyThreadConfig>) => void) | undefined
  beforeCount: () => Promise<void> = async () => undefined
  #reported: ((connections: number) => void) | undefined
  readonly #counters = memoryKeyValue(() => performance.now())

  take(message: MessageFromThread): void {
    if (message.kind === 'listening') this.listening.resolve(message.port)
    else if (message.kind === 'log') this.logged.push(`${message.event} ${JSON.stringify(message.fields)}`)
    else if (message.kind === 'reported') {
      for (const added of message.deltas) this.#add(added)
      this.spans.push(...message.spans)
      this.#reported?.(message.status.connections)
    } else if (message.kind === 'count') void this.#count(message.id, message.steps)
    else if (message.kind === 'service_request') setImmediate(() => this.#tell(message.id))
  }

  connections(): Promise<number> {
    return new Promise((resolve) => {
      this.#reported = resolve
      this.answer?.({ kind: 'report', id: 0 })
    })
  }

  async #count(id: number, steps: readonly CounterIncrement[]): Promise<void> {
    await this.beforeCount()
    const counts = await Promise.all(steps.map((step) => this.#counters.increment(...step)))
    this.answer?.({ kind: 'counted', id, counts })
  }

  /** Never at once: between threads nothing is. */
  #tell(id: number): void {
    this.healthResponses += 1
    this.answer?.({ kind: 'service_response', id, status: 200, body: '{}' })
  }

  #add([metric, [kind = ''], by]: CounterDelta): void {
    if (metric === 'proxy_audit_lost_total') this.lost += by
    if (metric === 'proxy_span_total') this.droppedSpans[kind] = (this.droppedSpans[kind] ?? 0) + by
    if (metric === 'proxy_stray_total') this.unrouted[kind] = (this.unrouted[kind] ?? 0) + by
  }
}

function buildThreadConfig(
  changes: Readonly<Record<string, unknown>>,
  upstream: number,
  token_url: string,
  journal: string,
): ProxyThreadConfig {
  const proxy = settings.schema.parse({
    ...{ platform_api_url: `http://127.0.0.1:${upstream}`, trusted_networks: ['127.0.0.1'], trusted_proxy_depth: 1 },
    ...{ public_sso_client_id: 'door', public_sso_client_secret: 'secret-of-the-thread' },
    ...{ rate_limit_per_min: 1_000_000, write_rate_limit_per_min: 1_000_000 },
    ...changes,
  })
  const none = { platform_ca: undefined, sso_ca: undefined, key_value: undefined, tls: undefined }
  return { ...none, proxy, token_url, journal_folder: journal, span_share: 1 }
}

async function readRecords(journal: string): Promise<RequestRecord[]> {
  const folder = segmentFolder(journal)
  const texts = await Promise.all((await folder.sealed()).map(async (name) => (await folder.read(name)).text))
  return texts
    .flatMap((text) => text.split('\n').slice(0, -1))
    .map((line) => {
      const record = parseRecordLine(line)
      if (!record) throw new Error(`no record: ${line}`)
      return record
    })
}
