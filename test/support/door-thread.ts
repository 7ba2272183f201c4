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
  /** Events of the log, at any level. */
  readonly logged: readonly string[]
}

export type DoorThread = {
  readonly port: number
  readonly upstream: NotingUpstream
  /** Ends it, gently. */
  end(): Promise<Left>
  remove(): Promise<void>
}

/** `given`: settings of the role, as a profile names them. Limits that nothing reaches, unless they are among them. */
export async function doorThread(given: Readonly<Record<string, unknown>>): Promise<DoorThread> {
  const journal = mkdtempSync(path.join(tmpdir(), 'door-thread-'))
  const upstream = await notingUpstream(answerOk)
  const provider = await notingUpstream((_, socket) => {
    const body = JSON.stringify({ access_token: threadToken, token_type: 'Bearer', expires_in: 3_600 })
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  })
  const inside = new Inside()
  const config = configOf(given, upstream.port, provider.port, journal)
  const start = { name: 'thread-of-a-test', listen: { host: '127.0.0.1', port: 0 }, isShared: false, config }
  const thread = new Thread(start, (message) => inside.take(message))
  inside.answer = (message) => thread.hear(message, () => inside.isOver.resolve())
  await thread.listen()
  return {
    port: await inside.listening.promise,
    upstream,
    async end() {
      inside.answer?.({ kind: 'drain', drain_ms: 10_000 })
      await inside.isOver.promise
      return { records: await recordsIn(journal), strays: inside.strays, pods: inside.pods, logged: inside.logged }
    },
    async remove() {
      await Promise.all([upstream.close(), provider.close()])
      rmSync(journal, { recursive: true, force: true })
    },
  }
}

/** The main thread's part. */
class Inside {
  readonly listening = Promise.withResolvers<number>()
  readonly isOver = Promise.withResolvers<void>()
  readonly strays: Record<string, number> = {}
  readonly logged: string[] = []
  pods = 0
  answer: ((message: ToThread<ThreadConfig>) => void) | undefined
  readonly #counters = memoryKeyValue(() => performance.now())

  take(message: FromThread): void {
    if (message.kind === 'listening') this.listening.resolve(message.port)
    else if (message.kind === 'log') this.logged.push(`${message.event} ${JSON.stringify(message.fields)}`)
    else if (message.kind === 'reported') for (const added of message.added) this.#add(added)
    else if (message.kind === 'count') void this.#count(message.id, message.steps)
    else if (message.kind === 'ask') setImmediate(() => this.#tell(message.id))
  }

  async #count(id: number, steps: readonly CountStep[]): Promise<void> {
    const counts = await Promise.all(steps.map((step) => this.#counters.increment(...step)))
    this.answer?.({ kind: 'counted', id, counts })
  }

  /** Never at once: between threads nothing is. */
  #tell(id: number): void {
    this.pods += 1
    this.answer?.({ kind: 'told', id, status: 200, body: '{}' })
  }

  #add([metric, [kind = ''], by]: Added): void {
    if (metric === 'proxy_stray_total') this.strays[kind] = (this.strays[kind] ?? 0) + by
  }
}

function configOf(
  given: Readonly<Record<string, unknown>>,
  upstream: number,
  provider: number,
  journal: string,
): ThreadConfig {
  const proxy = settings.schema.parse({
    ...{ platform_api_url: `http://127.0.0.1:${upstream}`, trusted_networks: ['127.0.0.1'], trusted_proxy_depth: 1 },
    ...{ public_sso_client_id: 'door', public_sso_client_secret: 'secret-of-the-thread' },
    ...{ rate_limit_per_min: 1_000_000, write_rate_limit_per_min: 1_000_000 },
    ...given,
  })
  const none = { platform_ca: undefined, sso_ca: undefined, key_value: undefined, tls: undefined }
  return { ...none, proxy, token_url: `http://127.0.0.1:${provider}/token`, journal }
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
