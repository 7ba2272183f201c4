// The public proxy at saturation while its counters, its identity provider, its upstream and itself are killed: each answer is a
// documented one, and each request is recorded exactly once.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type Redis, redis, redisRequirement } from '../support/engines/redis.ts'
import { createEngineFolder, findFreePorts, type ServerProcess } from '../support/engines/server-process.ts'
import {
  createPackagedProxy,
  listRecords,
  type PackagedProxy,
  type ProxyRecord,
  sendToLocalSocket,
} from '../support/proxy/packaged-proxy.ts'
import { type SeededRandom, seededRandom } from '../support/random/seeded-random.ts'
import type { ServedSite } from '../support/site/packaged-site.ts'
import { createBackend } from './create-backend.ts'
import { judgeAnswers, judgeMemory, judgeRecords, type ProcessOutage, sumAll } from './judge-proxy.ts'
import type { LoadCounts, LoadStart } from './proxy-load.ts'
import { proxyRules } from './proxy-requests.ts'

/** Of one seed by default; so long that one is enough. */
const usual_seconds = 600
export const usual_seeds = 1

const clients = 48
/** The proxy itself lives on from then, so that its memory can be checked. */
const last_kill_share = 0.4
const timeout_ms = 60_000
const memory_interval_ms = 500

/** The events, counted. Throws at an undocumented answer, at a missing or double record, or when memory grew. */
export async function soak(seed: number, lasts_s = usual_seconds): Promise<Record<string, number>> {
  const world = await ProxySoak.made(seed)
  try {
    const counts = await world.toItsEnd(lasts_s)
    await world.end()
    return counts
  } catch (error) {
    await world.halt()
    throw new Error(`seed ${seed} failed; its folder is ${world.folder}`, { cause: error })
  }
}

type ProxyBackend = { readonly name: string; readonly server: ServerProcess }

class ProxySoak {
  readonly #proxy: PackagedProxy
  readonly #port: number
  readonly #behind: readonly ProxyBackend[]
  readonly #redis: Redis | undefined
  readonly #seed: number
  readonly #dispose: () => void
  readonly #counts: Record<string, number> = {}
  readonly #deaths: ProcessOutage[] = []
  readonly #memory: number[] = []
  #served: ServedSite | undefined
  #load: Worker | undefined

  private constructor(
    proxy: PackagedProxy,
    port: number,
    behind: ProxyBackend[],
    kv: Redis | undefined,
    seed: number,
    end: () => void,
  ) {
    this.#proxy = proxy
    this.#port = port
    this.#behind = behind
    this.#redis = kv
    this.#seed = seed
    this.#dispose = end
  }

  static async made(seed: number): Promise<ProxySoak> {
    const { folder, dispose } = createEngineFolder('proxy')
    const [port = 0, upstream = 0, provider = 0] = await findFreePorts(3)
    const kv = redisRequirement.isPresent ? await redis() : undefined
    if (!kv) console.error(`counters are in the proxy itself: ${redisRequirement.name} was ${redisRequirement.hint}`)
    const behind = [
      { name: 'upstream', server: createBackend('upstream', upstream, folder) },
      { name: 'provider', server: createBackend('provider', provider, folder) },
      ...(kv ? [{ name: 'redis', server: kv }] : []),
    ]
    await Promise.all(behind.map(({ server }) => server.start()))
    const proxy = await createPackagedProxy(proxyRules, {
      PLATFORM_API_URL: `http://127.0.0.1:${upstream}`,
      SSO_TOKEN_URL: `http://127.0.0.1:${provider}/token`,
      ...{ RATE_LIMIT_PER_MIN: '1000000', WRITE_RATE_LIMIT_PER_MIN: '1000000', CACHE_MAX_MB: '8' },
      ...(kv && { KV_HOST: '127.0.0.1', KV_PORT: String(kv.port), KV_PASSWORD: kv.password, KV_VERIFY: 'false' }),
    })
    proxy.site.edit('port: 0', `port: ${port}\n  answer_timeout_s: 2\n  connect_timeout_s: 1`)
    return new ProxySoak(proxy, port, behind, kv, seed, dispose)
  }

  get folder(): string {
    return this.#proxy.site.dir
  }

