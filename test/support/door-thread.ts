// A thread of the public door in the process of a test: its real listener, upstream client, token source and journal.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { segmentFolder } from '../../adapters/audit/segments/segment-folder.ts'
import { memoryKeyValue } from '../../adapters/keyvalue/memory/memory-keyvalue.ts'
import type { Added, CountStep, FromThread, ToThread } from '../../daemon/boot/proxy/messages.ts'
import type { ThreadConfig } from '../../daemon/boot/proxy/thread-config.ts'
import { Thread } from '../../daemon/boot/proxy/thread-work.ts'
import { recordIn } from '../../daemon/roles/proxy/record/line.ts'
import type { RequestRecord } from '../../daemon/roles/proxy/record/model.ts'
import { settings } from '../../daemon/roles/proxy/settings.ts'
import { answerOk, type NotingUpstream, notingUpstream } from './reached.ts'

export const threadToken = 'token-of-the-thread-that-no-caller-may-see'

/** What is left once nobody is served any longer. */
export type Left = {
  readonly records: readonly RequestRecord[]
  /** Connections that ended without a request, by kind. */
  readonly strays: Readonly<Record<string, number>>
  /** Answers of `/health` and `/service-info`, which are no public requests. */
  readonly pods: number
  /** Records that were counted as lost. */
  readonly lost: number
  /** Events of the log, at any level. */
  readonly logged: readonly string[]
}

export type DoorThread = {
  readonly port: number
  readonly upstream: NotingUpstream
  /** What the main thread says: whether the journal holds as much as it may. */
  journal(isFull: boolean): void
  /** Awaited before anything is counted. */
  beforeCount: () => Promise<void>
  /** Open ones of callers. */
  connections(): Promise<number>
  /** Ends it, gently. */
  end(): Promise<Left>
  remove(): Promise<void>
}

/**
 * `given`: settings of the role, as a profile names them. Limits that nothing reaches, unless they are among them.
 * `token_url`: where tokens are asked for, in place of a provider that gives one.
 */
export async function doorThread(given: Readonly<Record<string, unknown>>, token_url?: string): Promise<DoorThread> {
  const journal = mkdtempSync(path.join(tmpdir(), 'door-thread-'))
  const upstream = await notingUpstream(answerOk)
  const provider = await notingUpstream((_, socket) => {
    const body = JSON.stringify({ access_token: threadToken, token_type: 'Bearer', expires_in: 3_600 })
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  })
  const inside = new Inside()
  const config = configOf(given, upstream.port, token_url ?? `http://127.0.0.1:${provider.port}/token`, journal)
  const start = { name: 'thread-of-a-test', listen: { host: '127.0.0.1', port: 0 }, isShared: false, config }
  const thread = new Thread(start, (message) => inside.take(message))
  inside.answer = (message) => thread.hear(message, () => inside.isOver.resolve())
  await thread.listen()
  const door: DoorThread = {
    port: await inside.listening.promise,
    upstream,
    beforeCount: async () => undefined,
    connections: () => inside.connections(),
    journal: (isFull) => inside.answer?.({ kind: 'journal', isFull }),
    async end() {
      inside.answer?.({ kind: 'drain', drain_ms: 10_000 })
      await inside.isOver.promise
      const { strays, pods, lost, logged } = inside
      return { records: await recordsIn(journal), strays, pods, lost, logged }
    },
    async remove() {
      await Promise.all([upstream.close(), provider.close()])
      rmSync(journal, { recursive: true, force: true })
    },
  }
  inside.beforeCount = () => door.beforeCount()
  return door
}

/** The main thread's part. */
class Inside {
  readonly listening = Promise.withResolvers<number>()
  readonly isOver = Promise.withResolvers<void>()
  readonly strays: Record<string, number> = {}
  readonly logged: string[] = []
  pods = 0
  lost = 0
  answer: ((message: ToThread<ThreadConfig>) => void) | undefined
  beforeCount: () => Promise<void> = async () => undefined
  #reported: ((connections: number) => void) | undefined
  readonly #counters = memoryKeyValue(() => performance.now())

  take(message: FromThread): void {
    if (message.kind === 'listening') this.listening.resolve(message.port)
    else if (message.kind === 'log') this.logged.push(`${message.event} ${JSON.stringify(message.fields)}`)
    else if (message.kind === 'reported') {
      for (const added of message.added) this.#add(added)
      this.#reported?.(message.standing.connections)
    } else if (message.kind === 'count') void this.#count(message.id, message.steps)
    else if (message.kind === 'ask') setImmediate(() => this.#tell(message.id))
  }

  connections(): Promise<number> {
    return new Promise((resolve) => {
      this.#reported = resolve
      this.answer?.({ kind: 'report', id: 0 })
    })
  }

  async #count(id: number, steps: readonly CountStep[]): Promise<void> {
    await this.beforeCount()
    const counts = await Promise.all(steps.map((step) => this.#counters.increment(...step)))
    this.answer?.({ kind: 'counted', id, counts })
  }

  /** Never at once: between threads nothing is. */
  #tell(id: number): void {
    this.pods += 1
    this.answer?.({ kind: 'told', id, status: 200, body: '{}' })
  }

  #add([metric, [kind = ''], by]: Added): void {
    if (metric === 'proxy_audit_lost_total') this.lost += by
    if (metric === 'proxy_stray_total') this.strays[kind] = (this.strays[kind] ?? 0) + by
  }
}

function configOf(
  given: Readonly<Record<string, unknown>>,
  upstream: number,
  token_url: string,
  journal: string,
): ThreadConfig {
  const proxy = settings.schema.parse({
    ...{ platform_api_url: `http://127.0.0.1:${upstream}`, trusted_networks: ['127.0.0.1'], trusted_proxy_depth: 1 },
    ...{ public_sso_client_id: 'door', public_sso_client_secret: 'secret-of-the-thread' },
    ...{ rate_limit_per_min: 1_000_000, write_rate_limit_per_min: 1_000_000 },
    ...given,
  })
  const none = { platform_ca: undefined, sso_ca: undefined, key_value: undefined, tls: undefined }
  return { ...none, proxy, token_url, journal }
}

async function recordsIn(journal: string): Promise<RequestRecord[]> {
  const folder = segmentFolder(journal)
  const texts = await Promise.all((await folder.sealed()).map(async (name) => (await folder.read(name)).text))
  return texts
    .flatMap((text) => text.split('\n').slice(0, -1))
    .map((line) => {
      const record = recordIn(line)
      if (!record) throw new Error(`no record: ${line}`)
      return record
    })
}