  async toItsEnd(lasts_s: number): Promise<Record<string, number>> {
    this.#served = await this.#proxy.serve()
    const data: LoadStart = { port: this.#port, seed: this.#seed, clients }
    const load = new Worker(new URL('./proxy-load.ts', import.meta.url), { workerData: data })
    this.#load = load
    const over = performance.now() + lasts_s * 1_000
    const begun = performance.now()
    const troubles = this.#behind.map((each, at) => this.#trouble(each, seededRandom(this.#seed * 100 + at), over))
    const lastDeath = begun + last_kill_share * lasts_s * 1_000
    await Promise.all([
      ...troubles,
      this.#ownTrouble(seededRandom(this.#seed * 100 + 99), lastDeath, over),
      this.#weigh(over),
    ])
    await this.#calm(load)
    const received = await requestCounts(load, 'end')
    this.#counts.answered = sumAll(received.answered.values())
    for (const [line, times] of received.answered) this.#count(line.slice(-3), times)
    this.#counts.unanswered = received.abandoned.length
    this.#counts.most_mb = Math.round(Math.max(...this.#memory))
    judgeAnswers(received, this.#deaths)
    judgeMemory(this.#memory, memory_interval_ms)
    await this.#shipped()
    const records = await listRecords(this.#proxy)
    this.#counts.records = records.length
    judgeRecords(received, records)
    await this.#judgeChain(records)
    return this.#counts
  }

  /** Dies, or stands still for a while: requests meanwhile get no answer, and not even a refusal. */
  async #trouble({ name, server }: ProxyBackend, by: SeededRandom, over: number): Promise<void> {
    for (;;) {
      await pause(300 + by.below(4_000))
      if (performance.now() > over) return
      const isFrozen = by.happens(0.3)
      if (isFrozen) server.freeze()
      else await server.kill()
      this.#count(`${name} ${isFrozen ? 'frozen' : 'killed'}`)
      await pause(by.below(isFrozen ? 3_000 : 1_500))
      if (isFrozen) server.thaw()
      else await server.start()
    }
  }

  /** Killed at the first turn, and on as long as allowed; reloaded all the while. */
  async #ownTrouble(by: SeededRandom, lastDeath: number, over: number): Promise<void> {
    for (let turn = 0; ; turn += 1) {
      await pause(1_000 + (turn === 0 ? 0 : by.below(6_000)))
      if (performance.now() > over) return
      if (turn === 0 || (performance.now() < lastDeath && by.happens(0.6))) await this.#die()
      else {
        this.#served?.signal('SIGHUP')
        this.#count('reloads')
      }
    }
  }

  async #die(): Promise<void> {
    const death = { from: Date.now(), until: Number.POSITIVE_INFINITY }
    this.#deaths.push(death)
    await this.#served?.kill()
    this.#served = await this.#proxy.serve()
    death.until = Date.now()
    this.#memory.length = 0
    this.#count('proxy killed')
  }

  async #weigh(over: number): Promise<void> {
    while (performance.now() < over) {
      await pause(memory_interval_ms)
      const pid = this.#served?.pid
      const status = await Promise.resolve()
        .then(() => readFileSync(`/proc/${pid}/status`, 'utf8'))
        .catch(() => '')
      const kib = /^VmRSS:\s+(\d+)/m.exec(status)?.[1]
      if (kib) this.#memory.push(Number(kib) / 1_024)
    }
  }

  /** Everything runs again: within the patience of a caller all is answered well. */
  async #calm(load: Worker): Promise<void> {
    const deadline = performance.now() + timeout_ms
    for (let well = 0; well < 500; ) {
      const { calm } = await requestCounts(load, 'tell')
      well = calm.ill === 0 ? well + calm.answers : 0
      assert.ok(performance.now() < deadline, `it never was well again: ${JSON.stringify(calm)}`)
      await pause(200)
    }
  }

  async #shipped(): Promise<void> {
    const deadline = performance.now() + 10 * timeout_ms
    for (;;) {
      const { text } = await sendToLocalSocket(this.#proxy, '/metrics')
      assert.doesNotMatch(text, /^proxy_audit_lost_total [1-9]/m, 'no record was lost')
      if (/^proxy_audit_journal_bytes 0$/m.test(text)) return
      assert.ok(performance.now() < deadline, 'the journal is never through')
      await pause(500)
    }
  }

  async #judgeChain(records: readonly ProxyRecord[]): Promise<void> {
    assert.equal(await this.#served?.stop(), 0, 'it ends in order')
    const { exit, stdout } = this.#proxy.site.run(['audit', 'export'])
    assert.equal(exit, 0)
    const events = stdout
      .trimEnd()
      .split('\n')
      .flatMap((line) => JSON.parse(line).event ?? [])
    const chained = events.filter(({ action }) => action === 'proxy.record.ship').map(({ detail }) => detail.records)
    assert.equal(sumAll(chained), records.length, 'the audit chain has every record')
    const verified = this.#proxy.site.run(['audit', 'verify', '--json'])
    assert.equal(JSON.parse(verified.stdout).whole, true, 'the audit chain is whole')
  }

  async halt(): Promise<void> {
    await this.#load?.terminate()
    await this.#served?.kill()
    const { platform, provider } = this.#proxy
    await Promise.all([...this.#behind.map(({ server }) => server.kill()), platform.close(), provider.close()])
  }

  async end(): Promise<void> {
    await this.halt()
    await this.#redis?.end()
    this.#dispose()
    await this.#proxy.close()
  }

  #count(what: string, times = 1): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + times
  }
}

async function requestCounts(load: Worker, what: 'tell' | 'end'): Promise<LoadCounts> {
  load.postMessage(what)
  const [received] = (await once(load, 'message')) as [LoadCounts]
  return received
}
